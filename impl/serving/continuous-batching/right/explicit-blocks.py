"""Blocks have numbers: a free list, and a table for each request."""

import heapq


class Request:
    def __init__(self, order, id, prompt, limit):
        self.order, self.id, self.prompt, self.limit = order, id, prompt, limit
        self.made, self.done, self.table, self.active = 0, 0, [], False

    def __lt__(self, other):
        return self.order < other.order


class Scheduler:
    def __init__(self, n_blocks, block, token_budget):
        self.free, self.size, self.block, self.budget = list(range(n_blocks)), n_blocks, block, token_budget
        self.queue, self.active, self.count = [], [], 0

    def add(self, id, prompt_len, max_new):
        if prompt_len + max_new - 1 > self.size * self.block:
            raise ValueError(id)
        self.count += 1
        heapq.heappush(self.queue, Request(self.count, id, prompt_len, max_new))

    def _grow(self, request, n):
        """Takes the blocks for n more tokens, or none at all."""
        missing = -(-(request.done + n) // self.block) - len(request.table)
        if missing > len(self.free):
            return False
        for _ in range(missing):
            request.table.append(self.free.pop())
        request.done += n
        return True

    def _release(self, request):
        self.free += request.table
        request.table, request.done = [], 0
        self.active.remove(request)

    def step(self):
        tokens, thrown_out = {}, []
        for request in sorted(self.active):
            n = min(self.budget - sum(tokens.values()), request.prompt + request.made - request.done)
            while request in self.active and not self._grow(request, n):
                last = max(self.active)
                self._release(last)
                heapq.heappush(self.queue, last)
                thrown_out.append(last.id)
            if request in self.active and n:
                tokens[request.id] = n
        while self.queue and not thrown_out:
            n = min(self.budget - sum(tokens.values()), self.queue[0].prompt + self.queue[0].made)
            if not n or not self._grow(self.queue[0], n):
                break
            request = heapq.heappop(self.queue)
            self.active.append(request)
            tokens[request.id] = n
        over = []
        for request in list(self.active):
            if request.id in tokens and request.done == request.prompt + request.made:
                request.made += 1
                if request.made == request.limit:
                    self._release(request)
                    over.append(request.id)
        return tokens, thrown_out, over
