"""Texts over a few letters, where pairs tie and overlap; merges from training and merges made up; any bytes at all."""

from __future__ import annotations

SIXTEEN_BITS = "native"
GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}

_ALPHABETS = ["ab", "abc", "a", "aab ", "xyzzy", "abcdefgh", "é漢🙂"]
_PROSE = (
    "the cat sat on the mat; the rat sat on the cat. "
    "low lower lowest, new newer newest, wide wider widest. "
    "注意力机制：注意力，就是注意力。 naïve café, naïve café 🙂🙂"
).encode()
HARDENED = {"edge_merges_that_do_not_build_up"}


def random_bytes(make, length):
    """Bytes over a small alphabet, or over all 256."""
    if make.flag():
        letters = list(make.pick(_ALPHABETS).encode())
        return bytes(letters[k] for k in make.integers(0, len(letters), length).tolist())
    return bytes(make.integers(0, 256, length).tolist())


def random_text(make, length):
    """Mostly over few letters, so that there is something to merge."""
    letters = list(make.pick(_ALPHABETS).encode())
    return bytes(letters[k] for k in make.integers(0, len(letters), length).tolist())


def made_up_merges(make, count):
    """Merges that no training gave: distinct pairs of tokens that exist when their turn comes."""
    merges = []
    letters = [97, 98, 99]
    while len(merges) < count:
        known = [*letters, *range(256, 256 + len(merges))] if make.real(0, 1) < 0.6 else letters
        left, right = (known[k] for k in make.integers(0, len(known), 2).tolist())
        if (left, right) not in merges:
            merges.append((left, right))
    return merges


def round_trip(make, data, merges):
    ids = make.call("bpe_encode", data, merges)
    make.call("bpe_decode", ids, merges)


def case(make):
    kind = make.pick(["train", "made up", "trained", "made up", "decode", "made up"])
    length = make.size(0, 24)
    if kind == "train":
        make.call("bpe_train", random_text(make, length), make.size(0, 8))
    elif kind == "made up":
        merges = made_up_merges(make, make.size(2, 8))
        for extra in (0, 6, 12):
            round_trip(make, bytes(97 + k for k in make.integers(0, 3, length + extra).tolist()), merges)
    elif kind == "trained":
        merges = make.call("bpe_train", random_text(make, length), make.size(0, 8))
        round_trip(make, random_bytes(make, make.size(0, 16)), merges)
        round_trip(make, random_text(make, length), merges)
    else:
        merges = made_up_merges(make, make.size(1, 6))
        ids = make.integers(0, 256 + len(merges), make.size(0, 6)).tolist()
        make.call("bpe_decode", ids, merges)


def edge_nothing(make):
    """empty input, no merges

    输入为空；没有合并规则
    """
    make.call("bpe_train", b"", 5)
    make.call("bpe_train", b"abab", 0)
    make.call("bpe_encode", b"", [(97, 98)])
    make.call("bpe_encode", b"ab", [])
    make.call("bpe_decode", [], [(97, 98)])


def edge_one_byte(make):
    """one byte has no pair

    只有一个字节，没有任何对
    """
    make.call("bpe_train", b"a", 3)
    round_trip(make, b"a", [(97, 97)])


def edge_aaaa(make):
    """aaa and aaaa: overlaps count, merging runs from the left

    aaa 和 aaaa：重叠的也算，合并从左到右
    """
    for text in (b"aa", b"aaa", b"aaaa", b"aaaaa"):
        make.call("bpe_train", text, 3)
        make.call("bpe_encode", text, [(97, 97)])
        make.call("bpe_encode", text, [(97, 97), (256, 256), (256, 97)])


def edge_overlaps_count(make):
    """aaaxbcybc: (a, a) is there twice if overlaps count

    aaa、bc、bc：重叠的也算，(a, a) 就有两次
    """
    make.call("bpe_train", b"aaaxbcybc", 1)
    make.call("bpe_train", b"aaaaxbcybczbc", 1)


def edge_ties(make):
    """pairs that are equally frequent: the smallest (left, right) comes first

    几个对次数相同：取最小的 (left, right)
    """
    make.call("bpe_train", b"zyxba", 4)
    make.call("bpe_train", b"cdcdabab", 3)
    make.call("bpe_train", b"bcacbcac", 3)
    make.call("bpe_train", b"baca", 1)


def edge_stops_early(make):
    """fewer merges than asked for, when no pair is left; a pair that occurs once is a pair

    已没有任何对，合并次数不足就停；只出现一次的对也是对
    """
    make.call("bpe_train", b"ab", 5)
    make.call("bpe_train", b"abcd", 10)
    make.call("bpe_train", b"abab", 10)


