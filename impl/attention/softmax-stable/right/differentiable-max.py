"""The maximum in the graph, its gradient cancelling."""
import torch
from torch import Tensor


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    y = x.float() if x.dtype in {torch.half, torch.bfloat16} else x
    empty = (y == float("-inf")).all(dim, keepdim=True)
    y = y.masked_fill(empty, 0.0)
    e = torch.exp(y - torch.max(y, dim, keepdim=True).values)
    return (e * torch.reciprocal(e.sum(dim, keepdim=True))).masked_fill(empty, 0.0).to(x.dtype)
