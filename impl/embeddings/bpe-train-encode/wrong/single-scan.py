"""Encodes in one scan, merging any known pair.
编码只扫一遍，见到已知的对就合并。

symptom: A late merge takes an early one's letter.
症状：靠后的规则抢走靠前规则的字母。

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
    ids = []
    for byte in data:
        ids.append(byte)
        while len(ids) > 1 and (ids[-2], ids[-1]) in ranks:
            right, left = ids.pop(), ids.pop()
            ids.append(256 + ranks[left, right])
    return ids


def bpe_decode(ids, merges):
    pieces = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    return b"".join(pieces[token] for token in ids)
