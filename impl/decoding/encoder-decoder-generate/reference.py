"""Greedy decoding with an encoder–decoder: the source is read once, then each step feeds the newest token.

Decisions:
- the loop does not look into memory and cache: the cache is None at first, then the last call's cache;
- bos is fed and not returned; eos is returned, then pad, which is also fed to finished rows;
- src_mask goes to both: to the encoder's self-attention and to the decoder's cross-attention;
- argmax needs no softmax; the lowest id wins among equals.

Sutskever et al. 2014, arXiv 1409.3215; Vaswani et al. 2017, arXiv 1706.03762, §3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Encoder = Callable[[Tensor, Tensor | None], Any]
Decoder = Callable[[Tensor, Any, Tensor | None, Any], tuple[Tensor, Any]]


def greedy_translate(
    src: Tensor,
    encoder: Encoder,
    decoder: Decoder,
    bos: int,
    eos: int,
    pad: int,
    max_len: int,
    src_mask: Tensor | None = None,
) -> Tensor:
    B = src.shape[0]
    tokens: list[Tensor] = []
    newest = torch.full((B, 1), bos, dtype=torch.long, device=src.device)  # (B, 1)
    done = torch.zeros(B, dtype=torch.bool, device=src.device)  # (B,)
    memory, cache = encoder(src, src_mask), None

    while len(tokens) < max_len and not bool(done.all()):
        logits, cache = decoder(newest, memory, src_mask, cache)  # (B, 1, V)
        token = logits[:, -1].argmax(dim=-1).masked_fill(done, pad)  # (B,)
        done = done | (token == eos)
        tokens.append(token)
        newest = token[:, None]  # (B, 1)
    return torch.stack(tokens, dim=1) if tokens else newest[:, :0].clone()  # (B, L)
