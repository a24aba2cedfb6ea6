"""Run the code blocks of cards in both languages: their inputs are set up here, and their results are checked.

A block that cannot run by itself is marked in the card: ```python sketch.
"""

import math
import types
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from attncli.bank.prose_rules import localised, snippet_findings, snippets_of

from .conftest import bundled_documents


def runs(text: str) -> dict[str, tuple[str, str]]:
    """Return what sets each card's block up and what checks it: the lines before and after `--`."""
    cases = (case.partition("\n") for case in text.split("\n== ")[1:])
    return {card: (code.partition("--\n")[0], code.partition("--\n")[2]) for card, _, code in cases}


RUNS = runs(
    """
== agent-02
def told(calls):
    return {"tokens": 1000, "calls": [{"id": n, "name": "ls", "arguments": a} for n, a in enumerate(calls)]}
def ends(replies, **limits):
    left, ran = iter(replies), []
    return run(lambda messages: told(next(left)), lambda call: (ran.append(call), "x")[1], [], **limits), len(ran)
--
assert ends([['a', 'b'], ['c'], []]) == ('done', 3)
assert ends([['a']] * 9) == ('stuck', 3) and ends([['a'], ['b'], ['c']], max_tokens=1500) == ('budget', 2)
== arch-05
seen, eos, prompt = [], 3, [1, 2]
embed = lambda t: (seen.append(t), torch.zeros(len(t) if isinstance(t, list) else 1, 4))[1]
cache, blocks = 0, [lambda h, cache: (h, cache + len(h))]
head = lambda h: h
tokens = iter([7, 8, eos])
sample = lambda logits: next(tokens)
--
assert seen == [[1, 2], 7, 8] and cache == 4
== arch-08
class Empty(list): pass
class Layer:
    wk, wv = torch.randn(4, 4), torch.randn(4, 4)
    def self_attention(self, x, c): c.append(x); return x * 0
    def cross_attention(self, x, k, v, mask): return (x @ k.mT).softmax(-1) @ v
    def ffn(self, x): return x * 0
src, src_mask, bos, eos, max_len = torch.randn(3, 4), None, 0, 9, 5
layers, calls = [Layer(), Layer()], []
encoder = lambda s, m: (calls.append(s), s)[1]
embed = lambda t, position: torch.full((1, 4), float(position))
head = lambda x: x
sample = lambda x: len(ids)
--
assert len(calls) == 1 and ids == [0, 1, 2, 3, 4, 5] and [len(c) for c in cache] == [5, 5]
== arch-17
x = torch.randn(2, 5, 8)
rms_norm = lambda x: F.rms_norm(x, (8,))
attention = lambda x, rope, kv_heads: x * 0
rope, silu = None, F.silu
w_gate, w_up, w_down = (torch.nn.Linear(a, b, bias=False) for a, b in ((8, 20), (8, 20), (20, 8)))
n = rms_norm(x)
--
assert x.shape == (2, 5, 8)
== att-01
B, H, T, S, d = 2, 3, 4, 5, 6
q, k, v = torch.randn(B, H, T, d), torch.randn(B, H, S, d), torch.randn(B, H, S, d)
mask = torch.ones(T, S, dtype=torch.bool).tril(1)
--
close(out, F.scaled_dot_product_attention(q, k, v, attn_mask=mask))
== att-13
B, T, S = 2, 3, 4; x, dec, mem = torch.randn(B, T, 512), torch.randn(B, T, 512), torch.randn(B, S, 512)
--
assert y.shape == (B, T, 512)
== att-27
q, k, v = (torch.randn(2, 5, 4, dtype=torch.float64, requires_grad=True) for _ in range(3))
do, scale = torch.randn(2, 5, 4, dtype=torch.float64), 0.5
p = (q @ k.mT * scale).softmax(-1)
o = p @ v
--
[close(a, b) for a, b in zip(torch.autograd.grad(o, (q, k, v), do), (dq, dk, dv))]
== dec-06
read, EOS, limit, prompt, random = [], 9, 3, [4, 5], iter([7, 8, 6, 1])
def model(tokens, positions, cache=()):
    read.extend(zip(tokens, positions))
    return [None], (*cache, *tokens)
sample = lambda logits: next(random)
--
assert out == [7, 8, 6] and read == [(4, 0), (5, 1), (7, 2), (8, 3), (6, 4)] and cache == (4, 5, 7, 8, 6)
== emb-07
V = 5
E = torch.randn(V, 3, requires_grad=True)
ids, g = torch.tensor([1, 4, 1]), torch.randn(3, 3)
--
close(out, E[ids]); (wanted,) = torch.autograd.grad(E[ids], E, g); close(grad, wanted)
== emb-13
tok = types.SimpleNamespace(pad_token_id=2)
ids = torch.tensor([[2, 2, 5, 6, 2]])
attention_mask = torch.tensor([[0, 0, 1, 1, 1]])
--
assert labels.tolist() == [[-100, -100, 5, 6, -100]]
== ffn-03
B, T, D = 2, 3, 4; x = torch.randn(B, T, D)
ffn = torch.nn.Sequential(torch.nn.Linear(D, 9), torch.nn.ReLU(), torch.nn.Linear(9, D))
--
close(y, y2)
== flash-09
S, T, BLOCK_Q, BLOCK_K = 12, 8, 4, 2; visited = 0
--
assert offset == 4 and last == 12 and crosses
== head-09
--
assert x.transpose(0, 2).stride() == (1, 4, 12) and x.permute(2, 0, 1).stride() == (1, 12, 4)
assert x.stride() == (12, 4, 1) and not x.transpose(1, 2).is_contiguous()
== head-12
h, g, dk = 8, 2, 4; x = torch.randn(2, 3, 32)
self = types.SimpleNamespace(qkv=torch.nn.Linear(32, (h + 2 * g) * dk))
--
assert (q.shape[-1], k.shape[-1], v.shape[-1]) == (32, 8, 8)
== kv-10
B, H, G, T, S, d = 2, 8, 2, 3, 5, 4
q, k, v = torch.randn(B, H, T, d), torch.randn(B, G, S, d), torch.randn(B, G, S, d)
--
close(out, F.scaled_dot_product_attention(q, k, v, enable_gqa=True))
== mask-06
B, T, S = 2, 3, 4; lengths = torch.tensor([4, 2])
--
assert mask.shape == (B, 1, T, S) and mask[0, 0].tolist() == torch.ones(T, S).tril(1).bool().tolist()
assert not mask[1, 0, :, 2:].any()
== mask-09
x = torch.randn(2, 5, 4); other = torch.randn(4); model = lambda x: x.cumsum(1)
--
assert not torch.equal(model(x2)[:, -1], y[:, -1])
== mask-10
--
assert position_ids.tolist() == [[0, 0, 0, 1], [0, 1, 2, 3]]
== mask-11
n_docs, lengths = 3, torch.tensor([1000, 500, 548])
--
assert cu_seqlens.tolist() == [0, 1000, 1500, 2048] and cu_seqlens.dtype == torch.int32
assert mask[1499, 1000] and not mask[1500, 1499] and not mask[3, 4] and mask.shape == (2048, 2048)
== mask-12
scores, v, p = torch.randn(2, 3, 4), torch.randn(2, 4, 5), 0.5; self = types.SimpleNamespace(training=False)
--
close(out, weights @ v)
== mask-15
T, P = 4, 2
--
assert mask.tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
== mask-17
x, causal, answers = torch.randn(1, 4, 8), torch.ones(4, 4).tril().bool(), []
def mha(q, k, v, attn_mask):
    answers.append(F.scaled_dot_product_attention(q, k, v, attn_mask))
def self_attention(x):
    answers.append(F.scaled_dot_product_attention(x, x, x, is_causal=True))
--
close(*answers)
== mm-09
T = 5; image_id = torch.tensor([-1, 0, 0, -1, 1])
--
assert mask[1, 2] and not mask[0, 3] and not mask[0, 1] and not mask[1, 4] and mask[3, 0]
== norm-09
x, f, head = torch.randn(2, 4), torch.nn.Linear(4, 4), torch.nn.Linear(4, 3)
norm = final_norm = torch.nn.LayerNorm(4)
--
assert out.shape == (2, 3)
== norm-15
n_layer = 8
model = torch.nn.ModuleDict({"w_o": torch.nn.Linear(300, 300), "w_q": torch.nn.Linear(300, 300)})
before = model["w_q"].weight.std().item()
--
assert abs(model["w_o"].weight.std().item() - 0.005) < 2e-4 and model["w_q"].weight.std().item() == before
== opt-08
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LayerNorm(4))
--
assert len(decay) == 1 and len(no_decay) == 3
== opt-19
hidden_matrices, embeddings, norms_and_biases = ([torch.nn.Parameter(torch.ones(2, 2))] for _ in range(3))
lr, lr_embedding = 1e-3, 1e-2
--
assert [g['lr'] for g in torch.optim.AdamW(groups).param_groups] == [lr, lr_embedding, lr]
== peft-09
a_params, b_params, lr = [torch.nn.Parameter(torch.ones(2))], [torch.nn.Parameter(torch.ones(2))], 1e-4
--
assert torch.optim.AdamW(groups).param_groups[1]['lr'] == 16 * lr
== pos-06
tok, pos, ids = torch.nn.Embedding(9, 4), torch.nn.Embedding(6, 4), torch.tensor([1, 2, 3]); start, T = 3, 3
--
assert x.shape == (3, 4)
with pytest.raises(IndexError): pos(torch.arange(4, 4 + T))
== sparse-18
C = d = 16
K, V, Q = (F.normalize(torch.randn(C, d, dtype=torch.float64), dim=-1) for _ in range(3))
b, S0 = torch.rand(C, dtype=torch.float64), torch.randn(d, d, dtype=torch.float64)
--
state, outputs = S0, []
for k, v, q, beta in zip(K, V, Q, b):
    state = state + beta * torch.outer(v - state @ k, k)
    outputs.append(state @ q)
close(S, state)
close(O, torch.stack(outputs))
== prec-07
--
x, g = torch.randn(3, 8).bfloat16(), torch.ones(8).bfloat16(); assert rms_norm(x, g).dtype == torch.bfloat16
close(rms_norm(x.float(), g.float()), F.rms_norm(x.float(), (8,), eps=1e-6))
== prec-08
from torch.nn.utils import clip_grad_norm_
params = [torch.nn.Parameter(torch.ones(3))]
optimizer, scaler = torch.optim.SGD(params, 1.0), torch.amp.GradScaler("cpu", init_scale=4.0)
loss = (params[0] * float("inf")).sum()
--
assert params[0].tolist() == [1, 1, 1] and scaler.get_scale() == 2.0
== flash-15
--
assert passes([0] * 8) == 8
== mm-12
--
assert cu_seqlens.tolist() == [0, 196, 784, 1296, 4368]
assert rows.max() == 63 and cols[:15].tolist() == [*range(14), 0] and len(rows) == len(cols) == 4368
"""
)