def edge_lowest_rank_first(make):
    """a later merge would give a longer token, but takes a letter that an earlier merge needs

    靠后的规则能得到更长的 token，却会抢走靠前规则要用的字母
    """
    merges = [(98, 99), (97, 98), (257, 99), (97, 256)]
    for data in (b"abc", b"ab", b"abcabc", b"aabc"):
        round_trip(make, data, merges)
    round_trip(make, b"abcd", [(97, 98), (99, 100), (98, 99), (256, 257)])
    round_trip(make, b"bcbcabcbc", [(97, 98), (98, 99)])


def edge_from_left_to_right_is_not_the_order(make):
    """the pair of the lowest rank stands on the right

    rank 最小的对在右边
    """
    round_trip(make, b"xab", [(97, 98), (120, 97)])
    round_trip(make, b"aab", [(97, 98), (97, 97)])


def edge_merges_that_do_not_build_up(make):
    """the longest token does not fit, as its parts are never made

    最长的 token 用不上：它的两部分根本没有合并出来
    """
    round_trip(make, b"abab", [(97, 98), (98, 97), (257, 98), (256, 256)])
    round_trip(make, b"aaaa", [(97, 97), (256, 97), (257, 97)])


def edge_any_bytes(make):
    """all 256 bytes, and bytes that are no UTF-8

    全部 256 种字节，以及不是 UTF-8 的字节
    """
    merges = [(0xFF, 0xFE), (0xC3, 0x28), (0x00, 0x00), (256, 256)]
    round_trip(make, bytes(range(256)), merges)
    round_trip(make, b"\xff\xfe\xff\xfe\xc3(\x00\x00\x00\xed\xa0\x80\xf0\x28", merges)
    make.call("bpe_decode", [0xE6, 0xB3, 256, 0x80], merges)


def edge_emoji_and_chinese(make):
    """characters of several bytes are bytes

    多字节的字符也只是一个个字节
    """
    text = "注意力注意力🙂🙂é".encode()
    merges = make.call("bpe_train", text, 6)
    round_trip(make, text, merges)
    round_trip(make, "意🙂".encode(), merges)


def edge_a_text_from_elsewhere(make):
    """merges of one text on another

    一段文本训练出的合并规则，用在另一段文本上
    """
    merges = make.call("bpe_train", _PROSE, 40)
    round_trip(make, _PROSE, merges)
    round_trip(make, b"the newest hat is the widest mat", merges)


def edge_tokens_that_overlap(make):
    """what holds for aaa holds for tokens that were made: overlaps count, merging runs from the left

    合并出来的 token 与 aaa 同理：重叠的也算，合并从左到右
    """
    make.call("bpe_train", b"abababxy", 3)
    make.call("bpe_train", b"ababababababxyxy", 5)
    for count in (6, 7, 11, 14, 22):
        merges = make.call("bpe_train", b"a" * count, 4)
        round_trip(make, b"a" * (count + 1), merges)


def edge_long_tokens(make):
    """tokens of up to 256 bytes, each twice as long as the one before

    token 最长 256 字节，每个都是前一个的两倍长
    """
    merges = [(97, 97), *((256 + k, 256 + k) for k in range(7))]
    round_trip(make, b"a" * 301, merges)
    make.call("bpe_decode", [263, 262, 98, 259], merges)


def edge_many_merges(make):
    """more than 256 merges: tokens beyond 511

    合并规则超过 256 条：token 超过 511
    """
    merges = [(k % 256, (7 * k + k // 256) % 256) for k in range(520)]
    round_trip(make, bytes(k % 256 for pair in merges[250:330] for k in pair), merges)
    make.call("bpe_decode", [255, 256, 511, 512, 700, 775], merges)
    text = bytes(make.integers(0, 40, 360).tolist())
    round_trip(make, text, make.call("bpe_train", text, 300))


def edge_merges_across_white_space(make):
    """no pre-tokenisation: spaces, line ends, zeros and digits merge like any other byte

    不做预切分：空格、换行、零字节、数字都和别的字节一样合并
    """
    text = b"a b\na b\nto be\r\nor\tnot\x00to be 12 12 3, 12"
    merges = make.call("bpe_train", text, 12)
    round_trip(make, text, merges)
    round_trip(make, b"a b\na\n\nb\x00\x00 12", [(10, 97), (32, 98), (98, 10), (0, 0), (10, 10), (256, 259)])


def edge_each_model_by_itself(make):
    """two models in turns: nothing is remembered

    两个模型交替使用：两次调用之间不保留任何东西
    """
    first = make.call("bpe_train", b"ababcc", 2)
    second = make.call("bpe_train", b"bcbcaa", 2)
    for data in (b"abcabc", b"ccaabb"):
        make.call("bpe_encode", data, first)
        make.call("bpe_encode", data, second)
        make.call("bpe_encode", data, [])
