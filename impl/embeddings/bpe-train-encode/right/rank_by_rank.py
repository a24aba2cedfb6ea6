"""Merges in rank order, each everywhere; training sorts the counted pairs; recursive decoding."""
from typing import Dict, List, Tuple


def replace(ids: List[int], a: int, b: int, new: int) -> List[int]:
    out: List[int] = []
    waiting = False
    for current in ids:
        if waiting and current == b and out[-1] == a:
            out[-1] = new
            waiting = False
        else:
            out.append(current)
            waiting = True
    return out


def bpe_train(text: bytes, n_merges: int) -> List[Tuple[int, int]]:
    ids, merges = list(text), []
    for rank in range(n_merges):
        counts: Dict[Tuple[int, int], int] = {}
        for k in range(1, len(ids)):
            pair = (ids[k - 1], ids[k])
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[0][0]
        merges.append(best)
        ids = replace(ids, best[0], best[1], 256 + rank)
    return merges


def bpe_encode(data: bytes, merges) -> List[int]:
    ids = list(data)
    for rank, (a, b) in enumerate(merges):
        ids = replace(ids, a, b, 256 + rank)
    return ids


def bpe_decode(ids, merges) -> bytes:
    def spelled(token: int) -> bytes:
        if token < 256:
            return bytes((token,))
        left, right = merges[token - 256]
        return spelled(left) + spelled(right)

    return b"".join(map(spelled, ids))
