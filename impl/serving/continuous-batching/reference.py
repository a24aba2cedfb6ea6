"""Continuous batching: each step divides a budget of tokens among the requests, within the memory for K and V.

Decisions:
- prefill and decode are treated alike: a request needs its uncomputed tokens, a long prompt or just the newest one;
- blocks are not tracked: the number a request holds follows from its computed tokens;
- running ones go first; when memory runs out, the latest arrival is preempted and later recomputed, generated tokens too;
- no request overtakes: the earliest always advances, so all finish. A request that could never fit is refused by `add`.

Kwon et al. 2023 (vLLM), arXiv 2309.06180; Agrawal et al. 2024 (Sarathi-Serve), arXiv 2403.02310.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class _Request:
    id: int
    prompt_len: int
    max_new: int
    generated: int = 0
    computed: int = 0
    running: bool = False

    @property
    def need(self) -> int:
        return self.prompt_len + self.generated - self.computed


class Scheduler:
    def __init__(self, n_blocks: int, block: int, token_budget: int) -> None:
        self.n_blocks, self.block, self.token_budget = n_blocks, block, token_budget
        self.requests: list[_Request] = []  # by arrival

    def add(self, id: int, prompt_len: int, max_new: int) -> None:
        if prompt_len + max_new - 1 > self.n_blocks * self.block:
            raise ValueError(f"request {id} would never fit into {self.n_blocks} blocks of {self.block}")
        self.requests.append(_Request(id, prompt_len, max_new))

    def _fits(self, request: _Request, n: int) -> bool:
        held = sum(-(-(r.computed + n * (r is request)) // self.block) for r in self.requests)
        return held <= self.n_blocks

    def step(self) -> tuple[dict[int, int], list[int], list[int]]:
        scheduled: dict[int, int] = {}
        preempted, budget = [], self.token_budget

        for request in [r for r in self.requests if r.running]:
            n = min(budget, request.need)
            while request.running and not self._fits(request, n):
                victim = [r for r in self.requests if r.running][-1]
                victim.running, victim.computed = False, 0
                preempted.append(victim.id)
            if request.running and n:
                scheduled[request.id], budget, request.computed = n, budget - n, request.computed + n

        for request in [r for r in self.requests if not r.running and not preempted]:
            n = min(budget, request.need)
            if n == 0 or not self._fits(request, n):
                break
            request.running = True
            scheduled[request.id], budget, request.computed = n, budget - n, request.computed + n

        for request in self.requests:
            request.generated += request.id in scheduled and request.need == 0
        finished = [r.id for r in self.requests if r.generated == r.max_new]
        self.requests = [r for r in self.requests if r.id not in finished]
        return scheduled, preempted, finished
