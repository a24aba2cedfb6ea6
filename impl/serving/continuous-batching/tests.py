"""The rules of a step on a table of requests as the oracle, and promises that hold for any load."""

import pytest
from hypothesis import given
from hypothesis import strategies as st


class Table:
    """Follow the statement on a table with one row for each request, by arrival."""

    def __init__(self, n_blocks, block, token_budget):
        self.n_blocks, self.block, self.token_budget, self.rows = n_blocks, block, token_budget, []

    def add(self, name, prompt_len, max_new):
        self.rows.append(
            {"id": name, "prompt": prompt_len, "max": max_new, "generated": 0, "computed": 0, "running": False}
        )

    def need(self, row):
        return row["prompt"] + row["generated"] - row["computed"]

    def lacks_blocks(self, row, n):
        return sum(-(-(one["computed"] + (n if one is row else 0)) // self.block) for one in self.rows) > self.n_blocks

    def step(self):
        scheduled, preempted, left = {}, [], self.token_budget
        for row in [row for row in self.rows if row["running"]]:
            n = min(left, self.need(row))
            while row["running"] and self.lacks_blocks(row, n):
                latest = [one for one in self.rows if one["running"]][-1]
                latest.update(computed=0, running=False)
                preempted.append(latest["id"])
            if row["running"]:
                scheduled[row["id"]], left, row["computed"] = n, left - n, row["computed"] + n
        for row in [row for row in self.rows if not row["running"]]:
            n = min(left, self.need(row))
            if preempted or n == 0 or self.lacks_blocks(row, n):
                break
            row["running"] = True
            scheduled[row["id"]], left, row["computed"] = n, left - n, row["computed"] + n
        scheduled = {name: n for name, n in scheduled.items() if n}
        for row in self.rows:
            row["generated"] += row["id"] in scheduled and self.need(row) == 0
        finished = [row["id"] for row in self.rows if row["generated"] == row["max"]]
        self.rows = [row for row in self.rows if row["id"] not in finished]
        return scheduled, preempted, finished


def step(scheduler):
    scheduled, preempted, finished = scheduler.step()
    return dict(scheduled), sorted(preempted), sorted(finished)


def new(Scheduler, n_blocks, block, token_budget, *requests):
    scheduler = Scheduler(n_blocks, block, token_budget)
    for name, (prompt_len, max_new) in enumerate(requests):
        scheduler.add(name, prompt_len, max_new)
    return scheduler


def test_a_prompt_and_then_token_by_token(Scheduler):
    scheduler = new(Scheduler, 10, 4, 100, (5, 3))
    assert step(scheduler) == ({0: 5}, [], [])
    assert step(scheduler) == ({0: 1}, [], [])
    assert step(scheduler) == ({0: 1}, [], [0])
    assert step(scheduler) == ({}, [], [])


def test_a_long_prompt_is_computed_in_parts_and_generates_at_its_end(Scheduler):
    scheduler = new(Scheduler, 10, 4, 4, (9, 1))
    assert [step(scheduler) for _ in range(3)] == [({0: 4}, [], []), ({0: 4}, [], []), ({0: 1}, [], [0])]


def test_the_budget_goes_to_the_earliest_first(Scheduler):
    scheduler = new(Scheduler, 100, 1, 5, (3, 9), (4, 9), (2, 9))
    assert step(scheduler) == ({0: 3, 1: 2}, [], [])
    assert step(scheduler) == ({0: 1, 1: 2, 2: 2}, [], [])
    assert step(scheduler) == ({0: 1, 1: 1, 2: 1}, [], [])


def test_nobody_overtakes_a_request_that_lacks_blocks(Scheduler):
    scheduler = new(Scheduler, 4, 1, 10, (3, 1), (2, 1), (1, 1))
    assert step(scheduler) == ({0: 3}, [], [0])
    assert step(scheduler) == ({1: 2, 2: 1}, [], [1, 2])


def test_the_latest_is_preempted_and_computes_its_own_tokens_again(Scheduler):
    scheduler = new(Scheduler, 5, 1, 10, (2, 3), (2, 3))
    assert step(scheduler) == ({0: 2, 1: 2}, [], [])
    assert step(scheduler) == ({0: 1}, [1], [])  # one block was left, for the earlier one
    assert step(scheduler) == ({0: 1}, [], [0])  # 1 needs its prompt and the token that it generated
    assert step(scheduler) == ({1: 3}, [], [])
    assert step(scheduler) == ({1: 1}, [], [1])


def test_a_partly_filled_block_takes_more_tokens(Scheduler):
    scheduler = new(Scheduler, 2, 4, 10, (3, 2), (4, 1))
    assert step(scheduler) == ({0: 3, 1: 4}, [], [1])
    assert step(scheduler) == ({0: 1}, [], [0])


def test_a_request_that_can_never_fit_is_refused(Scheduler):
    scheduler = new(Scheduler, 3, 2, 10)
    for prompt_len, max_new in [(7, 1), (1, 7), (4, 4)]:
        with pytest.raises(ValueError):
            scheduler.add(0, prompt_len, max_new)
    scheduler.add(0, 4, 3)  # the last token that is generated is never computed
    assert step(scheduler) == ({0: 4}, [], [])


ARRIVALS = st.lists(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 6)), max_size=3), min_size=1, max_size=6)


@given(ARRIVALS, st.integers(1, 8), st.integers(1, 4), st.integers(1, 12))
def test_any_load_agrees_with_the_table(Scheduler, arrivals, n_blocks, block, budget):
    scheduler, oracle, count = Scheduler(n_blocks, block, budget), Table(n_blocks, block, budget), 0
    for requests in [*arrivals, *[[]] * 60]:
        for prompt_len, max_new in requests:
            count += 1
            name = 1000 - count  # ids say nothing of the arrival
            if prompt_len + max_new - 1 <= n_blocks * block:
                scheduler.add(name, prompt_len, max_new), oracle.add(name, prompt_len, max_new)
            else:
                with pytest.raises(ValueError):
                    scheduler.add(name, prompt_len, max_new)
        assert step(scheduler) == step(oracle)


@given(ARRIVALS, st.integers(4, 12), st.integers(1, 12))
def test_every_request_finishes_once_within_budget(Scheduler, arrivals, n_blocks, budget):
    requests = [one for step_ in arrivals for one in step_ if sum(one) - 1 <= n_blocks]
    scheduler, done = new(Scheduler, n_blocks, 1, budget, *requests), []
    for _ in range(2000):
        scheduled, preempted, finished = step(scheduler)
        assert sum(scheduled.values()) <= budget and all(n > 0 for n in scheduled.values())
        assert not set(preempted) & set(scheduled)
        done += finished
        if len(done) == len(requests):
            break
    assert sorted(done) == [*range(len(requests))]
    assert step(scheduler) == ({}, [], [])


def test_two_schedulers_share_nothing(Scheduler):
    one, other = new(Scheduler, 4, 1, 3, (2, 2)), new(Scheduler, 4, 1, 3, (3, 1))
    assert step(one) == ({0: 2}, [], []) and step(other) == ({0: 3}, [], [0])
    assert step(one) == ({0: 1}, [], [0])
