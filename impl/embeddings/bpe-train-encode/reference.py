"""Byte-pair encoding on raw bytes: learn merges from a text, apply them to any bytes, undo them.

Start with the 256 bytes as tokens. Training merges the most frequent adjacent pair into a new token, again and again.
Decisions:
- the merge of rank r makes token 256 + r, so a list of pairs is the whole model;
- a pair is counted at every position, overlaps included: "aaa" has (a, a) twice;
- ties go to the smallest pair, so that training has one answer;
- merging runs from left to right: "aaa" becomes aa, a;
- encoding replays training: always the pair of the lowest rank that is present, not the longest token that fits;
- bytes, not characters: nothing is out of vocabulary, and any bytes come back.

Gage 1994; Sennrich, Haddow and Birch 2016, arXiv 1508.07909, §3.2; GPT-2 for bytes.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

Pair = tuple[int, int]


def merged(ids: list[int], pair: Pair, token: int) -> list[int]:
    """`ids` with every occurrence of `pair`, from the left, replaced by `token`."""
    result: list[int] = []
    position = 0
    while position < len(ids):
        if tuple(ids[position : position + 2]) == pair:
            result.append(token)
            position += 2
        else:
            result.append(ids[position])
            position += 1
    return result


def bpe_train(text: bytes, n_merges: int) -> list[Pair]:
    ids = list(text)
    merges: list[Pair] = []
    while len(merges) < n_merges and len(ids) > 1:
        counts = Counter(pairwise(ids))  # overlaps included
        pair = min(counts, key=lambda pair: (-counts[pair], pair))
        ids = merged(ids, pair, 256 + len(merges))
        merges.append(pair)
    return merges


def bpe_encode(data: bytes, merges: list[Pair]) -> list[int]:
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    ids = list(data)
    while True:
        present = [ranks[pair] for pair in pairwise(ids) if pair in ranks]
        if not present:
            return ids
        rank = min(present)
        ids = merged(ids, merges[rank], 256 + rank)


def bpe_decode(ids: list[int], merges: list[Pair]) -> bytes:
    pieces = [bytes([byte]) for byte in range(256)]  # what each token stands for
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    return b"".join(pieces[token] for token in ids)
