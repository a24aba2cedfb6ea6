"""Steps whose outcome is forced, and thousands of draws of steps whose outcome is not: their joint distribution is known."""

from __future__ import annotations

import math

import torch

AXES = {"target_probs": "γ+1 V", "draft_probs": "γ V", "draft_tokens": "γ"}
SIXTEEN_BITS = "native"
GRADIENTS = False


def one_hot(V, index):
    row = torch.zeros(V, dtype=torch.float64)
    row[index] = 1.0
    return row


def softmax_row(make, V, sharpness=1.2):
    return torch.softmax(torch.randn(V, generator=make.random, dtype=torch.float64) * sharpness, dim=0)


def pick_index(make, V):
    return int(make.integers(0, V, 1))


def accepted_row(make, V, token):
    """p and q for which `token` is accepted for sure: p(token) ≥ q(token), equal now and then."""
    q = softmax_row(make, V)
    kind = make.pick(["equal", "larger", "one-hot", "q is one-hot too"])
    if kind == "equal":
        return q, q
    if kind == "one-hot":
        return one_hot(V, token), q
    if kind == "q is one-hot too":
        return one_hot(V, token), one_hot(V, token)
    p = 0.6 * q + 0.4 * one_hot(V, token)
    return p, q


def rejected_row(make, V, token):
    """p and q for which `token` is rejected for sure and one token only can follow: p(token) = 0, p ≤ q but for one."""
    follower = (token + 1 + pick_index(make, V - 1)) % V
    q = 0.1 + softmax_row(make, V)
    q[follower] = make.pick([0.0, 0.02])
    q = q / q.sum()
    p = q * make.pick([0.5, 0.0, 0.9])
    p[token] = 0.0
    p[follower] = 0.0
    p[follower] = 1.0 - p.sum()
    return p, q, follower


def step(make, rows, q_rows, tokens, generator):
    target = make.keep(torch.stack(rows))
    draft = make.keep(torch.stack(q_rows))
    return make.call("spec_step", target, draft, make.keep(torch.tensor(tokens)), generator)


def forced(make, gamma, V, rejected_at, generator=None):
    """A step in which every outcome is certain; what follows a rejection must not be looked at."""
    rows, q_rows, tokens = [], [], []
    for i in range(gamma):
        token = pick_index(make, V)
        if i == rejected_at:
            p, q, _ = rejected_row(make, V, token)
        else:
            p, q = accepted_row(make, V, token)
        rows.append(p)
        q_rows.append(q)
        tokens.append(token)
    rows.append(one_hot(V, pick_index(make, V)))
    return step(make, rows, q_rows, tokens, generator or make.generator())


def case(make):
    gamma, V = make.size(1, 4), make.size(2, 6)
    forced(make, gamma, V, make.size(0, gamma))
    if make.flag():
        generator = make.generator()
        for _ in range(2):
            forced(make, gamma, V, make.size(0, gamma), generator)


def edge_all_accepted(make):
    """p = q: every token is accepted and the last row gives the next one

    p = q：token 全部接受，next 从最后一行采样
    """
    q = softmax_row(make, 5)
    step(make, [q, q, q, one_hot(5, 3)], [q, q, q], [0, 4, 2], make.generator())


def edge_one_draft_token(make):
    """γ = 1, accepted and rejected

    γ = 1，接受和拒绝各一次
    """
    forced(make, 1, 4, 1)
    forced(make, 1, 4, 0)


def edge_vocabulary_of_one(make):
    """V = 1: nothing else can come

    V = 1：不可能是别的 token
    """
    one = torch.ones(1, dtype=torch.float64)
    step(make, [one, one, one], [one, one], [0, 0], make.generator())


def edge_rejected_first(make):
    """the first token is rejected, the rest would be accepted: they are not looked at

    第一个 token 就被拒绝，后面的本来都能接受：不再看它们
    """
    forced(make, 4, 5, 0)


def edge_rejected_last(make):
    """only the last token is rejected: the free token is not given

    只有最后一个 token 被拒绝：没有免费 token
    """
    forced(make, 3, 5, 2)


def edge_one_hot_target(make):
    """a greedy target: its token is kept, any other is replaced by it

    目标模型是贪心的：草稿与它一致就保留，不一致就换成它的 token
    """
    q = softmax_row(make, 4)
    step(make, [one_hot(4, 1), one_hot(4, 2), one_hot(4, 0)], [q, q], [1, 3], make.generator())


def edge_draft_never_proposes_it(make):
    """q = 0 where p > 0: the residual holds that token alone

    p > 0 而 q = 0：残差里只有这一个 token
    """
    p = torch.tensor([0.3, 0.0, 0.7], dtype=torch.float64)
    q = torch.tensor([0.3, 0.7, 0.0], dtype=torch.float64)
    step(make, [p, one_hot(3, 0)], [q], [1], make.generator())


