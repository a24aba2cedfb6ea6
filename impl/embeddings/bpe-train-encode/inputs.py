"""Texts over a few letters, where pairs tie and overlap; merges trained and made up; any bytes at all."""

from __future__ import annotations

GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}
SIZES = {"length": (0, 24), "merges": (0, 8)}
HARDENED = {"edge_merges_that_do_not_build_up"}

_ALPHABETS = ["ab", "abc", "a", "aab ", "xyzzy", "abcdefgh", "é漢🙂"]
_PROSE = """the cat sat on the mat; the rat sat on the cat. low lower lowest, new newer newest.
注意力机制：注意力，就是注意力。 naïve café, naïve café 🙂🙂""".encode()


def any_bytes(make, low, high, length):
    return bytes(make.integers(low, high, length).tolist())


def text(make, length):
    letters = make.pick(_ALPHABETS).encode()
    return bytes(letters[k] for k in any_bytes(make, 0, len(letters), length))


def made_up_merges(make, count):
    """Merges that no training gave: distinct pairs of tokens that exist at their rank."""
    merges, letters = [], [97, 98, 99]
    while len(merges) < count:
        known = [*letters, *range(256, 256 + len(merges))] if make.real(0, 1) < 0.6 else letters
        pair = tuple(known[k] for k in any_bytes(make, 0, len(known), 2))
        if pair not in merges:
            merges.append(pair)
    return merges


def train(make, count, *texts):
    return [make.call("bpe_train", data, count) for data in texts]


def round_trip(make, merges, *texts):
    for data in texts:
        make.call("bpe_decode", make.call("bpe_encode", data, merges), merges)


def case(make):
    length, count = make.sizes("length", "merges")
    kind = make.pick(["made up", "trained", "made up", "decode"])
    if kind == "trained":
        for merges in train(make, count, text(make, length)):
            round_trip(make, merges, any_bytes(make, 0, 256, length), text(make, length))
        return
    merges = made_up_merges(make, 1 + count % 7)
    if kind == "decode":
        make.call("bpe_decode", make.integers(0, 256 + len(merges), make.size(0, 6)).tolist(), merges)
    else:
        round_trip(make, merges, *(any_bytes(make, 97, 100, length + extra) for extra in (0, 6, 12)))


def edge_few_pairs(make):
    """empty or short input, no merges: training stops when no pair is left; a pair that occurs once is a pair

    输入为空或很短，没有合并规则：没有对了就停；只出现一次的对也是对
    """
    train(make, 0, b"abab")
    train(make, 10, b"", b"a", b"ab", b"abcd", b"abab")
    for merges in ([], [(97, 98)], [(97, 97)]):
        round_trip(make, merges, b"", b"a", b"ab")


def edge_aaaa(make):
    """aaa: overlaps count, merging runs from the left, for merged tokens too

    aaa：重叠的也算，合并从左到右；合并出来的 token 也一样
    """
    train(make, 5, b"aa", b"aaa", b"aaaaa", b"aaaxbcybc", b"aaaaxbcybczbc", b"abababxy", b"ababababababxyxy")
    round_trip(make, [(97, 97), (256, 256), (256, 97)], b"aa", b"aaa", b"aaaa", b"aaaaa")
    for count in (6, 7, 11, 14, 22):
        round_trip(make, *train(make, 4, b"a" * count), b"a" * (count + 1))


def edge_ties(make):
    """equally frequent pairs: the smallest (left, right) first

    次数相同：取最小的 (left, right)
    """
    train(make, 4, b"zyxba", b"cdcdabab", b"bcacbcac", b"baca")


def edge_lowest_rank_first(make):
    """the lowest rank first, in any position, even if it uses up a letter that a later merge needs

    先合并 rank 最小的，不管在哪个位置，哪怕用掉了后面规则要用的字母
    """
    round_trip(make, [(98, 99), (97, 98), (257, 99), (97, 256)], b"abc", b"ab", b"abcabc", b"aabc")
    round_trip(make, [(97, 98), (99, 100), (98, 99), (256, 257)], b"abcd", b"bcbcabcbc")
    round_trip(make, [(97, 98), (120, 97), (97, 97)], b"xab", b"aab")


def edge_merges_that_do_not_build_up(make):
    """the longest token does not fit: its parts are never made

    最长的 token 用不上：它的两部分根本合不出来
    """
    round_trip(make, [(97, 98), (98, 97), (257, 98), (256, 256)], b"abab")
    round_trip(make, [(97, 97), (256, 97), (257, 97)], b"aaaa")


def edge_any_bytes(make):
    """all 256 bytes, invalid UTF-8, long characters, white space and zeros: all merge alike

    全部 256 种字节、非法 UTF-8、多字节字符、空白和零字节：一样合并
    """
    merges = [(0xFF, 0xFE), (0xC3, 0x28), (0x00, 0x00), (256, 256)]
    round_trip(make, merges, bytes(range(256)), b"\xff\xfe\xff\xfe\xc3(\x00\x00\x00\xed\xa0\x80\xf0\x28")
    make.call("bpe_decode", [0xE6, 0xB3, 256, 0x80], merges)
    for merges in train(make, 24, b"a b\na b\nto be\r\nor\tnot\x00to be 12 12 3, 12", _PROSE):
        round_trip(make, merges, _PROSE, "the newest hat: 意🙂".encode())
    round_trip(make, [(10, 97), (32, 98), (98, 10), (0, 0), (10, 10), (256, 259)], b"a b\na\n\nb\x00\x00 12")


def edge_long_tokens_and_many_merges(make):
    """tokens of up to 256 bytes, and tokens beyond 511

    token 最长 256 字节；合并规则超过 256 条
    """
    merges = [(97, 97), *((256 + k, 256 + k) for k in range(7))]
    round_trip(make, merges, b"a" * 301)
    make.call("bpe_decode", [263, 262, 98, 259], merges)
    merges = [(k % 256, (7 * k + k // 256) % 256) for k in range(520)]
    round_trip(make, merges, bytes(k for pair in merges[250:330] for k in pair))
    make.call("bpe_decode", [255, 256, 511, 512, 700, 775], merges)
    train(make, 300, any_bytes(make, 0, 40, 360))
