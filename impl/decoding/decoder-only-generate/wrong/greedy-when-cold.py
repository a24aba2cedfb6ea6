"""Is greedy below temperature 10⁻⁴.
温度低于 10⁻⁴ 时改成贪心。

symptom: Equal largest logits do not share the probability.
症状：并列最大的 logits 不再平分概率。

cards: dec-05
rung: solved
"""

from collections.abc import Callable
from typing import Any
import torch
from torch import Tensor

Model = Callable[[Tensor, Any], tuple[Tensor, Any]]


class Sampler:
    """Exponential race: argmax p / E is a draw from p."""

    def __init__(self, temperature: float, top_k: int | None, generator: torch.Generator | None) -> None:
        self.temperature = temperature
        self.top_k = top_k
        self.generator = generator

    def __call__(self, last: Tensor) -> Tensor:
        x = last.double()
        if self.temperature < 1e-4:
            best = (x == x.max(-1, keepdim=True).values).to(torch.int64)
            return (best.cumsum(-1) == 0).sum(-1)  # number of ids before the first best one
        if self.top_k is not None and self.top_k < x.shape[-1]:
            order = x.argsort(dim=-1, descending=True)
            keep = torch.zeros_like(x, dtype=torch.bool).scatter(-1, order[:, : self.top_k], True)
            x = torch.where(keep, x, torch.full_like(x, -torch.inf))
        x = (x - x.max(-1, keepdim=True).values) / self.temperature
        race = torch.empty_like(x).exponential_(generator=self.generator)
        return (x.exp() / race).argmax(-1)


def generate(
    model: Model,
    ids: Tensor,
    max_new: int,
    eos: int | None = None,
    temperature: float = 1.0,
    top_k: int | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    sample = Sampler(temperature, top_k, generator)
    with torch.no_grad():
        text = ids.clone()
        state = None
        alive = torch.ones(ids.size(0), dtype=torch.bool, device=ids.device)
        for n in range(max_new):
            logits, state = model(ids if n == 0 else text[:, -1:], state)
            token = sample(logits[:, -1, :])
            if eos is not None:
                token = torch.where(alive, token, torch.full_like(token, eos))
                alive = alive & (token != eos)
            text = torch.cat((text, token.unsqueeze(1)), dim=1)
            if eos is not None and not alive.any().item():
                break
    return text