def edge_seven_draft_tokens(make):
    """γ = 7 over twelve tokens, rejected at the sixth and not at all

    γ = 7，词表有十二个 token：一次在第六个拒绝，一次全部接受
    """
    forced(make, 7, 12, 5)
    forced(make, 7, 12, 7)


def edge_tiny_probabilities(make):
    """p and q near 10⁻⁸, equal or p = 0, and a residual of 10⁻⁶: the ratio decides, not the size

    p、q 在 10⁻⁸ 左右，两者相等或 p = 0，残差只有 10⁻⁶：看比值，不看大小
    """
    equal = torch.tensor([1e-8, 1 - 1e-8], dtype=torch.float64)
    for _ in range(3):
        step(make, [equal, one_hot(2, 1)], [equal], [0], make.generator())
    p = torch.tensor([0.0, 0.5, 0.5], dtype=torch.float64)
    q = torch.tensor([1e-6, 0.5, 0.5 - 1e-6], dtype=torch.float64)
    for turn in range(8):
        step(make, [p, one_hot(3, 1)], [q], [0], make.generator(turn))


def edge_sixteen_bits(make):
    """rows in bfloat16, which add up to 1 only roughly, stay as they are

    bfloat16 的行，各项之和只是大致为 1，保持原样
    """
    p, q = torch.tensor([0.1, 0.1, 0.1, 0.0, 0.69]), torch.tensor([0.1, 0.1, 0.1, 0.69, 0.0])
    target, draft = torch.stack([p, one_hot(5, 2).float()]), q[None]
    rows = [make.keep(t.bfloat16(), dtype="fixed") for t in (target, draft)]
    make.call("spec_step", *rows, make.keep(torch.tensor([3])), make.generator())


def edge_drawn_from_sixteen_bits(make):
    """500 draws of the next token from a row of bfloat16 that adds up to 0.99 and ends in 0

    从一行 bfloat16 概率里抽 500 次 next：各项之和是 0.99，末项为 0
    """
    draws = 500 if make.profile == "ordinary" else 1  # statistics once; elsewhere the form of the answer is enough
    row = torch.cat([torch.full((7,), 0.99 / 7), torch.zeros(1)]).bfloat16()
    certain = one_hot(7 + 1, 0).bfloat16()
    args = [make.keep(t, dtype="fixed") for t in (torch.stack([certain, row]), certain[None])]
    counts = make.tally(draws, "spec_step", *args, make.keep(torch.tensor([0])), make.generator(1))
    chances = {(1, k): 1 / 7 for k in range(7)}
    make.property(lambda outcomes: complaint(outcomes[counts.step], chances, draws))


def edge_cumulative_sum_in_sixteen_bits(make):
    """700 draws from a row of bfloat16: 256 chances of 1/512 each, behind one of a half

    从一行 bfloat16 概率里抽 700 次：一项占一半，后面 256 项各占 1/512
    """
    draws = 700 if make.profile == "ordinary" else 1
    row = torch.cat([torch.tensor([0.5]), torch.full((256,), 1 / 512)]).bfloat16()
    certain = one_hot(257, 0).bfloat16()
    args = [make.keep(t, dtype="fixed") for t in (torch.stack([certain, row]), certain[None])]
    counts = make.tally(draws, "spec_step", *args, make.keep(torch.tensor([0])), make.generator(1))
    make.property(lambda outcomes: swallowed(outcomes[counts.step], draws))


def swallowed(tally, draws):
    """Whether of the small chances every fourth comes as often as the others: an eighth of all draws, within 7 sigma."""
    for rest in range(4):
        came = sum(count for (_, token), count in tally.items() if token > 0 and token % 4 == rest) / draws
        if abs(came - 1 / 8) > 7 * math.sqrt(7 / 64 / draws) + 8 / draws:
            return (
                f"of 256 equal chances, those of the tokens {rest or 4}, {(rest or 4) + 4}, … make up {came:.1%} of the draws, where 12.5% are due",
                f"256 个相等的概率里，token {rest or 4}、{(rest or 4) + 4}、……合占 {came:.1%}，应为 12.5%",
            )
    return None


# Generators whose first or second number is exactly 0 where it is drawn in 16 bits, as once in 256 or 2,048 times.
_FIRST_IS_ZERO, _SECOND_IS_ZERO = 2616, 5259


def edge_zero_is_drawn_in_sixteen_bits(make):
    """rows in 16 bits, and a generator from which 0 comes there: a chance of 0, or of one in a million, is none

    16 位的行，而 generator 按 16 位抽恰好给出 0：概率为 0 或百万分之一的 token 既不能接受，也不能抽到
    """
    never, surely = one_hot(3, 2), one_hot(3, 0)
    hardly = torch.tensor([1e-6, 0.0, 1.0 - 1e-6])
    for dtype in (torch.bfloat16, torch.float16):
        for seed in (_FIRST_IS_ZERO, _SECOND_IS_ZERO):
            for p in (never, hardly, surely):  # of token 0: rejected, so that 2 follows; accepted, and 2 follows
                rows = [torch.stack([p, never]), surely[None]]
                args = [make.keep(t.to(dtype), dtype="fixed") for t in rows]
                make.call("spec_step", *args, make.keep(torch.tensor([0])), make.generator(seed))


