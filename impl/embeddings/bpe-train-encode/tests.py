"""Slow oracles that follow the statement step by step, and round trips for any bytes."""

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

# Few different bytes, so that pairs repeat and tie; white space is nothing special.
TEXTS = st.lists(st.sampled_from(list(b"aab \n\xff")), max_size=30).map(bytes)


def replaced(ids, pair, token):
    """Replace `pair` by `token` from left to right."""
    out, rest = [], list(ids)
    while rest:
        if tuple(rest[:2]) == pair:
            out, rest = [*out, token], rest[2:]
        else:
            out, rest = [*out, rest[0]], rest[1:]
    return out


def expected_merges(text, n_merges):
    ids, merges = list(text), []
    for rank in range(n_merges):
        counts = Counter(pairwise(ids))
        if not counts:
            break
        most = max(counts.values())
        merges.append(min(pair for pair in counts if counts[pair] == most))
        ids = replaced(ids, merges[-1], 256 + rank)
    return merges


def expected_ids(data, merges):
    """Replace the known pair of lowest rank until none is left; a merge may bring back one of lower rank."""
    ids = list(data)
    while known := [merges.index(pair) for pair in pairwise(ids) if pair in merges]:
        ids = replaced(ids, merges[min(known)], 256 + min(known))
    return ids


def spelled(token, merges):
    return bytes([token]) if token < 256 else b"".join(spelled(part, merges) for part in merges[token - 256])


@st.composite
def made_up_merges(draw):
    """Draw distinct pairs of tokens that exist at their rank, whether encoding makes them or not."""
    merges = []
    for rank in range(draw(st.integers(0, 8))):
        token = st.sampled_from([*b"ab", *range(256, 256 + rank)])
        pair = draw(st.tuples(token, token))
        if pair in merges:
            break
        merges.append(pair)
    return merges


@given(TEXTS, st.integers(0, 12))
def test_training_merges_the_most_frequent_pair(bpe_train, text, n_merges):
    assert bpe_train(text, n_merges) == expected_merges(text, n_merges)


def test_merges_are_tuples_of_numbers(bpe_train):
    for pair in bpe_train(b"abababab", 3):
        assert isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(token, int) for token in pair)


def test_overlaps_are_counted(bpe_train):
    # (a, a) is there twice, as often as (b, c), and it is smaller.
    assert bpe_train(b"bcbcaaa", 1) == [(97, 97)]
    # The same holds for tokens made by merging.
    for unit in (b"ab", b"aab", b"abc"):
        for times in range(1, 9):
            text = unit * times + b"xyz" * 3 + unit * 3
            assert bpe_train(text, 8) == expected_merges(text, 8)


def test_ties_go_to_the_smallest_pair(bpe_train):
    assert bpe_train(b"zyxw", 1) == [(120, 119)]
    assert bpe_train(b"acab", 1) == [(97, 98)]


def test_merging_runs_from_left_to_right(bpe_train, bpe_encode):
    assert bpe_encode(b"aaa", [(97, 97)]) == [256, 97]
    assert bpe_encode(b"aaaaa", [(97, 97)]) == [256, 256, 97]
    assert bpe_train(b"aaa", 2) == [(97, 97), (256, 97)]


def test_training_stops_when_no_pair_is_left(bpe_train):
    assert bpe_train(b"", 5) == bpe_train(b"a", 5) == bpe_train(b"ab", 0) == []
    assert bpe_train(b"ab", 5) == [(97, 98)]
    assert bpe_train(b"abc", 5) == [(97, 98), (256, 99)]


def test_a_longer_text(bpe_train, bpe_encode):
    text = b"she sells sea shells by the sea shore; the shells she sells are sea shells, I'm sure.\n\n" * 3
    merges = bpe_train(text, 60)
    assert merges == expected_merges(text, 60)
    assert bpe_encode(text, merges) == expected_ids(text, merges)


@given(TEXTS, TEXTS, st.integers(0, 12))
def test_encoding_with_the_merges_of_another_text(bpe_train, bpe_encode, text, data, n_merges):
    merges = expected_merges(text, n_merges)
    assert bpe_encode(data, merges) == expected_ids(data, merges)


@given(TEXTS, made_up_merges())
def test_encoding_with_made_up_merges(bpe_encode, data, merges):
    assert bpe_encode(data, merges) == expected_ids(data, merges)


def test_the_lowest_rank_goes_first_not_the_longest_token(bpe_encode):
    bc, ab, abc = (98, 99), (97, 98), (257, 99)
    # "abc" is a known token, but (b, c) has the lower rank and takes b away.
    assert bpe_encode(b"abc", [bc, ab, abc]) == [97, 256]
    assert bpe_encode(b"abc", [ab, bc]) == [256, 99]


@given(st.binary(max_size=40), TEXTS)
def test_any_bytes_come_back(bpe_train, bpe_encode, bpe_decode, data, text):
    for merges in (expected_merges(data, 10), expected_merges(text, 10), []):
        assert bpe_decode(bpe_encode(data, merges), merges) == data


@given(made_up_merges(), st.data())
def test_any_list_of_known_tokens_is_decoded(bpe_decode, merges, data):
    token = st.sampled_from([*b"ab\x80\xff", *range(256, 256 + len(merges))])
    ids = data.draw(st.lists(token, max_size=10))
    decoded = bpe_decode(ids, merges)
    assert isinstance(decoded, bytes) and decoded == b"".join(spelled(token, merges) for token in ids)


def test_all_bytes_are_tokens(bpe_encode, bpe_decode):
    data = bytes(range(256))
    assert bpe_encode(data, []) == list(range(256)) and bpe_decode(list(range(256)), []) == data
    assert bpe_encode(b"", [(97, 98)]) == [] and bpe_decode([], [(97, 98)]) == b""


def test_arguments_stay_and_calls_share_nothing(bpe_train, bpe_encode, bpe_decode):
    merges, ids = [(97, 98), (256, 99)], [257, 97]
    for _ in range(2):
        encoded = bpe_encode(b"abcab", merges)
        assert encoded == [257, 256]
        encoded.append(0)
        assert bpe_decode(ids, merges) == b"abca"
        trained = bpe_train(b"abab", 1)
        assert trained == [(97, 98)]
        trained.append((0, 0))
    assert merges == [(97, 98), (256, 99)] and ids == [257, 97]
    assert bpe_encode(b"abc", [(98, 99)]) == [97, 256] and bpe_decode([256], [(98, 99)]) == b"bc"
    merges[0] = (97, 99)  # the same list with other merges
    assert bpe_encode(b"ac", merges) == [256] and bpe_decode([256], merges) == b"ac"
