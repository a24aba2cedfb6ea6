"""The pieces of the engine, in the order in which it needs them.

One more is a line in `PIECES`, and a use in `impl/ladder/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Piece:
    """A challenge whose solution has a seat in the engine; `names` are its entry points."""

    id: str
    track: str
    role: str
    names: tuple[str, ...]

    def reference(self, impl: Path) -> str:
        """The text that takes the seat where the learner has none of their own."""
        return (impl / self.track / self.id / "reference.py").read_text(encoding="utf-8")


PIECES: tuple[Piece, ...] = (
    Piece("input-embedding", "embeddings", "embedding", ("embed_tokens",)),
    Piece("rope", "positions", "position", ("apply_rope",)),
    Piece("layer-norm", "norms", "norm", ("layer_norm",)),
    Piece("rms-norm", "norms", "norm", ("rms_norm",)),
    Piece("gqa", "cache", "attention", ("gqa",)),
    Piece("swiglu", "blocks", "ffn", ("swiglu_ffn", "swiglu_hidden")),
    Piece("moe-router", "experts", "experts", ("route",)),
    Piece("causal-lm-loss", "losses", "loss", ("lm_loss",)),
    Piece("linear-cross-entropy", "losses", "loss", ("linear_cross_entropy",)),
    Piece("clip-grad-norm", "optimisers", "optimiser", ("clip_grad_norm",)),
    Piece("cosine-warmup", "optimisers", "optimiser", ("lr_at",)),
    Piece("adamw", "optimisers", "optimiser", ("adamw_step",)),
    Piece("rope-kv-cache", "cache", "cache", ("rope_decode_step",)),
    Piece("paged-kv", "serving", "cache", ("BlockAllocator", "paged_attention")),
    Piece("split-kv-decode", "efficient", "cache", ("merge_partials",)),
    Piece("radix-prefix-cache", "serving", "prefix-cache", ("RadixCache",)),
    Piece("repetition-penalty", "decoding", "sampler", ("repetition_penalty",)),
    Piece("top-k-top-p", "decoding", "sampler", ("filter_logits",)),
    Piece("speculative-sampling", "decoding", "speculation", ("spec_step",)),
    Piece("continuous-batching", "serving", "scheduler", ("Scheduler",)),
)
BY_ID = {piece.id: piece for piece in PIECES}
