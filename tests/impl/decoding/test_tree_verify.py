"""tree-verify: on a small causal model of two layers, compare one pass over the tree with its branches one by one."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ..conftest import IMPL, load

module = load(IMPL / "decoding/tree-verify/reference.py")
V, D = 5, 8


class Model:
    def __init__(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.weights = [torch.randn(V if k == 0 else 99 if k == 1 else D, D, generator=generator) for k in range(8)]

    def __call__(self, tokens: list[int], positions: Tensor, mask: Tensor) -> Tensor:
        """Return the logits of each token, which attends where `mask` is True."""
        x = self.weights[0][tokens] + self.weights[1][positions]
        for wq, wk, wv in (self.weights[2:5], self.weights[5:8]):
            scores = (x @ wq) @ (x @ wk).T / 9
            x = x + scores.masked_fill(~mask, -torch.inf).softmax(-1) @ (x @ wv)
        return x @ self.weights[0].T

    def along(self, tokens: list[int]) -> Tensor:
        return self(tokens, torch.arange(len(tokens)), torch.ones(len(tokens), len(tokens)).tril().bool())


@pytest.mark.parametrize("seed", range(8))
def test_one_pass_is_every_branch_by_itself_and_what_is_accepted_is_greedy_decoding(seed: int) -> None:
    torch.manual_seed(seed)
    model, n, past = Model(seed), 12, 1 + seed % 3
    prompt = torch.randint(V, (past,)).tolist()
    parents = [-1, *(int(torch.randint(max(0, i - 3), i, ())) for i in range(1, n))]
    tokens = [int(torch.randint(V, ()))]
    paths = [[0]]
    for i in range(1, n):
        paths.append([*paths[parents[i]], i])
        due = int(model.along([*prompt, *(tokens[j] for j in paths[i][:-1])])[-1].argmax())
        tokens.append(due if torch.rand(()) < 0.7 else int(torch.randint(V, ())))

    mask = torch.ones(past + n, past + n).tril().bool()
    mask[past:] = module.tree_mask(parents, past)
    positions = torch.cat([torch.arange(past), module.tree_positions(parents, past)])
    logits = model([*prompt, *tokens], positions, mask)[past:]
    for i in range(n):
        alone = model.along([*prompt, *(tokens[j] for j in paths[i])])[-1]
        assert torch.allclose(logits[i], alone, rtol=1e-4, atol=1e-4)

    path, bonus = module.verify_tree(parents, tokens, logits.argmax(-1).tolist())
    text = [*prompt, tokens[0]]
    for said in (*(tokens[i] for i in path), bonus):
        assert said == int(model.along(text)[-1].argmax())
        text.append(said)
    deeper = [i for i in range(n) if len(paths[i]) == len(path) + 2 and tokens[i] == bonus]
    assert not any([tokens[j] for j in paths[i]] == text[past:] for i in deeper)