def blocks() -> Iterator[tuple[str, str, str, str]]:
    """Yield (card, language, text after the fence, code) of every code block."""
    for document in bundled_documents():
        for _, text in localised(document):
            for lang in ("en", "zh"):
                yield from ((document["id"], lang, snippet.info, snippet.code) for snippet in snippets_of(text[lang]))


CODE = [block for block in blocks() if block[2] == "python"]


def test_the_cards_with_code_that_runs_are_those_set_up_here() -> None:
    assert {card for card, *_ in CODE} == RUNS.keys()


def close(left: torch.Tensor, right: torch.Tensor) -> None:
    """Like `torch.testing.assert_close`, whose first call imports all of torch.distributed."""
    assert left.shape == right.shape and left.dtype == right.dtype
    assert torch.allclose(left, right, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("card", "lang", "info", "code"), CODE, ids=[f"{card}-{lang}" for card, lang, *_ in CODE])
def test_a_code_block_runs_and_does_what_the_card_says(card: str, lang: str, info: str, code: str) -> None:
    torch.manual_seed(0)
    names: dict[str, Any] = {"torch": torch, "close": close, "F": F, "math": math, "types": types, "pytest": pytest}
    before, after = RUNS[card]
    exec(before, names)
    exec(code, names)
    exec(after, names)


