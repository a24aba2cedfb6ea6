"""Evening: choose the next token with penalties, filters, a random draw, and speculative decoding with a small model.

Random results are compared as frequencies, since a piece may use its random numbers as it likes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

DRAWS = 1200


def live(engine: Any) -> None:
    rows = engine.model.logits(torch.tensor(engine.text[:20]).view(4, 5))[:, -1].detach()
    penalties(engine, rows)
    filters(engine, rows)
    one_after_the_other(engine)
    drafted(engine)
    settled(engine)
    guesses(engine)
    frequencies(engine)


def penalties(engine: Any, rows: Tensor) -> None:
    """Penalise four texts, each by its own history. A repeated token counts once, and token 0 counts like any other."""
    said = torch.tensor([[0, 3, 3, 3], [5, 5, 0, 1], [2, 4, 6, 8], [1, 1, 1, 1]])
    for n, penalty in enumerate((1.3, 0.5, 1.0, 4.0)):
        engine.say("penalty", engine.do.repetition_penalty(rows, said, penalty), n, tolerance=1e-4)
    engine.say("penalty", engine.do.repetition_penalty(rows, said[:, :0], 2.0), 5, tolerance=1e-4)
    long = torch.randint(20, 24, (4, 150), generator=torch.Generator().manual_seed(8))
    long[:, :3] = torch.tensor([0, 11, 30])
    engine.say("penalty", engine.do.repetition_penalty(rows, long, 1.7), 8, tolerance=1e-4)
    signs = torch.tensor([[-2.0, 0.0, 3.0, -torch.inf, 1e-3], [4.0, -1.0, 0.0, 2.0, -5.0]], dtype=torch.float64)
    for n, penalty in enumerate((1.5, 0.8)):
        engine.say(
            "penalty", engine.do.repetition_penalty(signs, torch.tensor([[0, 1, 2, 3], [4, 4, 4, 2]]), penalty), 6 + n
        )


def filters(engine: Any, rows: Tensor) -> None:
    """Apply each filter alone, off and at its limits, then all of them in order."""
    generator = torch.Generator().manual_seed(4)
    fixed = 2 * torch.randn(5, 12, generator=generator, dtype=torch.float64)
    fixed[1] *= 4
    fixed[3, 2:5] = -torch.inf
    asked: list[dict[str, Any]] = [
        *({"top_k": k} for k in (None, 0, 1, 3, 12, 40)),
        *({"top_p": p} for p in (None, 0.0, 0.1, 0.5, 0.9, 0.999, 1.0, 1.5)),
        *({"min_p": p} for p in (None, 0.0, 0.05, 0.3, 1.0)),
        *({"temperature": t} for t in (1.0, 0.3, 2.5)),
        {"top_k": 4, "top_p": 0.7},
        {"top_k": 3, "top_p": 0.9, "temperature": 3.0},
        {"top_k": 5, "top_p": 0.8, "min_p": 0.1, "temperature": 1.7},
        {"top_p": 0.6, "min_p": 0.2, "temperature": 0.5},
        {"min_p": 0.15, "temperature": 2.0},
        {"top_k": 2, "min_p": 0.01},
    ]
    for n, options in enumerate(asked):
        engine.say("filters", engine.do.filter_logits(fixed, **options), n)
        engine.say("filters", engine.do.filter_logits(fixed[2:3], **options), 50 + n)
    many = 3 * torch.randn(2, 400, generator=generator, dtype=torch.float64)
    engine.say("filters", engine.do.filter_logits(many, 150, 0.97, 1e-4, 1.2), 102)
    engine.say("filters", engine.do.filter_logits(rows, 5, 0.8, None, 1.3), 100, tolerance=1e-4)
    engine.say("filters", engine.do.filter_logits(rows * 40), 101, tolerance=1e-4)


def one_after_the_other(engine: Any) -> None:
    """Generate twelve tokens with the model: penalise, filter and sample each one."""
    generator, text = torch.Generator().manual_seed(21), list(engine.text[:3])
    for _ in range(12):
        logits = engine.model.logits(torch.tensor(text)[None])[:, -1].detach()
        logits = engine.do.repetition_penalty(logits, torch.tensor(text)[None], 1.2)
        logits = engine.do.filter_logits(logits, top_k=12, top_p=0.95, temperature=0.9)
        text.append(int(torch.multinomial(logits.softmax(-1)[0], 1, generator=generator)))
    engine.say("text", text)


def drafted(engine: Any) -> None:
    """Draft three tokens with the first block, and verify them in one pass of the whole model. Both take the likeliest
    token, so nothing is random: the text is the one that the whole model generates alone."""
    do, model, generator = engine.do, engine.model, torch.Generator().manual_seed(2)

    def likeliest(text: list[int], blocks: str) -> Tensor:
        logits = model.logits(torch.tensor(text)[None], blocks=blocks)[0].detach()
        return do.filter_logits(logits, top_k=1).softmax(-1)

    for n, start in enumerate((0, 30, 55)):
        text, kept = list(engine.text[start : start + 9]), []
        for _ in range(4):
            draft = list(text)
            for _ in range(3):
                draft.append(int(likeliest(draft, "a")[-1].argmax()))
            small, large = likeliest(draft[:-1], "a")[-3:], likeliest(draft, "ab")[-4:]
            accepted, following = do.spec_step(large, small, torch.tensor(draft[-3:]), generator)
            text += [*draft[len(text) : len(text) + accepted], following]
            kept.append(accepted)
        engine.say("drafted", [text, kept], n)


def settled(engine: Any) -> None:
    """Verify drafts with a certain outcome: equal rows, impossible tokens, a residual with one candidate."""
    generator = torch.Generator().manual_seed(1)
    sure = torch.eye(6, dtype=torch.float64)
    same = torch.full((13, 6), 1 / 6, dtype=torch.float64)
    for n, count in enumerate((1, 3, 6, 12)):
        target = same.clone()[: count + 1]
        target[-1] = sure[n + 1]
        taken = engine.do.spec_step(target, same[:count], torch.arange(count) % 6, generator)
        engine.say("guesses", list(taken), n)
    for n, place in enumerate((0, 1, 2, 4)):
        target, guessed = sure[[1, 2, 3, 4, 5, 0]], torch.tensor([1, 2, 3, 4, 5])
        drafts = target[:5].clone()
        drafts[place] = sure[0] * 0.5 + sure[(place + 2) % 6] * 0.5
        guessed[place] = 0
        target[place] = 0.0
        target[place, (place + 3) % 6] = 1.0
        engine.say("guesses", list(engine.do.spec_step(target, drafts, guessed, generator)), 10 + n)
    engine.say(
        "guesses",
        [type(part).__name__ for part in engine.do.spec_step(same[:2], same[:1], torch.tensor([2]), generator)],
        20,
    )
    small = torch.tensor([[1e-8, 1 - 1e-8, 0.0], [0.0, 0.0, 1.0]], dtype=torch.float64)
    draft = torch.tensor([[1e-8, 0.5 - 1e-8, 0.5]], dtype=torch.float64)
    engine.say("guesses", list(engine.do.spec_step(small, draft, torch.tensor([0]), generator)), 21)


def guesses(engine: Any) -> None:
    """Check the generator: the same state gives the same result, each call advances it, torch's own stays unchanged."""
    p, q, tokens = distributions(7)
    made = [torch.Generator().manual_seed(5) for _ in range(2)]
    runs = [[engine.do.spec_step(p, q, tokens, generator) for _ in range(40)] for generator in made]
    engine.say("generator", [runs[0] == runs[1], len(set(runs[0])) > 1])
    before = torch.get_rng_state()
    engine.do.spec_step(p, q, tokens, made[0])
    engine.say("generator", bool((before == torch.get_rng_state()).all()), 1)
    state = made[1].get_state()
    engine.do.spec_step(p, q, tokens, made[1])
    engine.say("generator", bool((state == made[1].get_state()).all()), 2)


