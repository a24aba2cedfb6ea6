"""A head with nothing to fetch puts its attention on BOS, since softmax weights must sum to 1.

"Bigram–back-copy": tokens follow a random bigram chain, but after one of three trigger tokens the token before the
trigger is repeated. Bigrams need no attention, each token alone predicts the next; copying needs the one head of the
one layer. Compare the head's attention at triggers with everywhere else. At a trigger it goes to the previous token.
Elsewhere the head has nothing to do, and nearly all goes to BOS, whose value became small in training. Nothing in the
loss asks for that. Seeds 0 … 20: BOS got 0.78 … 1.00 elsewhere, at most 0.06 at triggers, the previous token 0.89 …
0.98 there. A token does not see itself here. If it does, the head may attend to it instead: seed 18 then left 0.29 for
BOS and 0.36 for the token itself, the other seeds 0.57 … 1.00 for BOS.

Control: triggers are ordinary tokens, so that there is nothing to copy.

Xiao et al. 2023, arXiv 2309.17453; Guo et al. 2024, arXiv 2410.13835 (the task).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

TITLE = {"en": "Attention sinks: where a head at rest looks", "zh": "attention sink：头休息时看哪里"}
CLAIM = {
    "en": "A head that has nothing to fetch at a position parks its attention on BOS, and takes it away where it has work to do.",
    "zh": "某个位置没有东西可取时，头会把注意力停在 BOS 上；有活要干时再把它移开。",
}
CARDS = ("att-09", "att-29", "eval-06", "emb-13", "sparse-04")
CAVEATS = (
    {
        "en": "One layer, one head and a task made for it; in large models sinks also come with massive activations.",
        "zh": "一层、一个头，任务也是特意设计的；大模型里的 sink 还伴随着巨大的激活值。",
    },
    {
        "en": "The head sees earlier tokens only. Where a token sees itself as well, part of the attention may rest there.",
        "zh": "这里的头只看更早的 token；如果也能看到自己，一部分注意力可能停在自己身上。",
    },
)
SEEDS = 3
SECONDS = (5, 15)
TOKENS, TRIGGERS, LENGTH, WIDTH, BATCH, STEPS = 32, 3, 48, 64, 32, 500  # the triggers are the tokens 0, 1, 2
BOS = TOKENS


def run(seed, quick, progress, control=False):
    generator = torch.Generator().manual_seed(seed)
    chain = torch.softmax(2 * torch.randn(TOKENS, TOKENS, generator=generator), dim=-1)  # (from, to)
    triggers = 0 if control else TRIGGERS
    model = trained(chain, triggers, generator, progress)
    sequences = drawn(chain, triggers, 64, generator)  # (b, n)
    with torch.no_grad():
        _, pattern, written = attend(model, sequences)  # (b, n, n), (b, n)
    trigger = sequences < TRIGGERS  # (b, n)
    elsewhere = ~trigger
    elsewhere[:, 0] = False  # BOS can see nothing but itself
    to_bos, to_previous = pattern[:, :, 0], F.pad(pattern.diagonal(-1, 1, 2), (1, 0))  # (b, n) each
    uniform = (1 / torch.arange(LENGTH).clamp(min=1)).expand_as(to_bos)  # (b, n)
    rest, work, copied = (part.mean().item() for part in (to_bos[elsewhere], to_bos[trigger], to_previous[trigger]))
    value = (written[:, 0].mean() / written[:, 1:].mean()).item()
    return {
        "columns": [
            {"en": "at", "zh": "位置"},
            {"en": "to BOS", "zh": "到 BOS"},
            {"en": "to the previous token", "zh": "到前一个 token"},
            {"en": "to BOS if uniform", "zh": "均匀时到 BOS"},
        ],
        "rows": [
            [{"en": name, "zh": zh}, *(part[where].mean().item() for part in (to_bos, to_previous, uniform))]
            for name, zh, where in (("triggers", "触发 token", trigger), ("all others", "其余位置", elsewhere))
        ],
        "plots": [
            {
                "kind": "heat",
                "title": {"en": "Attention of one sequence (t: trigger)", "zh": "一个序列的注意力（t：触发 token）"},
                "rows": [f"{place}{'t' if trigger[0, place] else ''}" for place in range(24)],
                "columns": ["BOS", *range(1, 24)],
                "values": pattern[0, :24, :24].tolist(),
            }
        ],
        "checks": [
            check("to BOS where there is nothing to do", "无事可做处到 BOS", rest, "> 0.5", rest > 0.5),
            check("to BOS at triggers", "触发处到 BOS", work, "< 0.1", work < 0.1),
            check("from triggers to the token before", "触发处到前一个 token", copied, "> 0.7", copied > 0.7),
        ],
        "seen": {
            "en": f"at rest {rest:.2f} of the attention lay on BOS, at triggers {work:.3f}, where {copied:.2f} went to the token to copy; what BOS adds has {value:.2f} times the norm of what the others would add.",
            "zh": f"无事可做时 {rest:.2f} 的注意力停在 BOS 上，触发处只有 {work:.3f}，那里 {copied:.2f} 给了要复制的 token；BOS 写入的向量，范数是其他 token 的 {value:.2f} 倍。",
        },
    }


def check(en, zh, got, due, holds):
    return {"says": {"en": en, "zh": zh}, "holds": holds, "got": f"{got:.3f}", "due": due}


def drawn(chain, triggers, count, generator):
    """Return sequences (count, n): BOS, a token that is no trigger, then by the chain, or copied after a trigger."""
    found = [torch.full((count,), BOS), torch.randint(TRIGGERS, TOKENS, (count,), generator=generator)]
    while len(found) < LENGTH:
        by_chain = torch.multinomial(chain[found[-1]], 1, generator=generator)[:, 0]
        found.append(torch.where(found[-1] < triggers, found[-2], by_chain))
    return torch.stack(found, dim=1)


def attend(model, sequences):
    """Return logits (b, n, V), the pattern (b, n, n), and the norm of each token's attended value (b, n)."""
    embed, place, wq, wk, wv, wo, head = model
    x = embed[sequences] + place  # (b, n, d)
    y = F.layer_norm(x, (WIDTH,))
    hidden = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu()
    hidden[0, 0] = False  # all see earlier tokens only, except BOS, which has none
    scores = (y @ wq) @ (y @ wk).transpose(1, 2) / WIDTH**0.5  # (b, n, n)
    pattern = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1)
    values = y @ wv @ wo  # (b, n, d)
    return F.layer_norm(x + pattern @ values, (WIDTH,)) @ head, pattern, values.norm(dim=-1)


def trained(chain, triggers, generator, progress):
    shapes = [(TOKENS + 1, WIDTH), (LENGTH, WIDTH)] + [(WIDTH, WIDTH)] * 4 + [(WIDTH, TOKENS)]
    scales = [1, 1] + [0.072] * 5  # embeddings of 1, matrices of 1/√(3d)
    drawing = zip(scales, shapes, strict=True)
    model = [(scale * torch.randn(*shape, generator=generator)).requires_grad_() for scale, shape in drawing]
    optimiser = torch.optim.AdamW(model)
    pool = drawn(chain, triggers, 2048, generator)  # (2048, n)
    for step in range(STEPS):
        optimiser.param_groups[0]["lr"] = 1.5e-2 * min(1, 5 - 5 * step / STEPS)  # constant, then decaying
        sequences = pool[torch.randint(len(pool), (BATCH,), generator=generator)]  # (b, n)
        logits, _, _ = attend(model, sequences)
        loss = F.cross_entropy(logits[:, 1:-1].flatten(0, 1), sequences[:, 2:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        progress((step + 1) / STEPS)
    return model
