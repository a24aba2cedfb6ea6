"""Encodes only the first occurrence of each merge.
每条规则只合并第一处。

symptom: Repeated words stay in bytes.
症状：重复的词还是字节。

cards: emb-03
rung: solved
"""
from collections import Counter


def merged(ids, pair, token):
    result = []
    position = 0
    while position < len(ids):
        if tuple(ids[position : position + 2]) == pair:
            result.append(token)
            position += 2
        else:
            result.append(ids[position])
            position += 1
    return result


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
        k = list(zip(ids, ids[1:])).index(merges[rank])
        ids = ids[:k] + [256 + rank] + ids[k + 2 :]
        ranks.pop(merges[rank])


def bpe_decode(ids, merges):
    pieces = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    return b"".join(pieces[token] for token in ids)
