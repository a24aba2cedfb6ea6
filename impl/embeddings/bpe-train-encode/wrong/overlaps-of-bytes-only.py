"""Counts overlaps of bytes, not of merged tokens.
字节对重叠时计数，合并出的 token 不计。

symptom: Repetitive text: other merges from the second on.
症状：重复的文本从第二条规则起就不同。

cards: emb-02
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
        last = None
        for pair in zip(ids, ids[1:]):
            if pair == last and pair[0] == pair[1] > 255:
                last = None
                continue
            last = pair
            counts[pair] = counts.get(pair, 0) + 1
        best = min(counts, key=lambda p: (-counts[p], p))
        ids = merged(ids, best, 256 + len(merges))
        merges.append(best)
    return merges


def bpe_encode(data, merges):
    ids = list(data)
    for rank, pair in enumerate(merges):
        ids = merged(ids, tuple(pair), 256 + rank)
    return ids


def bpe_decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    return b"".join(pieces[i] for i in ids)
