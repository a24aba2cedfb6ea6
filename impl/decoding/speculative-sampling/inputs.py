"""Steps whose outcome is forced, and thousands of draws of steps whose outcome is not: their joint distribution is known."""

from __future__ import annotations

import collections

import torch

AXES = {"target_probs": "γ+1 V", "draft_probs": "γ V", "draft_tokens": "γ"}
SIZES = {"γ": (1, 4), "V": (2, 6)}
GRADIENTS = False

# Generators whose first or second number is exactly 0 where it is drawn in 16 bits, as once in 256 or 2,048 times.
_ZERO_IS_DRAWN = (2616, 5259)


def one_hot(V, index):
    return torch.eye(V, dtype=torch.float64)[index]


def softmax_row(make, V):
    return torch.softmax(torch.randn(V, generator=make.random, dtype=torch.float64) * 1.2, dim=0)


def index_below(make, V):
    return int(make.integers(0, V, 1))


def accepted_row(make, V, token):
    """p and q for which `token` is accepted for sure: p(token) ≥ q(token), equal now and then."""
    q, certain = softmax_row(make, V), one_hot(V, token)
    return make.pick([(q, q), (0.6 * q + 0.4 * certain, q), (certain, q), (certain, certain)])


def rejected_row(make, V, token):
    """p and q for which `token` is rejected for sure and one token only can follow: p(token) = 0, p ≤ q but for one."""
    follower = (token + 1 + index_below(make, V - 1)) % V
    q = 0.1 + softmax_row(make, V)
    q[follower] = make.pick([0.0, 0.02])
    q = q / q.sum()
    p = q * make.pick([0.5, 0.0, 0.9])
    p[token] = p[follower] = 0.0
    p[follower] = 1.0 - p.sum()
    return p, q


def step(make, rows, q_rows, tokens, generator, dtype="follow"):
    target, draft = (make.keep(torch.stack(list(part)), dtype=dtype) for part in (rows, q_rows))
    return make.call("spec_step", target, draft, make.keep(torch.tensor(tokens)), generator)


def forced(make, gamma, V, rejected_at, generator):
    """A step in which every outcome is certain; tokens after a rejection must not be read."""
    tokens = [index_below(make, V) for _ in range(gamma)]
    pairs = [(rejected_row if i == rejected_at else accepted_row)(make, V, token) for i, token in enumerate(tokens)]
    last = one_hot(V, index_below(make, V))
    return step(make, [*(p for p, _ in pairs), last], [q for _, q in pairs], tokens, generator)


def case(make):
    gamma, V = make.sizes("γ", "V")
    generator = make.generator()
    for _ in range(make.pick([1, 2])):
        forced(make, gamma, V, min(gamma, make.pick([0, gamma, 1, gamma - 1])), generator)


def edge_one_token_or_one_chance(make):
    """V = 1; p = q; a greedy target; q = 0 where p > 0: the outcome is certain

    V = 1；p = q；目标模型是贪心的；p > 0 而 q = 0：结果都是确定的
    """
    one, q = torch.ones(1, dtype=torch.float64), softmax_row(make, 4)
    step(make, [one] * 3, [one] * 2, [0, 0], make.generator())
    step(make, [q, q, q, one_hot(4, 3)], [q, q, q], [0, 3, 2], make.generator())
    step(make, [one_hot(4, 1), one_hot(4, 2), one_hot(4, 0)], [q, q], [1, 3], make.generator())
    p, q = torch.tensor([[0.3, 0.0, 0.7], [0.3, 0.7, 0.0]], dtype=torch.float64)
    step(make, [p, one_hot(3, 0)], [q], [1], make.generator())


def edge_tiny_probabilities(make):
    """p and q near 10⁻⁸, equal or p = 0, and a residual of 10⁻⁶: the ratio decides, not the size

    p、q 在 10⁻⁸ 左右，两者相等或 p = 0，残差只有 10⁻⁶：看比值，不看大小
    """
    equal = torch.tensor([1e-8, 1 - 1e-8], dtype=torch.float64)
    p, q = torch.tensor([[0.0, 0.5, 0.5], [1e-6, 0.5, 0.5 - 1e-6]], dtype=torch.float64)
    for turn in range(8):
        step(make, [equal, one_hot(2, 1)], [equal], [0], make.generator(turn))
        step(make, [p, one_hot(3, 1)], [q], [0], make.generator(turn))


