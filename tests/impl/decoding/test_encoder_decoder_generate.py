"""encoder-decoder-generate: compare with decoding each sentence alone, on torch's own Transformer."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from ..conftest import IMPL, load

greedy_translate = load(IMPL / "decoding/encoder-decoder-generate/reference.py").greedy_translate


class Small(nn.Module):
    """A float64 Transformer of torch; its cache is the whole prefix, which it reads again."""

    def __init__(self, V: int) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(V, 8), nn.Linear(8, V)
        self.body = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0, batch_first=True)
        self.double().eval()

    def encode(self, src: Tensor, src_mask: Tensor | None) -> Tensor:
        hidden = None if src_mask is None else ~src_mask
        return self.body.encoder(self.embed(src), src_key_padding_mask=hidden)

    def decode(self, ids: Tensor, memory: Tensor, src_mask: Tensor | None, cache: Any) -> tuple[Tensor, Any]:
        prefix = ids if cache is None else torch.cat([cache, ids], dim=1)
        future = torch.ones(prefix.shape[1], prefix.shape[1], dtype=torch.bool).triu(1)
        hidden = None if src_mask is None else ~src_mask
        out = self.body.decoder(self.embed(prefix), memory, tgt_mask=future, memory_key_padding_mask=hidden)
        return self.head(out)[:, -1:], prefix


@pytest.mark.parametrize("seed", range(6))
def test_a_batch_gives_what_each_sentence_gives_alone_up_to_pad(seed: int) -> None:
    torch.manual_seed(seed)
    model, lengths, (bos, eos, pad) = Small(5), (4, 2, 1), (0, 1, 2)
    src = torch.randint(0, 5, (3, 4))
    mask = torch.arange(4) < torch.tensor(lengths)[:, None]
    with torch.no_grad():
        batch = greedy_translate(src, model.encode, model.decode, bos, eos, pad, 9, mask)
        alone = [
            greedy_translate(src[b : b + 1, :n], model.encode, model.decode, bos, eos, pad, 9)
            for b, n in enumerate(lengths)
        ]
    assert batch.shape[1] == max(one.shape[1] for one in alone)
    for row, one in zip(batch, alone, strict=True):
        assert torch.equal(row, torch.nn.functional.pad(one[0], (0, len(row) - one.shape[1]), value=pad))
        said = one[0].tolist()
        assert said.index(eos) == len(said) - 1 if eos in said else len(said) == 9
