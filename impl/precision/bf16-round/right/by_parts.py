"""frexp and ldexp in float64: the last kept bit becomes the unit, torch.round settles ties."""
import torch


def on_grid(x, bits, least, largest):
    wide = x.double()
    exponent = torch.frexp(wide).exponent.clamp(min=least + bits) - bits  # the power of two of one step
    exponent = torch.where(torch.isfinite(x), exponent, 0)
    step = torch.ldexp(torch.ones_like(wide), exponent)
    y = torch.round(wide / step) * step
    y = torch.where(y.abs() > largest, torch.copysign(torch.full_like(y, float("inf")), y), y)
    return torch.copysign(y, wide).float()


def round_to_bf16(x: torch.Tensor) -> torch.Tensor:
    return on_grid(x, 8, -133, float(torch.finfo(torch.float32).max))


def round_to_fp16(x: torch.Tensor) -> torch.Tensor:
    return on_grid(x, 11, -24, 65504.0)
