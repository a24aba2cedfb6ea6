"""Random traffic in little memory; a second implementation of the rules, over plain rows, gives each expected step."""

from __future__ import annotations

GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}
SIZES = {"steps": (1, 12, 60), "block": (1, 4), "blocks": (1, 7), "budget": (1, 9)}
_ID, _PROMPT, _NEW, _GENERATED, _COMPUTED, _RUNS = range(6)


class Engine:
    """Calls to one scheduler, and rows [id, prompt, new, generated, computed, runs] by arrival beside it."""

    def __init__(self, make, blocks, block, budget):
        self.make, self.blocks, self.block, self.budget, self.rows, self.steps = make, blocks, block, budget, [], 0
        self.scheduler = make.new("Scheduler", blocks, block, budget)

    def add(self, id, prompt, new):
        if prompt + new - 1 > self.blocks * self.block:
            self.make.method_raises(ValueError, self.scheduler, "add", id, prompt, new)
        else:
            self.make.method(self.scheduler, "add", id, prompt, new)
            self.rows.append([id, prompt, new, 0, 0, False])

    def lacking(self):
        return sum(-(-row[_COMPUTED] // self.block) for row in self.rows) - self.blocks

    def start(self, row, left):
        n = min(left, row[_PROMPT] + row[_GENERATED] - row[_COMPUTED])
        row[_COMPUTED] += n
        return n

    def due(self):
        left, scheduled, preempted = self.budget, {}, []
        for row in self.rows:
            if row[_RUNS]:
                n = self.start(row, left)
                while row[_RUNS] and self.lacking() > 0:
                    last = [other for other in self.rows if other[_RUNS]][-1]
                    last[_COMPUTED:] = 0, False
                    preempted.append(last[_ID])
                if row[_RUNS] and n:
                    scheduled[row[_ID]], left = n, left - n
        for row in self.rows:
            if not row[_RUNS] and not preempted:
                n = self.start(row, left)
                if n == 0 or self.lacking() > 0:
                    row[_COMPUTED] -= n
                    break
                row[_RUNS], scheduled[row[_ID]], left = True, n, left - n
        for row in self.rows:
            row[_GENERATED] += row[_ID] in scheduled and row[_COMPUTED] == row[_PROMPT] + row[_GENERATED]
        finished = [row[_ID] for row in self.rows if row[_GENERATED] == row[_NEW]]
        self.rows = [row for row in self.rows if row[_ID] not in finished]
        return scheduled, sorted(preempted), sorted(finished)

    def step(self, times=1):
        for _ in range(times):
            self.steps += 1
            self.make.judge(as_the_rules_say(self.due(), self.steps), self.make.method(self.scheduler, "step"))


def as_the_rules_say(due, number):
    names = ("scheduled", "调度的是"), ("preempted", "抢占的是"), ("finished", "完成的是")

    def holds(got):
        scheduled, preempted, finished = got
        for (en, zh), has, should in zip(names, (scheduled, sorted(preempted), sorted(finished)), due, strict=True):
            if has != should:
                return (
                    f"step {number}: {en} {has}, by the rules {should}",
                    f"第 {number} 步：{zh} {has}，按规则应为 {should}",
                )
        return None

    return holds


def case(make):
    steps, block, blocks, budget = make.sizes("steps", "block", "blocks", "budget")
    engine, most = Engine(make, blocks, block, budget), blocks * block
    draw = make.integers(0, 1000, steps, 4).tolist()
    for number, (arrives, id, prompt, new) in enumerate(draw):
        if arrives % 2 == 0 or number == 0:
            engine.add(10 * number + id % 10, 1 + prompt % most, 1 + new % (most + 1))
        engine.step()
    engine.step(6)


def edge_one_request(make):
    """a prompt longer than the budget, then a token a step; one that needs every block

    提示比预算长，之后每步一个 token；一个恰好用满所有块的请求
    """
    engine = Engine(make, 3, 4, 5)
    engine.add(7, 9, 4)  # 12 tokens are computed at most: three blocks
    engine.step(6)
    engine.add(1, 12, 1)
    engine.step(4)


def edge_a_request_that_never_fits(make):
    """one token too many raises ValueError, and nothing else changes; one less is taken

    多一个 token 就抛 ValueError，其他一切不变；少一个就接收
    """
    engine = Engine(make, 2, 3, 4)
    for id, prompt, new in ((1, 5, 3), (2, 5, 2), (3, 7, 1), (4, 6, 1), (5, 1, 7), (6, 1, 6)):
        engine.add(id, prompt, new)
        engine.step()
    engine.step(20)


def edge_nobody_overtakes(make):
    """the first waiting request lacks blocks, a small one behind it would fit: both wait

    队首的块不够，后面的小请求放得下：两个都等
    """
    engine = Engine(make, 4, 2, 16)
    for id, prompt, new in ((9, 5, 3), (3, 4, 1), (5, 1, 1), (4, 1, 2)):
        engine.add(id, prompt, new)
    engine.step(8)


def edge_preemption(make):
    """decodes fill the memory: the latest arrival is preempted, keeps its tokens and returns to its place

    decode 把显存用满：最晚到达的被抢占，已生成的 token 保留，之后回到原来的次序
    """
    engine = Engine(make, 4, 2, 8)
    for id, prompt, new in ((5, 2, 6), (8, 2, 5), (2, 1, 4), (6, 1, 1)):
        engine.add(id, prompt, new)
    engine.step(18)


def edge_budget_runs_out(make):
    """more running requests than tokens in the budget: the earliest get tokens, the others keep running

    运行中的请求多于预算的 token：先到的先得，其余的保持运行
    """
    engine = Engine(make, 12, 2, 3)
    for id in (4, 1, 3, 2, 5):
        engine.add(id, 2, 3)
        engine.step()
    engine.step(10)


def edge_nothing_to_do(make):
    """no request: nothing is scheduled; two schedulers share nothing

    没有请求：什么也不调度；两个引擎互不相干
    """
    first, second = Engine(make, 2, 2, 4), Engine(make, 2, 2, 4)
    first.add(1, 2, 2)
    for engine in (second, first, second, first, first):
        engine.step()
