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
# The modules of torch that may be used, and no others, however they are reached.
TORCH_MODULES: tuple[str, ...] = (
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.parameter",
    "torch.nn.utils",
    "torch.nn.utils.parametrize",
    "torch.autograd",
    "torch.autograd.function",
    "torch.cuda",
    "torch.fft",
    "torch.func",
    "torch.linalg",
    "torch.random",
    "torch.special",
    "torch.testing",
)
# What a challenge that asks for a kernel allows besides, and the names that it may use of it.
KERNEL_IMPORTS: tuple[str, ...] = ("triton", "triton.language")
KERNEL_NAMES = frozenset({"jit", "cdiv", "next_power_of_2", "language"})
# What torch may do outside of kernels, where kernels are asked for: make tensors, look at them, view and copy them.
AROUND_KERNELS = frozenset(
    {
        *("empty", "empty_like", "empty_strided", "new_empty", "zeros", "zeros_like", "new_zeros", "full", "full_like"),
        *("new_full", "fill_", "zero_", "copy_", "clone", "contiguous", "detach", "to", "type", "float", "half"),
        *(
            "view",
            "view_as",
            "reshape",
            "flatten",
            "unflatten",
            "unsqueeze",
            "squeeze",
            "transpose",
            "permute",
            "movedim",
        ),
        *(
            "expand",
            "expand_as",
            "broadcast_to",
            "broadcast_tensors",
            "broadcast_shapes",
            "t",
            "narrow",
            "select",
            "slice",
        ),
        *(
            "split",
            "chunk",
            "unbind",
            "as_strided",
            "__getitem__",
            "__get__",
            "__len__",
            "size",
            "stride",
            "numel",
            "dim",
        ),
        *("element_size", "is_contiguous", "is_floating_point", "data_ptr", "storage_offset", "promote_types"),
        *("result_type", "finfo", "iinfo", "triton.launch"),
    }
)
# How a statement writes it, and the names that the judge refuses for it.
FORBIDDEN_EVERYWHERE: dict[str, tuple[str, ...]] = {
    "F.scaled_dot_product_attention": ("scaled_dot_product_*",),
    "nn.MultiheadAttention": ("MultiheadAttention", "multi_head_attention_forward"),
    "nn.Transformer*": (
        "Transformer",
        "TransformerEncoder",
        "TransformerEncoderLayer",
        "TransformerDecoder",
        "TransformerDecoderLayer",
    ),
    "torch.compile": ("torch.compile",),
    "torch._*": ("torch._*",),
}
# Modules outside of `TORCH_MODULES` whose calls a trace finds where the reading did not.
TRACED_MODULES: tuple[str, ...] = ("torch.distributed", "torch.ops", "torch.optim", "torch.overrides", "torch.utils")
