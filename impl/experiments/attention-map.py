"""Map the attention of a small trained layer over your own text: the first half of how in-context copying works.

One head is trained on random tokens, some of which are repeated: when a token is repeated, the next one is what
followed it the first time. The tokens' vectors are drawn anew for every batch. So the head cannot learn what a token
means, only where to look: for a key whose *previous* token equals the query's own, which is an induction head. For that
a key must contain its previous token. In a Transformer a head of the layer below writes that; here it is given (a
"smeared" key), so one layer is enough. A token that has occurred before puts its weight on what came after it. A new
token has nothing to look up: its weight goes to BOS or wherever random vectors happen to match, which does not say that
it is "about" anything. Words and punctuation are the tokens, in Chinese each character. Over seeds 0 … 9 the greatest
weight lay behind an earlier occurrence in 0.999 … 1.000 of the repeated places of fresh random sequences.

Control: the keys are not smeared, so that no key knows its previous token.

Olsson et al. 2022, arXiv 2209.11895 (induction heads, smeared keys); Jain and Wallace 2019, arXiv 1902.10186.
"""

from __future__ import annotations

import re
import unicodedata

import torch
import torch.nn.functional as F

TITLE = {"en": "An attention map of your own text", "zh": "给一段文字画注意力图"}
CLAIM = {
    "en": "A head trained on random tokens looks, at a token that has occurred before, at what followed it, in a text it has never seen.",
    "zh": "只在随机 token 上训练过的头，面对没见过的文字，遇到出现过的 token 也会去看它上次后面跟的是什么。",
}
CARDS = ("head-14",)
CAVEATS = (
    {
        "en": "One head made for one task; maps of large models are rarely this clean, and a weight says what is read, not why.",
        "zh": "这个头只为一项任务训练；大模型的注意力图很少这么干净，而且权重只说明读了哪里，不说明为什么。",
    },
)
TEXT = {
    "en": "the cat saw the dog and the dog saw the bird, then the bird saw the cat",
    "zh": "小猫看见小狗，小狗看见小鸟，小鸟又看见小猫",
}
SEEDS = 1
SECONDS = (5, 10)
WIDTH, LENGTH, BATCH, VOCABULARY, MOST_TOKENS = 48, 40, 32, 256, 40
MARKS = "".join(chr(code) for code in range(0x300, 0x20000) if unicodedata.category(chr(code))[0] == "M")
WORD = f"(?:[^\\W_][{MARKS}]*)+"  # the marks of many scripts are letters of their own to Python
SIGN = r"[^\w\s\u200b-\u200f\u2060\ufeff]"  # an emoji of several joined ones is one sign, and so is a flag
TOKEN = re.compile(
    rf"[㐀-䶿一-鿿豈-﫿぀-ヿ가-힯]|{WORD}(?:['’]{WORD})*|[🇦-🇿]{{2}}|{SIGN}(?:[{MARKS}🏻-🏿]|\u200d{SIGN})*|_"
)


def run(seed, quick, progress, text, control=False):
    generator = torch.Generator().manual_seed(seed)
    smear = 0 if control else 1
    head = trained(generator, 300 if quick else 600, smear, progress)
    fresh, again = drawn(generator, 64)  # (b, T) each
    pattern, _ = attend(head, vectors(fresh, VOCABULARY, smear, generator)[0])  # (b, T, T)
    held = share(pattern, fresh, again)
    all_tokens = TOKEN.findall(unicodedata.normalize("NFC", text))
    tokens = ["BOS", *all_tokens[:MOST_TOKENS]]
    names = sorted(set(tokens))
    ids = torch.tensor([[names.index(token) for token in tokens]])  # (1, n)
    shown, _ = attend(head, vectors(ids, len(names), smear, generator)[0])  # (1, n, n)
    repeated = (ids[:, :, None] == ids[:, None]).tril(-1).any(-1)  # (1, n)
    found = share(shown, ids, repeated) if repeated.any() else 0.0
    rows = [told(tokens, shown[0, place], place) for place in range(1, len(tokens)) if repeated[0, place]]
    count = int(repeated.sum())
    cut = len(all_tokens) > MOST_TOKENS
    of_all = (f"the first {MOST_TOKENS} of ", f"，只看前 {MOST_TOKENS} 个，其中") if cut else ("", " 里")
    en = f"of {of_all[0]}{len(all_tokens)} tokens {count} had occurred before, and {found:.0%} of those looked most at what had followed it"
    zh = f"{len(all_tokens)} 个 token{of_all[1]}有 {count} 个前面出现过，这些里有 {found:.0%} 看得最多的是上次跟在后面的那个"
    if not count:
        en, zh = (
            f"no token of {of_all[0]}{len(all_tokens)} occurs twice, so the head had nothing to look up",
            f"{len(all_tokens)} 个 token{of_all[1]}没有重复的，这个头没有东西可查",
        )
    return {
        "columns": [
            {"en": "at", "zh": "位置"},
            {"en": "looks most at", "zh": "看得最多的"},
            {"en": "weight", "zh": "权重"},
            {"en": "earlier, it was followed by", "zh": "上次后面跟的是"},
        ],
        "rows": rows or [["–", "–", 0.0, "–"]],
        "plots": [
            {
                "kind": "heat",
                "title": {"en": "Each row is a token: where it looks", "zh": "每行是一个 token：它看哪里"},
                "rows": [f"{token} {place}" for place, token in enumerate(tokens)],
                "columns": list(range(len(tokens))),
                "values": shown[0].tolist(),
            }
        ],
        "checks": [
            {
                "says": {
                    "en": "random sequences: repeated tokens that look most behind an earlier occurrence",
                    "zh": "随机序列：重复的 token 中，看得最多的位置紧跟在之前某次出现之后的比例",
                },
                "holds": held > 0.95,
                "got": f"{held:.3f}",
                "due": "> 0.95",
            }
        ],
        "seen": {"en": f"{en}.", "zh": f"{zh}。"},
    }


