"""Works on Unicode code points instead of bytes.
处理的是 Unicode 码点而不是字节。

symptom: Chinese gives ids beyond 255, and invalid UTF-8 does not come back.
症状：中文的 id 大于 255，非法 UTF-8 还原不了。

cards: emb-04
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
    ids = [ord(letter) for letter in text.decode('utf-8', 'replace')]
    merges = []
    while len(merges) < n_merges and len(ids) > 1:
        counts = Counter(zip(ids, ids[1:]))
        pair = min(counts, key=lambda pair: (-counts[pair], pair))
        ids = merged(ids, pair, 256 + len(merges))
        merges.append(pair)
    return merges


def bpe_encode(data, merges):
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    ids = [ord(letter) for letter in data.decode('utf-8', 'replace')]
    while True:
        present = [ranks[pair] for pair in zip(ids, ids[1:]) if pair in ranks]
        if not present:
            return ids
        rank = min(present)
        ids = merged(ids, merges[rank], 256 + rank)


def bpe_decode(ids, merges):
    pieces = [chr(byte) for byte in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    return ''.join(pieces[token] for token in ids).encode()