def distributions(seed: int, count: int = 3, width: int = 5) -> tuple[Tensor, Tensor, Tensor]:
    """Return random target (count + 1, width) and draft (count, width) distributions, and drafted tokens (count,)."""
    generator = torch.Generator().manual_seed(seed)
    p = torch.rand(count + 1, width, generator=generator, dtype=torch.float64).square() + 0.02
    q = torch.rand(count, width, generator=generator, dtype=torch.float64).square() + 0.02
    p, q = p / p.sum(-1, keepdim=True), q / q.sum(-1, keepdim=True)
    return p, q, torch.multinomial(q, 1, generator=generator)[:, 0]


def frequencies(engine: Any) -> None:
    """Compare each outcome's frequency with its probability, for drafts of one, two, three and six tokens."""
    generator = torch.Generator().manual_seed(9)
    for n, (seed, count, width) in enumerate([(3, 1, 4), (7, 3, 5), (12, 6, 4), (2, 2, 4)]):
        p, q, tokens = distributions(seed, count, width)
        if n == 2:  # nearly all are accepted, so that the sixth is reached
            p[:-1] = 0.9 * q + 0.1 * p[:-1]
        if n == 3:  # each of two is accepted half the time, with its own random number
            p[:2], q[:] = torch.tensor([0.3, 0.3, 0.2, 0.2]), torch.tensor([0.6, 0.2, 0.1, 0.1])
            tokens = torch.zeros(2, dtype=torch.long)
        seen = torch.zeros(count + 1, width, dtype=torch.float64)
        for _ in range(DRAWS):
            kept, following = engine.do.spec_step(p, q, tokens, generator)
            seen[kept, following] += 1
        due = expected(p, q, tokens)
        engine.say("frequencies", ((seen / DRAWS - due).abs() < 0.06).all().item(), n)


def expected(p: Tensor, q: Tensor, tokens: Tensor) -> Tensor:
    """Return the probability of each outcome, by the theorem of speculative sampling."""
    due, reached = torch.zeros(p.shape, dtype=torch.float64), 1.0
    for i, token in enumerate(tokens.tolist()):
        kept = min(1.0, float(p[i, token] / q[i, token]))
        residual = (p[i] - q[i]).clamp(min=0)
        if residual.sum() > 0:
            due[i] = reached * (1 - kept) * residual / residual.sum()
        reached *= kept
    due[-1] = reached * p[-1]
    return due
