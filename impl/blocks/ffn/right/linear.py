"""F.linear with transposed weights, the activations as a table of functions."""

import math

import torch
import torch.nn.functional as F


def gelu(z):
    return z / 2 * (1 + torch.erf(z * 2**-0.5))


def gelu_tanh(z):
    inner = (2 / math.pi) ** 0.5 * (z + 0.044715 * z * z * z)
    return z / 2 * (1 + inner.tanh())


ACTS = {"relu": F.relu, "gelu": gelu, "gelu_tanh": gelu_tanh}


def ffn(x, w1, b1, w2, b2, act="relu"):
    half = x.dtype in (torch.float16, torch.bfloat16)
    args = [t.float() if half else t for t in (x, w1, b1, w2, b2)]
    hidden = ACTS[act](F.linear(args[0], args[1].T, args[2]))
    return F.linear(hidden, args[3].T, args[4]).type(x.dtype)
