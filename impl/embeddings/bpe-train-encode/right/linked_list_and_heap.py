"""Encodes with a heap over a linked list; training too, with negative counts in a Counter."""
import heapq
from collections import Counter


class Chain:
    """Tokens with links to their neighbours; a merged one keeps the left place."""

    def __init__(self, values):
        self.values = list(values)
        self.before = list(range(-1, len(self.values) - 1))
        self.after = list(range(1, len(self.values))) + [-1] if self.values else []

    def pair(self, k):
        if self.values[k] is None or self.after[k] < 0:
            return None
        return self.values[k], self.values[self.after[k]]

    def join(self, k, token):
        gone = self.after[k]
        self.values[k], self.values[gone] = token, None
        self.after[k] = self.after[gone]
        if self.after[k] >= 0:
            self.before[self.after[k]] = k

    def tokens(self):
        return [value for value in self.values if value is not None]


def bpe_encode(data, merges):
    rank_of = {tuple(pair): rank for rank, pair in enumerate(merges)}
    chain = Chain(data)
    heap = []

    def consider(k):
        if k >= 0:
            rank = rank_of.get(chain.pair(k))
            if rank is not None:
                heapq.heappush(heap, (rank, k))

    for k in range(len(data)):
        consider(k)
    while heap:
        rank, k = heapq.heappop(heap)
        if chain.pair(k) != tuple(merges[rank]):
            continue
        chain.join(k, 256 + rank)
        consider(chain.before[k])
        consider(k)
    return chain.tokens()


def bpe_train(text, n_merges):
    tokens, merges = list(text), []
    while n_merges > len(merges):
        counts = Counter(zip(tokens, tokens[1:]))
        if not counts:
            break
        most = max(counts.values())
        pair = min(p for p, c in counts.items() if c == most)
        chain = Chain(tokens)
        k = 0
        while k >= 0 and tokens:
            if chain.pair(k) == pair:
                chain.join(k, 256 + len(merges))
            k = chain.after[k]
        tokens = chain.tokens()
        merges.append(pair)
    return merges


def bpe_decode(ids, merges):
    stack, out = list(reversed(ids)), bytearray()
    while stack:
        token = stack.pop()
        if token < 256:
            out.append(token)
        else:
            left, right = merges[token - 256]
            stack += [right, left]
    return bytes(out)