def test_both_languages_show_the_same_code() -> None:
    def bare(code: str) -> list[str]:
        return [line.split("#")[0].rstrip() for line in code.splitlines()]

    by_language = {
        wanted: [(card, info, bare(code)) for card, lang, info, code in blocks() if lang == wanted]
        for wanted in ("en", "zh")
    }
    assert by_language["en"] == by_language["zh"]


def test_a_block_says_what_it_is() -> None:
    for block, message in (
        ("```python\nx = 1\n```", None),
        ("~~~text\nx = = 1\n~~~", None),
        ("```python sketch\nx = model(y)\n```", None),
        ("  ```python\n  if x:\n      y\n  ```", None),
        ("```\nx = 1\n```", 'a code block is marked ""; use ```python if it runs, ```python sketch or ```text'),
        ("```py\nx = 1\n```", 'a code block is marked "py"; use ```python if it runs'),
        ("```python sketch\nx = = 1\n```", "the code block is not valid Python (invalid syntax"),
        (
            "```python\nx = f'" + "{a}" * 4_000 + "'\n```",
            "the code block is not valid Python (over 10000 characters long",
        ),
    ):
        found = list(snippet_findings({"explain": {"en": f"Text.\n\n{block}\n\nMore.", "zh": "无"}}))
        assert [finding.path for finding in found] == ([("explain", "en")] if message else [])
        assert all(finding.message.en.startswith(message or "") for finding in found)
