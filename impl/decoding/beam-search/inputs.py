"""A model that is a table over a state of all tokens; its log-probabilities add up without rounding. Calls are compared."""

from __future__ import annotations

import torch

AXES = {}
SIZES = {"V": (2, 6), "beam": (1, 4), "max_len": (1, 6)}
GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}
HARDENED = {"edge_ties"}

_STATES = 11
_GRID = 2.0**-18  # sums of a few multiples are exact in float32, in any order


def search(make, table, bos, eos, beam, max_len, alpha):
    """One search, whose calls must have the shapes of the reference's."""

    def step(ids):
        if ids.is_floating_point() or ids.dim() != 2:
            raise TypeError(f"ids must be (N, t) integers, not {ids.dtype} of shape {list(ids.shape)}")
        if bool((ids[:, 1:] == eos).any()):
            raise ValueError("a finished row was passed")
        state = torch.zeros_like(ids[:, 0])
        for column in ids.unbind(1):
            state = (3 * state + column + 1) % len(table)
        return table[state]

    judged = make.callable(step)
    handle = make.call("beam_search", judged, bos, eos, beam, max_len, alpha)
    make.count(judged)
    return handle


def logp(make, V, scale=1.5):
    drawn = torch.randn(_STATES, V, generator=make.random, dtype=torch.float64) * scale
    return ((drawn.log_softmax(-1) / _GRID).round() * _GRID).clamp(min=-8.0).float()


def case(make):
    V, beam, max_len = make.sizes("V", "beam", "max_len")
    table, eos = logp(make, V), make.pick([0, 1, V - 1])
    kind = make.pick(["plain", "eos likely", "much is impossible", "plain"])
    if kind == "eos likely":
        table[:, eos] += 1.0
    elif kind == "much is impossible":
        table[torch.rand(table.shape, generator=make.random) < 0.4] = -torch.inf
    search(make, table, make.pick([0, 1, V - 1]), eos, beam, max_len, make.pick([0.6, 0.0, 1.0, 2.0]))


def edge_garden_path(make):
    """the best first token has only poor continuations: a beam of 2 finds what greedy misses; a wide beam finds all

    最好的第一个 token 后面续写都很差：beam 为 2 能找到贪心错过的；beam 够宽就能找到全部
    """
    first = torch.tensor([[0.55, 0.4, 0.05]]).log()
    table = torch.cat([first, torch.tensor([[0.3, 0.4, 0.3]]).log(), torch.tensor([[0.02, 0.03, 0.95]]).log()]).repeat(
        4, 1
    )
    table = ((table[:_STATES] / _GRID).round() * _GRID).float()
    for beam, max_len in ((1, 3), (2, 3), (2, 1), (30, 3)):
        search(make, table, 0, 2, beam, max_len, 0.6)
        search(make, logp(make, 3), 1, 2, beam, max_len, 1.0)


def edge_ends(make):
    """all end with the first token; none ever ends; the length penalty puts a longer one in front

    第一个 token 就全部结束；永远不结束；长度惩罚让更长的排到前面
    """
    for level in (7.0, -20.0):
        table = logp(make, 4)
        table[:, 2] = level - 8.0
        for beam in (1, 3):
            search(make, table, 0, 2, beam, 4, 0.8)
    table = logp(make, 3, 0.1)
    for alpha in (0.0, 3.0):
        search(make, table, 0, 1, 4, 5, alpha)


def edge_impossible(make):
    """−inf never survives: rows without continuations drop out, and the beam stays narrow

    −inf 永远不留：没有续写的行退出，beam 随之变窄
    """
    inf, table = torch.inf, logp(make, 4)
    table[:, 1:3] = -inf
    search(make, table, 0, 3, 4, 4, 1.0)
    table[5:] = -inf
    for beam in (2, 4):
        search(make, table, 0, 3, beam, 5, 1.0)
    search(make, torch.full((_STATES, 3), -inf), 0, 2, 2, 3, 1.0)


def edge_ties(make):
    """equal sums: the lower row, then the lower id survives

    和相等时，留行号小的，再留 id 小的
    """
    flat = torch.full((_STATES, 4), -0.5)
    for beam, due in ((2, [[0, 0], [0, 1]]), (3, [[0, 0], [0, 1], [0, 2]]), (4, [[0, 0], [0, 1], [0, 2], [3]])):

        def holds(got, due=due):
            found = sorted(ids for ids, _ in got)
            return None if found == due else (f"{found} survive, must be {due}", f"留下的是 {found}，应为 {due}")

        make.judge(holds, search(make, flat, 0, 3, beam, 2, 0.0))
