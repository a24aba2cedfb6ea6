"""Tokens as characters of a str, merged by str.replace."""

from __future__ import annotations

from collections import Counter


def bpe_train(text, n_merges):
    s, merges = "".join(map(chr, text)), []
    while len(merges) < n_merges and len(s) >= 2:
        counts = Counter(s[i : i + 2] for i in range(len(s) - 1))
        pair = min(counts, key=lambda p: (-counts[p], ord(p[0]), ord(p[1])))
        s = s.replace(pair, chr(256 + len(merges)))
        merges.append((ord(pair[0]), ord(pair[1])))
    return merges


def bpe_encode(data, merges):
    s = data.decode("latin-1")
    for r, (a, b) in enumerate(merges):
        s = s.replace(chr(a) + chr(b), chr(256 + r))
    return [ord(c) for c in s]


def bpe_decode(ids, merges):
    s = "".join(map(chr, ids))
    for r in range(len(merges) - 1, -1, -1):
        s = s.replace(chr(256 + r), chr(merges[r][0]) + chr(merges[r][1]))
    return s.encode("latin-1")
