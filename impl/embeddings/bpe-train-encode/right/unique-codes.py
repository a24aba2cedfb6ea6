"""Pairs as codes for torch.unique; decoding expands until only bytes are left."""

from __future__ import annotations

import torch


def _step(ids, pair, new):
    out = []
    skip = False
    for i, t in enumerate(ids):
        if skip:
            skip = False
            continue
        if i + 1 < len(ids) and t == pair[0] and ids[i + 1] == pair[1]:
            out.append(new)
            skip = True
        else:
            out.append(t)
    return out


def bpe_train(text, n_merges):
    ids, merges = list(text), []
    for r in range(n_merges):
        if len(ids) < 2:
            break
        t = torch.tensor(ids)
        codes, counts = torch.unique(t[:-1] * 65536 + t[1:], return_counts=True)
        code = int(codes[counts == counts.max()][0])
        pair = divmod(code, 65536)
        ids = _step(ids, pair, 256 + r)
        merges.append(pair)
    return merges


def bpe_encode(data, merges):
    known = {tuple(p): r for r, p in enumerate(merges)}
    ids = list(data)
    while True:
        found = {known[p] for p in zip(ids, ids[1:]) if p in known}
        if not found:
            return list(ids)
        r = min(found)
        ids = _step(ids, merges[r], 256 + r)


def bpe_decode(ids, merges):
    if not ids:
        return b""
    while any(i > 255 for i in ids):
        ids = [t for i in ids for t in ((i,) if i < 256 else merges[i - 256])]
    return bytes(ids)
