"""One occurrence at a time, leftmost of the lowest rank; tokens as characters."""
from functools import lru_cache


def letters(values):
    return "".join(chr(v) for v in values)


def bpe_train(text: bytes, n_merges: int):
    line, merges = letters(text), []
    for new in range(256, 256 + n_merges):
        best, most = None, 0
        for pair in sorted({line[k : k + 2] for k in range(len(line) - 1)}):
            found = sum(line.startswith(pair, k) for k in range(len(line) - 1))
            if found > most:
                best, most = pair, found
        if best is None:
            break
        merges.append((ord(best[0]), ord(best[1])))
        line = line.replace(best, chr(new))  # str.replace goes from left to right too
    return merges


def bpe_encode(data: bytes, merges):
    ids = list(data)
    rank = dict(zip(map(tuple, merges), range(len(merges))))
    infinite = len(merges)
    while len(ids) > 1:
        ranked = [rank.get((a, b), infinite) for a, b in zip(ids, ids[1:])]
        lowest = min(ranked)
        if lowest == infinite:
            break
        k = ranked.index(lowest)
        ids[k : k + 2] = [256 + lowest]
    return ids


def bpe_decode(ids, merges):
    @lru_cache(maxsize=None)
    def piece(token):
        return bytes([token]) if token < 256 else b"".join(piece(part) for part in merges[token - 256])

    return b"".join(piece(token) for token in ids)
