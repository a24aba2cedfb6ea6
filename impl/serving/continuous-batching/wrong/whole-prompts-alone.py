"""Starts a prompt only when the budget holds all of it.
预算装得下整个提示才启动。

symptom: A prompt longer than the budget never starts.
症状：比预算长的提示永远启动不了。

cards: dec-14
rung: solved
"""

class Scheduler:
    def __init__(self, n_blocks, block, token_budget):
        self.total, self.block, self.budget = n_blocks, block, token_budget
        self.waiting = []
        self.running = []
        self.arrivals = 0

    def _blocks(self, tokens):
        return (tokens + self.block - 1) // self.block

    def _free(self):
        return self.total - sum(self._blocks(r["computed"]) for r in self.running)

    def add(self, id, prompt_len, max_new):
        if self._blocks(prompt_len + max_new - 1) > self.total:
            raise ValueError("the request can never fit")
        self.arrivals += 1
        self.waiting.append({"id": id, "prompt": prompt_len, "new": max_new, "out": 0, "computed": 0, "at": self.arrivals})

    def _preempt(self, victim):
        self.running.remove(victim)
        victim["computed"] = 0
        self.waiting.append(victim)
        self.waiting.sort(key=lambda r: r["at"])

    def step(self):
        left, scheduled, preempted = self.budget, {}, []
        for r in list(self.running):
            if r not in self.running:
                continue
            n = min(left, r["prompt"] + r["out"] - r["computed"])
            while self._blocks(r["computed"] + n) - self._blocks(r["computed"]) > self._free():
                victim = self.running[-1]
                self._preempt(victim)
                preempted.append(victim["id"])
                if victim is r:
                    break
            if r in self.running and n > 0:
                r["computed"] += n
                scheduled[r["id"]] = n
                left -= n
        if not preempted:
            while self.waiting and left > 0:
                r = self.waiting[0]
                n = min(left, r["prompt"] + r["out"])
                if n < r["prompt"] + r["out"] or self._blocks(n) > self._free():
                    break
                self.waiting.pop(0)
                r["computed"] = n
                self.running.append(r)
                scheduled[r["id"]] = n
                left -= n
        finished = []
        for r in list(self.running):
            if r["id"] in scheduled and r["computed"] == r["prompt"] + r["out"]:
                r["out"] += 1
                if r["out"] == r["new"]:
                    finished.append(r["id"])
                    self.running.remove(r)
        self.running.sort(key=lambda r: r["at"])
        return scheduled, preempted, finished
