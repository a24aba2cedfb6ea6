"""A table of all float16 numbers and their midpoints; for bfloat16 compares two neighbours."""
import torch


def round_to_bf16(x: torch.Tensor) -> torch.Tensor:
    bits = x.view(torch.int32)
    below = (bits >> 16) << 16
    rest = bits & 0xFFFF
    odd = (below & 0x10000) != 0
    up = (rest > 0x8000) | ((rest == 0x8000) & odd)
    y = torch.where(up, below + 0x10000, below).view(torch.float32)
    return torch.where(torch.isfinite(x), y, x)


def table(device):
    k = torch.arange(31 * 1024 + 1, device=device)
    exponent, mantissa = k // 1024, (k % 1024).double()
    small = mantissa * 2.0**-24
    large = (1 + mantissa / 1024) * torch.pow(torch.tensor(2.0, dtype=torch.float64, device=device), (exponent - 15).double())
    return torch.where(exponent == 0, small, large)  # the last one is 65536, which stands for inf


def round_to_fp16(x: torch.Tensor) -> torch.Tensor:
    numbers = table(x.device)
    middle = (numbers[1:] + numbers[:-1]) / 2
    size = x.abs().double().contiguous()
    low = torch.searchsorted(middle, size)  # middles below size
    high = torch.searchsorted(middle, size, right=True)
    index = torch.where((high > low) & (low % 2 == 1), high, low)  # a tie: the number with the even index
    y = numbers[index]
    y = torch.where(y > 65504.0, float("inf"), y)
    return torch.where(x.isnan(), x, torch.copysign(y, x.double()).float())