def edge_plain_integers(make):
    """the results are Python ints

    两个返回值都是 Python int
    """
    result = forced(make, 2, 3, 2)

    def holds(outcomes):
        got = outcomes[result.step]
        fine = type(got) is tuple and all(type(part) is int for part in got)
        return (
            None if fine else (f"returned {got!r}; a tuple of two ints is due", f"返回了 {got!r}，应为两个 int 的元组")
        )

    make.property(holds)


def loose_step(make, gamma, V):
    """A step whose outcome is open: (p, q, tokens), every token with a chance of acceptance well inside (0, 1)."""
    rows, q_rows, tokens = [], [], []
    for _ in range(gamma):
        while True:
            p, q = softmax_row(make, V), softmax_row(make, V)
            if V > 3 and make.real(0, 1) < 0.5:
                p = p * (torch.arange(V) != pick_index(make, V))
                q = q * (torch.arange(V) != pick_index(make, V))
                p, q = p / p.sum(), q / q.sum()
            ratio = torch.where(q > 0.05, p / q.clamp(min=1e-9), -1.0)
            fitting = ((ratio > 0.3) & (ratio < 0.85)).nonzero()
            if len(fitting):
                break
        rows.append(p)
        q_rows.append(q)
        tokens.append(int(fitting[pick_index(make, len(fitting))]))
    rows.append(softmax_row(make, V))
    return make.keep(torch.stack(rows)), make.keep(torch.stack(q_rows)), tokens


def joint(target, draft, tokens):
    """The probability of every outcome (accepted, next), given the drafted tokens."""
    p, q = target.double(), draft.double()
    reach, chances = 1.0, {}
    for i, token in enumerate(tokens):
        accept = min(1.0, float(p[i, token] / q[i, token]))
        residual = (p[i] - q[i]).clamp(min=0.0)
        for k, mass in enumerate((residual / residual.sum()).tolist()):
            chances[i, k] = reach * (1 - accept) * mass
        reach *= accept
    for k, mass in enumerate((p[-1] / p[-1].sum()).tolist()):
        chances[len(tokens), k] = reach * mass
    return chances


def complaint(tally, chances, draws):
    """What is wrong with these counts; a sound solution is wrongly accused less than once in 10⁹ times."""
    strange = [key for key in tally if key not in chances or chances[key] < 1e-12]
    if strange:
        return (
            f"returned {strange[0]!r}, which can never come",
            f"返回了 {strange[0]!r}，这个结果不可能出现",
        )
    for part, name in ((0, "accepted"), (1, "next")):
        for value in sorted({key[part] for key in chances}):
            due = sum(c for key, c in chances.items() if key[part] == value)
            came = sum(n for key, n in tally.items() if key[part] == value) / draws
            if abs(came - due) > 7 * math.sqrt(due * (1 - due) / draws) + 8 / draws:
                return (
                    f"{name} = {value} in {came:.1%} of {draws:,} draws, where {due:.1%} are due",
                    f"抽 {draws:,} 次，{name} = {value} 占 {came:.1%}，应为 {due:.1%}",
                )
    likely = {key: chance * draws for key, chance in chances.items() if chance * draws >= 8}
    squares = sum((tally.get(key, 0) - due) ** 2 / due for key, due in likely.items())
    freedom = len(likely)
    if squares > freedom + 8 * math.sqrt(2 * freedom) + 40:
        return (
            f"χ² = {squares:.0f} over {freedom} outcomes of {draws:,} draws: not the distribution that is due",
            f"抽 {draws:,} 次，{freedom} 种结果的 χ² = {squares:.0f}：分布不对",
        )
    return None


_DRAWS = 1500


def random(make):
    gamma, V = make.pick([2, 1, 3]), make.pick([8, 4, 6])
    target, draft, tokens = loose_step(make, gamma, V)
    chances = joint(target, draft, tokens)
    args = (target, draft, make.keep(torch.tensor(tokens)))
    counts = make.tally(_DRAWS, "spec_step", *args, make.generator())
    make.property(lambda outcomes: complaint(outcomes[counts.step], chances, _DRAWS))
    same_generator_same_draws(make, args)


def same_generator_same_draws(make, args):
    """Two generators in the same state, in turns: only what is drawn from them may decide."""
    seed = int(make.integers(0, 10_000, 1))
    twins = make.generator(seed), make.generator(seed)
    pairs = [tuple(make.call("spec_step", *args, twin) for twin in twins) for _ in range(24)]
    for first, second in pairs:
        make.compare(first, False)
        make.compare(second, False)

    def holds(outcomes):
        if any(outcomes[a.step] != outcomes[b.step] for a, b in pairs):
            return (
                "two generators in the same state gave different draws: all randomness is to come from `generator`",
                "两个状态相同的 generator 抽出了不同的结果：随机数只能来自 `generator`",
            )
        return None

    make.property(holds)
