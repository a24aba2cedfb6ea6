"""Texts over a few letters, where pairs tie and overlap; merges from training and merges made up; any bytes at all."""

from __future__ import annotations

GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}
SIZES = {"length": (0, 24), "merges": (0, 8)}
HARDENED = {"edge_merges_that_do_not_build_up"}

_ALPHABETS = ["ab", "abc", "a", "aab ", "xyzzy", "abcdefgh", "é漢🙂"]
_PROSE = (
    "the cat sat on the mat; the rat sat on the cat. "
    "low lower lowest, new newer newest, wide wider widest. "
    "注意力机制：注意力，就是注意力。 naïve café, naïve café 🙂🙂"
).encode()


def text(make, length):
    """Mostly over few letters, so that there is something to merge."""
    letters = list(make.pick(_ALPHABETS).encode())
    return bytes(letters[k] for k in make.integers(0, len(letters), length).tolist())


def made_up_merges(make, count):
    """Merges that no training gave: distinct pairs of tokens that exist when their turn comes."""
    merges, letters = [], [97, 98, 99]
    while len(merges) < count:
        known = [*letters, *range(256, 256 + len(merges))] if make.real(0, 1) < 0.6 else letters
        left, right = (known[k] for k in make.integers(0, len(known), 2).tolist())
        if (left, right) not in merges:
            merges.append((left, right))
    return merges


def round_trip(make, data, merges):
    make.call("bpe_decode", make.call("bpe_encode", data, merges), merges)


def case(make):
    length, count = make.sizes("length", "merges")
    kind = make.pick(["made up", "trained", "made up", "decode"])
    if kind == "made up":
        merges = made_up_merges(make, 2 + count % 7)
        for extra in (0, 6, 12):
            round_trip(make, bytes(97 + k for k in make.integers(0, 3, length + extra).tolist()), merges)
    elif kind == "trained":
        merges = make.call("bpe_train", text(make, length), count)
        round_trip(make, bytes(make.integers(0, 256, length).tolist()), merges)
        round_trip(make, text(make, length), merges)
    else:
        merges = made_up_merges(make, 1 + count % 6)
        make.call("bpe_decode", make.integers(0, 256 + len(merges), make.size(0, 6)).tolist(), merges)


def edge_nothing_or_one_byte(make):
    """empty input, no merges, one byte without a pair

    输入为空；没有合并规则；只有一个字节，没有任何对
    """
    for data, count in ((b"", 5), (b"abab", 0), (b"a", 3)):
        make.call("bpe_train", data, count)
    for data, merges in ((b"", [(97, 98)]), (b"ab", []), (b"a", [(97, 97)])):
        round_trip(make, data, merges)


def edge_aaaa(make):
    """aaa: overlaps count, merging runs from the left, for tokens that were made as well

    aaa：重叠的也算，合并从左到右；合并出来的 token 也一样
    """
    for data in (b"aa", b"aaa", b"aaaa", b"aaaaa"):
        make.call("bpe_train", data, 3)
        make.call("bpe_encode", data, [(97, 97), (256, 256), (256, 97)])
    for data, count in ((b"aaaxbcybc", 1), (b"aaaaxbcybczbc", 1), (b"abababxy", 3), (b"ababababababxyxy", 5)):
        make.call("bpe_train", data, count)
    for count in (6, 7, 11, 14, 22):
        merges = make.call("bpe_train", b"a" * count, 4)
        round_trip(make, b"a" * (count + 1), merges)


def edge_ties(make):
    """pairs that are equally frequent: the smallest (left, right) comes first

    几个对次数相同：取最小的 (left, right)
    """
    for data, count in ((b"zyxba", 4), (b"cdcdabab", 3), (b"bcacbcac", 3), (b"baca", 1)):
        make.call("bpe_train", data, count)


def edge_stops_early(make):
    """fewer merges than asked for, when no pair is left; a pair that occurs once is a pair

    已没有任何对，合并次数不足就停；只出现一次的对也是对
    """
    for data, count in ((b"ab", 5), (b"abcd", 10), (b"abab", 10)):
        make.call("bpe_train", data, count)


def edge_lowest_rank_first(make):
    """the merge of the lowest rank comes first, wherever it stands, and takes what a later one would need

    rank 最小的规则先合并，不管它在哪；哪怕它抢走了后面规则要用的字母
    """
    merges = [(98, 99), (97, 98), (257, 99), (97, 256)]
    for data in (b"abc", b"ab", b"abcabc", b"aabc"):
        round_trip(make, data, merges)
    round_trip(make, b"abcd", [(97, 98), (99, 100), (98, 99), (256, 257)])
    round_trip(make, b"bcbcabcbc", [(97, 98), (98, 99)])
    round_trip(make, b"xab", [(97, 98), (120, 97)])
    round_trip(make, b"aab", [(97, 98), (97, 97)])


def edge_merges_that_do_not_build_up(make):
    """the longest token does not fit, as its parts are never made

    最长的 token 用不上：它的两部分根本没有合并出来
    """
    round_trip(make, b"abab", [(97, 98), (98, 97), (257, 98), (256, 256)])
    round_trip(make, b"aaaa", [(97, 97), (256, 97), (257, 97)])


def edge_any_bytes(make):
    """all 256 bytes, bytes that are no UTF-8, characters of several bytes, white space and zeros: all merge alike

    全部 256 种字节、不是 UTF-8 的字节、多字节字符、空白和零字节：一样合并，不做预切分
    """
    merges = [(0xFF, 0xFE), (0xC3, 0x28), (0x00, 0x00), (256, 256)]
    round_trip(make, bytes(range(256)), merges)
    round_trip(make, b"\xff\xfe\xff\xfe\xc3(\x00\x00\x00\xed\xa0\x80\xf0\x28", merges)
    make.call("bpe_decode", [0xE6, 0xB3, 256, 0x80], merges)
    spaced = b"a b\na b\nto be\r\nor\tnot\x00to be 12 12 3, 12"
    for data, count in (("注意力注意力🙂🙂é".encode(), 6), (spaced, 12), (_PROSE, 40)):
        merges = make.call("bpe_train", data, count)
        round_trip(make, data, merges)
        round_trip(make, "the newest hat: 意🙂".encode(), merges)
    round_trip(make, b"a b\na\n\nb\x00\x00 12", [(10, 97), (32, 98), (98, 10), (0, 0), (10, 10), (256, 259)])


def edge_long_tokens_and_many_merges(make):
    """tokens of up to 256 bytes, and tokens beyond 511

    token 最长 256 字节；合并规则超过 256 条，token 超过 511
    """
    merges = [(97, 97), *((256 + k, 256 + k) for k in range(7))]
    round_trip(make, b"a" * 301, merges)
    make.call("bpe_decode", [263, 262, 98, 259], merges)
    merges = [(k % 256, (7 * k + k // 256) % 256) for k in range(520)]
    round_trip(make, bytes(k % 256 for pair in merges[250:330] for k in pair), merges)
    make.call("bpe_decode", [255, 256, 511, 512, 700, 775], merges)
    data = bytes(make.integers(0, 40, 360).tolist())
    round_trip(make, data, make.call("bpe_train", data, 300))


def edge_each_model_by_itself(make):
    """two models in turns: nothing is remembered

    两个模型交替使用：两次调用之间不保留任何东西
    """
    models = [make.call("bpe_train", data, 2) for data in (b"ababcc", b"bcbcaa")]
    for data in (b"abcabc", b"ccaabb"):
        for merges in (*models, []):
            make.call("bpe_encode", data, merges)
