"""Check the scheduler's laws over random traffic: budget, memory, order, no needless wait, all requests finish."""

from __future__ import annotations

import random

import pytest

from tests.impl.conftest import IMPL, load

Scheduler = load(IMPL / "serving/continuous-batching/reference.py").Scheduler


def blocks(computed, block):
    return sum(-(-tokens // block) for tokens in computed.values())


@pytest.mark.parametrize("first", range(0, 100, 20))
def test_the_laws_of_the_statement(first):
    for seed in range(first, first + 20):
        _the_laws_hold(seed)


def _the_laws_hold(seed):
    draw = random.Random(seed)
    n_blocks, block, budget = draw.randint(1, 8), draw.randint(1, 4), draw.randint(1, 9)
    engine, prompt, new = Scheduler(n_blocks, block, budget), {}, {}
    computed, generated, running, arrivals = {}, {}, set(), list(range(draw.randint(1, 12)))
    for _ in range(3000):
        if arrivals and draw.random() < 0.5:
            id = arrivals.pop(0)
            prompt[id], new[id] = draw.randint(1, n_blocks * block), draw.randint(1, 6)
            if prompt[id] + new[id] - 1 > n_blocks * block:
                with pytest.raises(ValueError, match="never fit"):
                    engine.add(id, prompt[id], new[id])
                continue
            engine.add(id, prompt[id], new[id])
            computed[id] = generated[id] = 0
        was_running = set(running)
        scheduled, preempted, finished = engine.step()

        assert sum(scheduled.values()) <= budget and min(scheduled.values(), default=1) >= 1
        assert set(preempted) <= was_running and not set(preempted) & set(scheduled)
        stayed = was_running - set(preempted)
        assert not preempted or (max(stayed, default=-1) < min(preempted) and set(scheduled) <= stayed)
        computed.update(dict.fromkeys(preempted, 0))
        for id, n in scheduled.items():
            computed[id] += n
            assert computed[id] <= prompt[id] + generated[id]
        assert blocks(computed, block) <= n_blocks

        running = (running - set(preempted)) | set(scheduled)
        waiting = sorted(set(computed) - running)
        left = budget - sum(scheduled.values())
        assert not waiting or max(running - was_running, default=-1) < waiting[0]
        if waiting and left and not preempted:
            n = min(left, prompt[waiting[0]] + generated[waiting[0]])
            assert blocks({**computed, waiting[0]: n}, block) > n_blocks, "nobody waits who fits"

        for id in scheduled:
            generated[id] += computed[id] == prompt[id] + generated[id]
        assert sorted(finished) == sorted(id for id in computed if generated[id] == new[id])
        for id in finished:
            running.discard(id)
            del computed[id]
        if not arrivals and not computed:
            return
    pytest.fail("not all requests finished")
