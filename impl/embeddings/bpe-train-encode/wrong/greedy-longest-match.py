"""Encodes by the longest fitting token, as WordPiece.
像 WordPiece 那样，编码时取最长的匹配。

symptom: Token ids differ from those in training.
症状：token 序列与训练时不一致。

cards: emb-03, emb-04
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
    pieces = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    ids, position = [], 0
    while position < len(data):
        fitting = [k for k, piece in enumerate(pieces) if data.startswith(piece, position)]
        token = max(fitting, key=lambda k: (len(pieces[k]), -k))
        ids.append(token)
        position += len(pieces[token])
    return ids


def bpe_decode(ids, merges):
    pieces = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    return b"".join(pieces[token] for token in ids)
