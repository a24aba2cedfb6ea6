"""Merges from right to left: aaa becomes a, aa.
从右往左合并：aaa 变成 a、aa。

symptom: Runs of one letter split at the wrong end.
症状：连续的字母从错误的一端切开。

cards: emb-02
rung: solved
"""
from collections import Counter


def merged(ids, pair, token):
    result = []
    position = len(ids)
    while position > 0:
        if tuple(ids[max(0, position - 2) : position]) == pair:
            result.append(token)
            position -= 2
        else:
            result.append(ids[position - 1])
            position -= 1
    return result[::-1]


def bpe_train(text, n_merges):
    ids = list(text)
    merges = []
    while len(merges) < n_merges and len(ids) > 1:
        counts = Counter(zip(ids, ids[1:]))
        pair = min(counts, key=lambda pair: (-counts[pair], pair))
        ids = merged(ids, pair, 256 + len(merges))
        merges.append(pair)
    return merges


def bpe_encode(data, merges):
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    ids = list(data)
    while True:
        present = [ranks[pair] for pair in zip(ids, ids[1:]) if pair in ranks]
        if not present:
            return ids
        rank = min(present)
        ids = merged(ids, merges[rank], 256 + rank)


def bpe_decode(ids, merges):
    pieces = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    return b"".join(pieces[token] for token in ids)
