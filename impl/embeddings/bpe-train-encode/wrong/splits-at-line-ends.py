"""Splits the data at line ends.
编码前按换行切开。

symptom: Merges across a line end are never used.
症状：跨换行的合并永远用不上。

cards: emb-03
rung: solved
"""

from __future__ import annotations


def merged(ids, pair, token):
    out, i = [], 0
    while i < len(ids):
        if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
            out.append(token)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def bpe_train(text, n_merges):
    ids, merges = list(text), []
    while len(merges) < n_merges and len(ids) > 1:
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        best = min(counts, key=lambda p: (-counts[p], p))
        ids = merged(ids, best, 256 + len(merges))
        merges.append(best)
    return merges


def bpe_encode(data, merges):
    if b"\n" in data[:-1]:
        head, _, tail = data.partition(b"\n")
        return bpe_encode(head + b"\n", merges) + bpe_encode(tail, merges)
    ids = list(data)
    for rank, pair in enumerate(merges):
        ids = merged(ids, tuple(pair), 256 + rank)
    return ids


def bpe_decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    return b"".join(pieces[i] for i in ids)