def told(tokens, weights, place):
    """Return one row of the table from weights (n,)."""
    best = int(weights.argmax())
    followed = [f"{tokens[j + 1]} {j + 1}" for j in range(place) if tokens[j] == tokens[place]]
    return [f"{tokens[place]} {place}", f"{tokens[best]} {best}", weights[best].item(), ", ".join(followed[:4])]


def share(pattern, ids, again):
    """Return the share of places `again` (b, T) with most weight just behind an earlier occurrence of their token."""
    earlier = (ids[:, :, None] == ids[:, None]).tril(-1)  # (b, T, T): the same token, earlier
    behind = F.pad(earlier, (1, 0))[..., :-1]  # one place later
    best = pattern.argmax(-1, keepdim=True)  # (b, T, 1)
    return behind.gather(-1, best)[..., 0][again].float().mean().item()


def drawn(generator, count):
    """Return tokens (b, T): BOS (0), random ones, a repeated stretch; and a mask of places that occurred before."""
    ids = torch.randint(1, VOCABULARY, (count, LENGTH), generator=generator)
    ids[:, 0] = 0
    for row in ids:
        size = int(torch.randint(4, LENGTH // 2, (1,), generator=generator))
        start = int(torch.randint(1, LENGTH - 2 * size + 1, (1,), generator=generator))
        row[LENGTH - size :] = row[start : start + size].clone()
    return ids, (ids[:, :, None] == ids[:, None]).tril(-1).any(-1)


def vectors(ids, vocabulary, smear, generator):
    """Return vectors (b, T, 2w) of each token, beside `smear` times the previous one's; and all vectors (b, V, w)."""
    embedded = F.normalize(torch.randn(len(ids), vocabulary, WIDTH, generator=generator), dim=-1)
    own = embedded.gather(1, ids[..., None].expand(-1, -1, WIDTH))  # (b, T, w)
    return torch.cat([own, smear * F.pad(own, (0, 0, 1, 0))[:, :-1]], dim=-1), embedded


def attend(head, x):
    """Return the attention pattern (b, T, T) and the weighted sums (b, T, w) for x (b, T, 2w)."""
    wq, wk = head  # (2w, w) each
    later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    scores = (x @ wq) @ (x @ wk).transpose(1, 2) / WIDTH**0.5  # (b, T, T)
    pattern = torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1)
    return pattern.detach(), pattern @ x[..., :WIDTH]


def trained(generator, steps, smear, progress):
    head = [(torch.randn(2 * WIDTH, WIDTH, generator=generator) / WIDTH**0.5).requires_grad_() for _ in range(2)]
    optimiser = torch.optim.Adam(head, lr=0.02)
    for step in range(steps):
        ids, again = drawn(generator, BATCH)  # (b, T)
        x, embedded = vectors(ids, VOCABULARY, smear, generator)  # (b, T, 2w), (b, V, w)
        _, gathered = attend(head, x)
        logits = 10 * gathered[:, :-1] @ embedded.transpose(1, 2)  # (b, T-1, V)
        loss = F.cross_entropy(logits[again[:, :-1]], ids[:, 1:][again[:, :-1]])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        progress((step + 1) / steps)
    return head
