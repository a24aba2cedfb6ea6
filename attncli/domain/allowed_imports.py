"""What a submission may import, and what none may call: the judge reads by these tables, statements quote them."""

from __future__ import annotations

IMPORTS: tuple[str, ...] = (
    "torch",
    "math",
    "typing",
    "collections",
    "dataclasses",
    "functools",
    "heapq",
    "itertools",
    "unicodedata",
)
# How a statement writes it, and the names that the judge refuses for it.
FORBIDDEN_EVERYWHERE: dict[str, tuple[str, ...]] = {
    "F.scaled_dot_product_attention": (
        "scaled_dot_product_attention",
        "_scaled_dot_product_attention_math",
        "_scaled_dot_product_flash_attention_for_cpu",
    ),
    "nn.MultiheadAttention": ("MultiheadAttention", "multi_head_attention_forward"),
    "nn.Transformer*": (
        "Transformer",
        "TransformerEncoder",
        "TransformerEncoderLayer",
        "TransformerDecoder",
        "TransformerDecoderLayer",
    ),
    "torch.compile": ("torch.compile",),
    "torch.ops": ("torch.ops", "torch.ops.*"),
    "torch._*": ("torch._*",),
    "torch.utils": ("torch.utils", "torch.utils.*"),
    "torch.overrides": ("torch.overrides", "torch.overrides.*"),
}
