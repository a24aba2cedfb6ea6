"""Map tasks of other graders to our challenges, and adapt our solutions to their form.

It contains nothing of theirs: a task is named by its id, a function by the name that their tests call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

Solution = Mapping[str, Any]
Functions = dict[str, Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class Bout:
    """One task of theirs and our challenge; `functions` returns a solution under the names that their tests call.

    `draw` draws arguments for the first function; they decide which mistakes are visible in the task's form.
    """

    task: str
    challenge: str
    functions: Callable[[Solution], Functions]
    draw: Callable[[torch.Generator], tuple[Any, ...]]


def drawn(*shapes: Sequence[int]) -> Callable[[torch.Generator], tuple[Any, ...]]:
    """Return a function that draws tensors of these shapes, of small or large scale."""

    def draw(chance: torch.Generator) -> tuple[Any, ...]:
        scale = (1.0, 3.0, 30.0)[int(torch.randint(3, (), generator=chance))]
        return tuple(scale * torch.randn(shape, generator=chance) for shape in shapes)

    return draw


def _attention(names: str, mask: Callable[[torch.Tensor, torch.Tensor], torch.Tensor | None]) -> Any:
    return lambda ns: {names: lambda Q, K, V: ns["sdpa"](Q, K, V, mask=mask(Q, K))}


def _lower(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    return torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()


def _clip(ns: Solution) -> Functions:
    def clip_grad_norm(parameters: Sequence[torch.Tensor], max_norm: float) -> float:
        clipped, norm = ns["clip_grad_norm"]([parameter.grad for parameter in parameters], max_norm)
        for parameter, gradient in zip(parameters, clipped, strict=True):
            parameter.grad = gradient
        return float(norm)

    return {"clip_grad_norm": clip_grad_norm, "draw": lambda *grads: ns["clip_grad_norm"](list(grads), 1.0)}


def _adam(ns: Solution) -> Functions:
    class MyAdam:
        def __init__(
            self,
            params: Sequence[torch.Tensor],
            lr: float = 1e-3,
            betas: tuple[float, float] = (0.9, 0.999),
            eps: float = 1e-8,
        ) -> None:
            self.params, self.how = list(params), (lr, betas, eps)
            self.states: list[dict[str, Any]] = [{} for _ in self.params]

        def step(self) -> None:
            for parameter, state in zip(self.params, self.states, strict=True):
                parameter.data = ns["adam_step"](parameter.data, parameter.grad, state, *self.how)

        def zero_grad(self) -> None:
            for parameter in self.params:
                parameter.grad.zero_()

    def draw(start: torch.Tensor, *gradients: torch.Tensor) -> torch.Tensor:
        state: dict[str, Any] = {}
        for gradient in gradients:
            start = ns["adam_step"](start, gradient, state, 0.5)
        return start

    return {"MyAdam": MyAdam, "draw": draw}


def _flash(ns: Solution) -> Functions:
    def flash_attention(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, block_size: int = 3) -> torch.Tensor:
        return ns["flash_attention"](Q[:, None], K[:, None], V[:, None], block_size, block_size)[0][:, 0]

    return {"flash_attention": flash_attention}


def _rope(ns: Solution) -> Functions:
    def apply_rope(q: torch.Tensor, k: torch.Tensor) -> list[torch.Tensor]:
        return [ns["apply_rope"](each[:, None], torch.arange(each.shape[1]))[:, 0] for each in (q, k)]

    return {"apply_rope": apply_rope}


def _linear(ns: Solution) -> Functions:
    def linear_attention(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
        return ns["linear_attention"](Q[:, None], K[:, None], V[:, None], False)[:, 0]

    return {"linear_attention": linear_attention}


def _dpo(ns: Solution) -> Functions:
    return {"dpo_loss": lambda pc, pr, rc, rr, beta=0.1: ns["dpo_loss"](pc, pr, rc, rr, beta)}


TORCHCODE = (
    Bout("softmax", "attention/softmax-stable", lambda ns: {"my_softmax": ns["softmax"]}, drawn((4, 7))),
    Bout("layernorm", "norms/layer-norm", lambda ns: {"my_layer_norm": ns["layer_norm"]}, drawn((3, 5, 8), (8,), (8,))),
    Bout("rmsnorm", "norms/rms-norm", lambda ns: {"rms_norm": ns["rms_norm"]}, drawn((3, 5, 8), (8,))),
    Bout(
        "attention",
        "attention/sdpa",
        _attention("scaled_dot_product_attention", lambda q, k: None),
        drawn((2, 3, 8), (2, 5, 8), (2, 5, 6)),
    ),
    Bout(
        "causal_attention",
        "attention/sdpa",
        _attention("causal_attention", _lower),
        drawn((2, 6, 8), (2, 6, 8), (2, 6, 8)),
    ),
    Bout("gradient_clipping", "optimisers/clip-grad-norm", _clip, drawn((10,), (3, 4))),
    Bout("adam", "optimisers/adam", _adam, drawn((4, 3), (4, 3), (4, 3), (4, 3))),
    Bout("flash_attention", "efficient/flash-attention", _flash, drawn((2, 7, 8), (2, 7, 8), (2, 7, 8))),
    Bout("rope", "positions/rope", _rope, drawn((2, 6, 8), (2, 6, 8))),
    Bout("linear_attention", "efficient/linear-attention", _linear, drawn((2, 6, 8), (2, 6, 8), (2, 6, 5))),
    Bout("dpo_loss", "alignment/dpo-loss", _dpo, drawn((6,), (6,), (6,), (6,))),
)


def _of_arrays(function: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """Wrap a function of tensors as one of NumPy arrays or lists, in float64."""

    def call(*arrays: Any) -> Any:
        return function(*(torch.as_tensor(array, dtype=torch.float64) for array in arrays)).numpy()

    return call


def _products(X: Any, W_q: Any, W_k: Any, W_v: Any) -> tuple[Any, Any, Any]:
    """Return Q, K and V: the part of their attention tasks outside our challenge."""
    return X @ W_q, X @ W_k, X @ W_v


def _softmax_of_a_list(ns: Solution) -> Functions:
    return {"softmax": lambda scores: [round(float(p), 4) for p in _of_arrays(ns["softmax"])(scores)]}


def _layer_norm_of_arrays(ns: Solution) -> Functions:
    def layer_normalization(X: Any, gamma: Any, beta: Any, epsilon: float = 1e-5) -> Any:
        flat = [torch.as_tensor(array, dtype=torch.float64).reshape(-1) for array in (gamma, beta)]
        return ns["layer_norm"](torch.as_tensor(X, dtype=torch.float64), *flat, epsilon).numpy()

    return {"layer_normalization": layer_normalization}


def _attention_of_arrays(ns: Solution) -> Functions:
    return {"self_attention": _of_arrays(ns["sdpa"]), "compute_qkv": _products}


def _masked_of_arrays(ns: Solution) -> Functions:
    """Convert their additive mask: 0 marks a visible key."""

    def masked_attention(Q: Any, K: Any, V: Any, mask: Any) -> Any:
        seen = torch.as_tensor(mask) == 0
        return ns["sdpa"](*(torch.as_tensor(each, dtype=torch.float64) for each in (Q, K, V)), mask=seen).numpy()

    return {"masked_attention": masked_attention, "compute_qkv": _products}


def _masked(chance: torch.Generator) -> tuple[Any, ...]:
    mask = torch.zeros(6, 6).masked_fill(~torch.ones(6, 6, dtype=torch.bool).tril(), float("-inf"))
    return *(torch.randn(6, 8, generator=chance) for _ in range(3)), mask


DEEP_ML = (
    Bout("23", "attention/softmax-stable", _softmax_of_a_list, drawn((5,))),
    Bout("53", "attention/sdpa", _attention_of_arrays, drawn((4, 8), (5, 8), (5, 6))),
    Bout("107", "attention/sdpa", _masked_of_arrays, _masked),
    Bout("109", "norms/layer-norm", _layer_norm_of_arrays, drawn((2, 3, 8), (8,), (8,))),
)