def edge_sixteen_bits(make):
    """rows in 16 bits add up to 1 only roughly; a chance of 0, or of one in a million, must fail when 0 is drawn

    16 位的行，各项之和只是大致为 1；随机数恰好是 0 时，概率为 0 或百万分之一的 token 既不能接受，也不能抽到
    """
    p, q = torch.tensor([0.1, 0.1, 0.1, 0.0, 0.69]), torch.tensor([0.1, 0.1, 0.1, 0.69, 0.0])
    step(make, [p.bfloat16(), one_hot(5, 2).bfloat16()], [q.bfloat16()], [3], make.generator(), "fixed")
    never, surely, hardly = one_hot(3, 2), one_hot(3, 0), torch.tensor([1e-6, 0.0, 1.0 - 1e-6])
    for dtype in (torch.bfloat16, torch.float16):
        for seed in _ZERO_IS_DRAWN:
            for p in (never, hardly, surely):  # of token 0: rejected, so that 2 follows; accepted, and 2 follows
                rows = [p.to(dtype), never.to(dtype)]
                step(make, rows, [surely.to(dtype)], [0], make.generator(seed), "fixed")


def edge_drawn_from_sixteen_bits(make):
    """700 draws from a bfloat16 row: 256 chances of 1/512 behind one of a half, or seven that add up to 0.99

    从一行 bfloat16 概率里抽 700 次：一项占一半、后面 256 项各占 1/512，或者七项之和为 0.99
    """
    draws = 700 if make.profile == "ordinary" else 1  # statistics once; elsewhere the form of the answer is enough
    for weights, chances in (
        ([0.5] + [1 / 512] * 256, [1 / 2] + [1 / 8] * 4),
        ([0.99 / 7] * 7 + [0.0], [1 / 7] * 7 + [0]),
    ):
        row, certain = torch.tensor(weights).bfloat16(), one_hot(len(weights), 0).bfloat16()

        def holds(tally, chances=chances):
            """By the token's number modulo the groups: single ones come too rarely to be counted."""
            grouped = collections.Counter()
            for (accepted, token), count in tally.items():
                grouped[accepted, token and 1 + (token - 1) % (len(chances) - 1)] += count
            return make.frequencies(grouped, {(1, k): chance for k, chance in enumerate(chances)}, "accepted", "next")

        args = [make.keep(t, dtype="fixed") for t in (torch.stack([certain, row]), certain[None], torch.tensor([0]))]
        make.judge(holds, make.tally(draws, "spec_step", *args, make.generator(1)))


def edge_seven_draft_tokens(make):
    """γ = 7 over twelve tokens, rejected at the sixth and not at all; the results are Python ints

    γ = 7，词表有十二个 token：一次在第六个拒绝，一次全部接受；两个返回值都是 Python int
    """
    for rejected_at in (5, 7):
        forced(make, 7, 12, rejected_at, make.generator())


def loose_row(make, V):
    """p, q and a token whose chance of acceptance is well inside (0, 1)."""
    while True:
        p, q = softmax_row(make, V), softmax_row(make, V)
        if V > 3 and make.real(0, 1) < 0.5:
            p, q = (row * (torch.arange(V) != index_below(make, V)) for row in (p, q))
            p, q = p / p.sum(), q / q.sum()
        ratio = torch.where(q > 0.05, p / q.clamp(min=1e-9), -1.0)
        fitting = ((ratio > 0.3) & (ratio < 0.85)).nonzero()
        if len(fitting):
            return p, q, int(fitting[index_below(make, len(fitting))])


def joint(target, draft, tokens):
    """The probability of every outcome (accepted, next), given the drafted tokens."""
    p, q, reach, chances = target.double(), draft.double(), 1.0, {}
    for i, token in enumerate(tokens):
        accept = min(1.0, float(p[i, token] / q[i, token]))
        residual = (p[i] - q[i]).clamp(min=0.0)
        for k, mass in enumerate((residual / residual.sum()).tolist()):
            chances[i, k] = reach * (1 - accept) * mass
        reach *= accept
    for k, mass in enumerate((p[-1] / p[-1].sum()).tolist()):
        chances[len(tokens), k] = reach * mass
    return chances


def random(make):
    gamma, V = make.pick([2, 1, 3]), make.pick([8, 4, 6])
    rows, q_rows, tokens = zip(*[loose_row(make, V) for _ in range(gamma)], strict=True)
    args = [make.keep(torch.stack([*rows, softmax_row(make, V)])), make.keep(torch.stack(q_rows))]
    chances = joint(*args, tokens)
    args.append(make.keep(torch.tensor(tokens)))
    drawn = make.tally(1500, "spec_step", *args, make.generator())
    make.judge(lambda tally: make.frequencies(tally, chances, "accepted", "next"), drawn)
    make.repeats(lambda generator: make.tally(100, "spec_step", *args, generator), globally=False)
