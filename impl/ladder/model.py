"""The model has two blocks: in the first each query head has its own key head, in the second they share key heads.

Every named technique comes from a piece; this file connects them. Decisions:
- sizes are odd and unequal, so that nothing fits by accident;
- the embeddings are normalised once by layer_norm, every block then by rms_norm;
- the first block rotates neighbouring components and has a dense network, the second rotates halves and has experts;
- the output layer reuses the embedding table.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

D, EXPERTS, CHOSEN = 14, 5, 2
# Query heads, key heads, head width, base and layout of the rotation.
BLOCKS = {"a": (3, 3, 4, 100.0, "interleaved"), "b": (6, 2, 6, 500.0, "half")}
NARROW = 9  # hidden width of an expert


class Model:
    def __init__(self, do: Any, vocabulary: int, seed: int = 3) -> None:
        self.do, self.vocabulary = do, vocabulary
        generator = torch.Generator().manual_seed(seed)

        def normal(*shape: int, spread: float = 0.3) -> Tensor:
            return spread * torch.randn(shape, generator=generator, dtype=torch.float64)

        wide = do.swiglu_hidden(D, 4)
        weights = {"table": normal(vocabulary, D), "gamma": 1 + normal(D), "beta": normal(D), "last": 1 + normal(D)}
        for name, (H, G, d, _, _) in BLOCKS.items():
            weights |= {f"{name}.norm1": 1 + normal(D), f"{name}.norm2": 1 + normal(D)}
            weights |= {f"{name}.wq": normal(D, H * d), f"{name}.wo": normal(H * d, D)}
            weights |= {f"{name}.wk": normal(D, G * d), f"{name}.wv": normal(D, G * d)}
        weights |= {"gate": normal(D, wide), "up": normal(D, wide), "down": normal(wide, D)}
        weights |= {"router": normal(D, EXPERTS)}
        weights |= {"gates": normal(EXPERTS, D, NARROW), "ups": normal(EXPERTS, D, NARROW)}
        weights |= {"downs": normal(EXPERTS, NARROW, D)}
        self.weights = weights
        self.bias = normal(EXPERTS)

    def load(self, numbers: list[float]) -> None:
        """Load the weights from a checkpoint's numbers, in the order of their names."""
        flat = iter(
            torch.tensor(numbers, dtype=torch.float64).split([self.weights[n].numel() for n in sorted(self.weights)])
        )
        self.weights = {name: next(flat).view_as(self.weights[name]) for name in sorted(self.weights)}

    def embedded(self, ids: Tensor, say: Any = None) -> Tensor:
        """Embed ids (B, T) and normalise them: (B, T, D)."""
        w = self.weights
        x = self.do.embed_tokens(ids, w["table"])
        normal = self.do.layer_norm(x, w["gamma"], w["beta"])
        if say:
            say("embedding", x)
            say("embedding-norm", normal)
        return normal

    def projected(self, x: Tensor, name: str, positions: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """Return a block's queries, keys and values (B, heads, T, d), rotated unless `positions` is None."""
        H, G, d, base, layout = BLOCKS[name]
        w, (B, T, _) = self.weights, x.shape
        h = self.do.rms_norm(x, w[f"{name}.norm1"], eps=1e-5)
        q = (h @ w[f"{name}.wq"]).view(B, T, H, d).transpose(1, 2)
        k, v = ((h @ w[f"{name}.{kind}"]).view(B, T, G, d).transpose(1, 2) for kind in ("wk", "wv"))
        if positions is None:
            return q, k, v
        return self.do.apply_rope(q, positions, base, layout), self.do.apply_rope(k, positions, base, layout), v

    def joined(self, x: Tensor, name: str, heads: Tensor, mode: str) -> Tensor:
        """Return the block's result: attention's heads projected and added to `x`, then the feed-forward network."""
        w, (B, T, _) = self.weights, x.shape
        x = x + heads.transpose(1, 2).reshape(B, T, -1) @ w[f"{name}.wo"]
        h = self.do.rms_norm(x, w[f"{name}.norm2"])
        if name == "a":
            return x + self.do.swiglu_ffn(h, w["gate"], w["up"], w["down"])
        return x + self.experts(h.reshape(B * T, D), mode).view(B, T, D)

    def experts(self, h: Tensor, mode: str) -> Tensor:
        """Send every token through its chosen experts."""
        w, out = self.weights, torch.zeros_like(h)
        gates, chosen, _ = self.do.route(h, w["router"], CHOSEN, mode, self.bias)
        for e in range(EXPERTS):
            token, slot = (chosen == e).nonzero(as_tuple=True)
            if len(token):
                seen = self.do.swiglu_ffn(h[token], w["gates"][e], w["ups"][e], w["downs"][e])
                out = out.index_add(0, token, gates[token, slot, None] * seen)
        return out

    def hidden(
        self, ids: Tensor, mode: str = "topk_softmax", start: int = 0, say: Any = None, blocks: str = "ab"
    ) -> Tensor:
        """Return the input of the output layer (B, T, D) for ids (B, T): the whole text at once, without a cache."""
        positions = torch.arange(start, start + ids.shape[1])
        x = self.embedded(ids, say)
        for name in blocks:
            q, k, v = self.projected(x, name, positions)
            heads = self.do.gqa(q, k, v, causal=True)
            x = self.joined(x, name, heads, mode)
            if say:
                say(f"block-{name}", x, tolerance=1e-6)
        return self.do.rms_norm(x, self.weights["last"])

    def logits(self, ids: Tensor, mode: str = "topk_softmax", start: int = 0, blocks: str = "ab") -> Tensor:
        return self.hidden(ids, mode, start, blocks=blocks) @ self.weights["table"].T
