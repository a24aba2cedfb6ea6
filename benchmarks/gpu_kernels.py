"""List the work of `benchmarks/gpu.py`: inputs of three sizes, the kernel's call, and the equivalent torch calls.

Rows are in order of importance: attention and decoding, norms, softmax, NF4, losses, then all others.
`call` takes a module, the kernel's or the reference's: both have the same entry point, and the reference in float64
is the oracle. Sizes: `full` is timed, `odd` divides no tile and is checked, `small` is for Triton's interpreter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

Size = Literal["full", "odd", "small"]
Like = Mapping[str, Any]
Outputs = Tensor | tuple[Tensor, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """One call: its arguments, the call of a kernel or reference module, torch's rivals, and its least cost.

    `moved_bytes` counts each byte read or written once, `flops` those of the products; 0 if the bound is not used.
    """

    args: tuple[Any, ...]
    call: Callable[..., Outputs]
    rivals: dict[str, Callable[..., Outputs]] = field(default_factory=dict)
    moved_bytes: int = 0
    flops: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel to time. `goal` is a share of the copy bandwidth, or of the speed of the rival named by `against`."""

    folder: str
    work: Callable[[Size, Like], Work]
    goal: float | None = None
    against: str = "bandwidth"
    compiled: bool = False
    """True if torch.compile of the eager form is timed too, at the end."""
    check_dtype: torch.dtype | None = None
    """The dtype of the check, if 16 bits would choose other experts than the oracle."""


def normal(like: Like, *shape: int) -> Tensor:
    return torch.randn(*shape, **like)


def sdpa(q: Tensor, k: Tensor, v: Tensor, causal: bool, backend: SDPBackend, gqa: bool = False) -> Tensor:
    with sdpa_kernel(backend):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=gqa)


def sdpa_rivals(causal: bool, gqa: bool = False) -> dict[str, Callable[..., Outputs]]:
    """Return torch's fused backends by name; the benchmark skips those that refuse the inputs."""
    backends = {
        "cudnn": SDPBackend.CUDNN_ATTENTION,
        "flash": SDPBackend.FLASH_ATTENTION,
        "efficient": SDPBackend.EFFICIENT_ATTENTION,
    }
    return {
        name: lambda q, k, v, *_, backend=backend: sdpa(q, k, v, causal, backend, gqa)
        for name, backend in backends.items()
    }


def attention_sizes(size: Size) -> tuple[int, int, int]:
    """Return B, H and T."""
    return {"full": (4, 16, 4096), "odd": (2, 3, 777), "small": (1, 2, 40)}[size]


def flash(d: int, causal: bool) -> Callable[[Size, Like], Work]:
    def work(size: Size, like: Like) -> Work:
        B, H, T = attention_sizes(size)
        width = d if size != "small" else 24
        blocks = {"block_q": 16, "block_k": 16} if size == "small" else {"block_q": 128, "block_k": 128}
        q, k, v = (normal(like, B, H, T, width) for _ in range(3))
        return Work(
            (q, k, v),
            lambda module, q, k, v: module.flash_attention(q, k, v, causal=causal, **blocks),
            sdpa_rivals(causal),
            4 * q.nbytes,
            4 * B * H * T * T * width // (2 if causal else 1),
        )

    return work


def flash_backward(d: int) -> Callable[[Size, Like], Work]:
    def backward_of(backend: SDPBackend) -> Callable[..., Outputs]:
        def run(q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, do: Tensor) -> Outputs:
            if not q.requires_grad:
                for x in (q, k, v):
                    x.requires_grad_()
            out = sdpa(q, k, v, True, backend)
            return torch.autograd.grad(out, (q, k, v), do)

        return run

    def work(size: Size, like: Like) -> Work:
        B, H, T = attention_sizes(size)
        width = d if size != "small" else 24
        q, k, v, do = (normal(like, B, H, T, width) for _ in range(4))
        wide = torch.float64 if size != "full" else torch.float32
        o, lse = attention_with_lse(q.to(wide), k.to(wide), v.to(wide))
        return Work(
            (q, k, v, o.to(q.dtype), lse.to(torch.promote_types(q.dtype, torch.float32)), do),
            lambda module, *args: module.flash_attention_backward(*args, causal=True),
            {
                "flash, forward and backward": backward_of(SDPBackend.FLASH_ATTENTION),
                "cudnn, forward and backward": backward_of(SDPBackend.CUDNN_ATTENTION),
            },
            8 * q.nbytes,
            5 * B * H * T * T * width,
        )

    return work


def attention_with_lse(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Return causal attention and its log-sum-exp, head by head, so that only one head's scores exist at a time."""
    outs, lses = torch.empty_like(q), torch.empty(q.shape[:3], dtype=q.dtype, device=q.device)
    future = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).triu(1)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            scores = (q[b, h] @ k[b, h].T / math.sqrt(q.shape[3])).masked_fill(future, -math.inf)  # (T, S)
            lses[b, h] = scores.logsumexp(-1)
            outs[b, h] = (scores - lses[b, h][:, None]).exp() @ v[b, h]
    return outs, lses


def decode_inputs(size: Size, like: Like) -> tuple[Tensor, Tensor, Tensor]:
    sizes = {"full": (16, 32, 8, 16384, 128), "odd": (3, 12, 4, 1111, 128), "small": (1, 4, 2, 70, 16)}
    B, H, G, S, d = sizes[size]
    return normal(like, B, H, d), normal(like, B, G, S, d), normal(like, B, G, S, d)


def decode(entry: str) -> Callable[[Size, Like], Work]:
    def work(size: Size, like: Like) -> Work:
        q, k, v = decode_inputs(size, like)
        splits = 3 if size == "small" else 16
        eager = lambda q, k, v: F.scaled_dot_product_attention(q[:, :, None], k, v, enable_gqa=True)[:, :, 0]  # noqa: E731

        def call(module: ModuleType, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            if not hasattr(module, entry):  # the reference has no entry for decoding, only for the merge
                return eager(q, k, v)
            outputs = getattr(module, entry)(q, k, v, splits)
            return outputs[0] if isinstance(outputs, tuple) else outputs

        return Work((q, k, v), call, {"eager": eager}, k.nbytes + v.nbytes)

    return work


def paged(size: Size, like: Like) -> Work:
    sizes = {"full": (32, 32, 8, 16, 512, 128), "odd": (3, 12, 4, 16, 37, 128), "small": (2, 4, 2, 4, 5, 16)}
    B, H, G, block, M, d = sizes[size]
    q = normal(like, B, H, d)
    pools = [normal(like, B * M + 1, block, G, d) for _ in range(2)]
    table = torch.randperm(B * M, device=like["device"]).view(B, M).to(torch.int32)
    lengths = torch.tensor([M * block - 3 * b for b in range(B)], dtype=torch.int32, device=like["device"])

    def eager(q: Tensor, k_pool: Tensor, v_pool: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
        k, v = (pool[table.long()].flatten(1, 2).transpose(1, 2) for pool in (k_pool, v_pool))  # (B, G, S, d)
        seen = torch.arange(k.shape[2], device=q.device) < lengths[:, None]  # (B, S)
        mask = seen[:, None, None, :]
        return F.scaled_dot_product_attention(q[:, :, None], k, v, mask, enable_gqa=True)[:, :, 0]

    return Work(
        (q, *pools, table, lengths),
        lambda module, *args: module.paged_attention(*args),
        {"eager": eager},
        2 * B * M * block * G * d * q.element_size(),
    )


def rows_and_width(size: Size) -> tuple[int, int]:
    return {"full": (16384, 4096), "odd": (333, 3001), "small": (6, 70)}[size]


def layer_norm(backward: bool) -> Callable[[Size, Like], Work]:
    def work(size: Size, like: Like) -> Work:
        rows, D = rows_and_width(size)
        x, gamma, beta, dy = normal(like, rows, D), normal(like, D), normal(like, D), normal(like, rows, D)
        ours = lambda module, x, gamma, beta, dy: module.layer_norm(x, gamma, beta)  # noqa: E731
        eager = lambda x, gamma, beta, dy: F.layer_norm(x, (D,), gamma, beta)  # noqa: E731
        if not backward:
            return Work((x, gamma, beta, dy), ours, {"eager": eager}, 2 * x.nbytes)
        return gradients_of((x, gamma, beta, dy), ours, eager, 5 * x.nbytes)

    return work


def rms_norm(backward: bool) -> Callable[[Size, Like], Work]:
    def work(size: Size, like: Like) -> Work:
        rows, D = rows_and_width(size)
        x, weight, dy = normal(like, rows, D), normal(like, D), normal(like, rows, D)
        ours = lambda module, x, weight, dy: module.rms_norm(x, weight, 1e-6)  # noqa: E731
        eager = lambda x, weight, dy: F.rms_norm(x, (D,), weight, 1e-6)  # noqa: E731
        if not backward:
            return Work((x, weight, dy), ours, {"eager": eager}, 2 * x.nbytes)
        return gradients_of((x, weight, dy), ours, eager, 5 * x.nbytes)

    return work


def gradients_of(args: tuple[Tensor, ...], ours: Any, eager: Any, moved_bytes: int) -> Work:
    """Time forward and backward together: the last argument is the cotangent, all others get gradients."""

    def run(call: Callable[..., Tensor], *args: Tensor) -> Outputs:
        leaves, dy = [x.detach().requires_grad_() for x in args[:-1]], args[-1]
        return torch.autograd.grad(call(*leaves, dy), leaves, dy)

    return Work(
        args,
        lambda module, *args: run(lambda *leaves: ours(module, *leaves), *args),
        {"eager": lambda *args: run(eager, *args)},
        moved_bytes,
    )


def softmax(size: Size, like: Like) -> Work:
    x = normal(like, *rows_and_width(size))
    return Work((x,), lambda module, x: module.softmax(x), {"eager": lambda x: F.softmax(x, -1)}, 2 * x.nbytes)


def nf4(size: Size, like: Like) -> Work:
    rows, width = {"full": (8192, 8192), "odd": (333, 64 * 37), "small": (8, 128)}[size]
    codes = torch.randint(0, 16, (rows, width // 2, 2), device=like["device"])
    packed = (codes[..., 0] | codes[..., 1] << 4).to(torch.uint8)
    absmax = torch.rand(rows, width // 64, device=like["device"]) + 0.5

    def eager(packed: Tensor, absmax: Tensor) -> Tensor:
        positive = torch.special.ndtri(torch.linspace(0.9677083, 0.5, 9, dtype=torch.float64, device=packed.device))
        negative = -torch.special.ndtri(torch.linspace(0.9677083, 0.5, 8, dtype=torch.float64, device=packed.device))
        table = torch.cat([negative[:-1], positive.flip(0)]) / positive[0]  # (16,)
        codes = torch.stack((packed & 15, packed >> 4), -1).long()
        values = table.to(absmax.dtype)[codes.view(-1, 64)] * absmax.view(-1, 1)
        dtype = like["dtype"] if absmax.dtype == torch.float32 else absmax.dtype
        return values.view(rows, width).to(dtype)

    def call(module: ModuleType, packed: Tensor, absmax: Tensor) -> Tensor:
        if hasattr(module, "nf4_dequantize"):
            return module.nf4_dequantize(packed, absmax, like["dtype"])  # type: ignore[no-any-return]
        return eager(packed, absmax)

    moved = packed.nbytes + absmax.nbytes + rows * width * like["dtype"].itemsize
    return Work((packed, absmax), call, {"eager": eager}, moved)


def lm_loss(size: Size, like: Like) -> Work:
    B, T, V = {"full": (4, 2048, 50304), "odd": (2, 333, 5003), "small": (2, 9, 70)}[size]
    logits = normal(like, B, T, V)
    ids = torch.randint(0, V, (B, T), device=like["device"])
    eager = lambda logits, ids: F.cross_entropy(logits[:, :-1].flatten(0, 1).float(), ids[:, 1:].flatten())  # noqa: E731
    return Work((logits, ids), lambda module, *args: module.lm_loss(*args), {"eager": eager}, logits.nbytes)


def linear_cross_entropy(size: Size, like: Like) -> Work:
    N, D, V = {"full": (8192, 2048, 50304), "odd": (333, 200, 5003), "small": (9, 16, 70)}[size]
    x, w = normal(like, N, D), normal(like, V, D) / math.sqrt(D)
    target = torch.randint(0, V, (N,), device=like["device"])
    eager = lambda x, w, target: F.cross_entropy((x @ w.T).float(), target)  # noqa: E731
    call = lambda module, *args: module.linear_cross_entropy(*args)  # noqa: E731
    return Work((x, w, target), call, {"eager": eager}, flops=2 * N * D * V)


def gqa(size: Size, like: Like) -> Work:
    B, H, G, T, d = {"full": (2, 32, 8, 4096, 128), "odd": (2, 6, 2, 555, 128), "small": (1, 4, 2, 40, 16)}[size]
    q, k, v = normal(like, B, H, T, d), normal(like, B, G, T, d), normal(like, B, G, T, d)
    call = lambda module, q, k, v: module.gqa(q, k, v, causal=True)  # noqa: E731
    return Work((q, k, v), call, sdpa_rivals(True, gqa=True), flops=2 * B * H * T * T * d)


def varlen(size: Size, like: Like) -> Work:
    lengths, H, d = {
        "full": ([4096, 1024, 2048, 512, 3000, 700, 100, 4000], 16, 128),
        "odd": ([333, 1, 77, 500], 3, 128),
        "small": ([5, 1, 40], 2, 16),
    }[size]
    q, k, v = (normal(like, sum(lengths), H, d) for _ in range(3))
    begins = torch.tensor([0, *lengths], device=like["device"]).cumsum(0).to(torch.int32)
    call = lambda module, *args: module.varlen_attention(*args, causal=True)  # noqa: E731

    def one_by_one(q: Tensor, k: Tensor, v: Tensor, begins: Tensor) -> Tensor:
        parts = [torch.split(x, lengths) for x in (q, k, v)]
        heads = ([x.transpose(0, 1)[None] for x in part] for part in zip(*parts, strict=True))
        outs = [F.scaled_dot_product_attention(*part, is_causal=True)[0].transpose(0, 1) for part in heads]
        return torch.cat(outs)

    rivals = {"eager, one sequence after the other": one_by_one}
    return Work((q, k, v, begins), call, rivals, flops=2 * H * d * sum(n * n for n in lengths))


def sliding_window(size: Size, like: Like) -> Work:
    B, H, T = attention_sizes(size)
    d, window = (16, 8) if size == "small" else (128, 512)
    q, k, v = (normal(like, B, H, T, d) for _ in range(3))
    call = lambda module, q, k, v: module.sliding_window_attention(q, k, v, window, 4)  # noqa: E731
    return Work((q, k, v), call, {"eager, all keys": sdpa_rivals(True)["flash"]}, flops=4 * B * H * T * window * d)


def mla(size: Size, like: Like) -> Work:
    B, H, t, r, p = {"full": (16, 128, 8192, 512, 64), "odd": (2, 20, 777, 512, 64), "small": (2, 3, 40, 32, 16)}[size]
    q_latent, q_rope, c, kr = (normal(like, *shape) for shape in ((B, H, r), (B, H, p), (B, t, r), (B, t, p)))

    def eager(q_latent: Tensor, q_rope: Tensor, c: Tensor, kr: Tensor) -> Tensor:
        scores = q_latent @ c.transpose(1, 2) + q_rope @ kr.transpose(1, 2)  # (B, H, t)
        return torch.softmax(scores * 0.05, -1) @ c  # (B, H, r)

    def call(module: ModuleType, *args: Tensor) -> Tensor:
        if hasattr(module, "AbsorbedAttention"):
            return module.AbsorbedAttention.apply(*args, 0.05)  # type: ignore[no-any-return]
        return eager(*args)

    return Work((q_latent, q_rope, c, kr), call, {"eager": eager}, c.nbytes + kr.nbytes, 4 * B * H * t * r)


def linear_attention(size: Size, like: Like) -> Work:
    B, H, T = {"full": (4, 16, 4096), "odd": (2, 3, 333), "small": (1, 2, 40)}[size]
    q, k, v = (normal(like, B, H, T, 64) for _ in range(3))
    return Work((q, k, v), lambda module, *args: module.linear_attention(*args, True), {}, 4 * q.nbytes)


def gated_delta(size: Size, like: Like) -> Work:
    B, H, T, d = {"full": (4, 16, 4096, 128), "odd": (2, 3, 222, 64), "small": (1, 2, 40, 16)}[size]
    q, k, v = (F.normalize(normal(like, B, H, T, d), dim=-1) for _ in range(3))
    beta, decay = normal(like, B, H, T).sigmoid(), -normal(like, B, H, T).abs() / 10
    return Work((q, k, v, beta, decay), lambda module, *args: module.gated_delta_rule(*args), {}, 4 * q.nbytes)


def moe(size: Size, like: Like) -> Work:
    N, D, W, E, k = {"full": (8192, 2048, 1408, 64, 6), "odd": (333, 128, 96, 8, 2), "small": (9, 16, 24, 4, 2)}[size]
    x, wg = normal(like, N, D), normal(like, D, E)
    w1, w2 = normal(like, E, D, W) / math.sqrt(D), normal(like, E, W, D) / math.sqrt(W)
    call = lambda module, *args: module.moe_forward(*args, k)  # noqa: E731
    return Work((x, wg, w1, w2), call, {}, flops=4 * N * k * D * W)


def rope(layout: str) -> Callable[[Size, Like], Work]:
    def work(size: Size, like: Like) -> Work:
        B, H, T = {"full": (4, 32, 4096), "odd": (2, 3, 777), "small": (1, 2, 9)}[size]
        x = normal(like, B, H, T, 16 if size == "small" else 128)
        positions = torch.arange(T, device=like["device"])

        def eager(x: Tensor, positions: Tensor) -> Tensor:
            half = x.shape[-1] // 2
            speed = 10000.0 ** (-torch.arange(half, device=x.device) / half)
            angle = positions[:, None] * speed  # (T, d/2)
            a, b = (x[..., 0::2], x[..., 1::2]) if layout == "interleaved" else x.chunk(2, -1)
            turned = a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()
            joined = torch.stack(turned, -1).flatten(-2) if layout == "interleaved" else torch.cat(turned, -1)
            return joined.to(x.dtype)

        call = lambda module, x, positions: module.apply_rope(x, positions, 10000.0, layout)  # noqa: E731
        return Work((x, positions), call, {"eager": eager}, 2 * x.nbytes)

    return work


def swiglu(size: Size, like: Like) -> Work:
    N, D, W = {"full": (8192, 2048, 5632), "odd": (333, 100, 260), "small": (6, 16, 40)}[size]
    x, gate, up, down = (normal(like, *s) / math.sqrt(s[0]) for s in ((N, D), (D, W), (D, W), (W, D)))
    eager = lambda x, gate, up, down: (F.silu(x @ gate) * (x @ up)) @ down  # noqa: E731
    call = lambda module, *args: module.swiglu_ffn(*args)  # noqa: E731
    return Work((x, gate, up, down), call, {"eager": eager}, flops=6 * N * D * W)


def adamw(size: Size, like: Like) -> Work:
    n = {"full": 1 << 27, "odd": 100_003, "small": 70}[size]
    p, g = normal(like, n), normal(like, n)
    state = [torch.rand(n, device=like["device"]) for _ in range(2)]

    def call(module: ModuleType, p: Tensor, g: Tensor, m: Tensor, v: Tensor) -> Tensor:
        return module.adamw_step(p, g, {"t": 10, "m": m, "v": v}, 1e-3)  # type: ignore[no-any-return]

    def eager(p: Tensor, g: Tensor, m: Tensor, v: Tensor) -> Tensor:
        m, v = torch.lerp(m, g.to(m.dtype), 0.1), v * 0.999 + 0.001 * g.to(v.dtype) ** 2
        step = m / (1 - 0.9**11) / ((v / (1 - 0.999**11)).sqrt() + 1e-8)
        return (p * (1 - 1e-5) - 1e-3 * step).to(p.dtype)

    return Work((p, g, *state), call, {"eager": eager}, 3 * p.nbytes + 4 * state[0].nbytes)


def int8_matmul(size: Size, like: Like) -> Work:
    M, O, I = {"full": (16, 8192, 8192), "odd": (65, 333, 608), "small": (3, 20, 32)}[size]
    x, zero = normal(like, M, I), torch.zeros(O, 1, dtype=torch.int32, device=like["device"])
    q = torch.randint(-127, 128, (O, I), dtype=torch.int8, device=like["device"])
    scale = torch.rand(O, 1, device=like["device"]) / 128
    return decoding_product((x, q, scale, zero), "int8_matmul", lambda q, scale, zero: (q - zero) * scale, q.nbytes)


def int4_matmul(size: Size, like: Like) -> Work:
    M, O, I = {"full": (16, 8192, 8192), "odd": (65, 333, 608), "small": (3, 20, 32)}[size]
    packed = torch.randint(0, 256, (O, I // 2), dtype=torch.uint8, device=like["device"])
    scales = torch.rand(O, I // 32, device=like["device"]) / 8

    def decode(packed: Tensor, scales: Tensor) -> Tensor:
        codes = torch.stack((packed & 15, packed >> 4), -1).flatten(-2).int()  # (O, I), in two's complement
        return torch.where(codes > 7, codes - 16, codes) * scales.repeat_interleave(32, -1)

    return decoding_product((normal(like, M, I), packed, scales), "int4_matmul", decode, packed.nbytes)


def decoding_product(args: tuple[Tensor, ...], entry: str, decode: Callable[..., Tensor], moved_bytes: int) -> Work:
    """A product with quantised weights; torch decodes them first."""
    eager = lambda x, *coded: x @ decode(*coded).to(x.dtype).T  # noqa: E731

    def call(module: ModuleType, *args: Tensor) -> Tensor:
        return getattr(module, entry, eager)(*args)  # type: ignore[no-any-return]

    return Work(args, call, {"eager": eager}, moved_bytes)


def plain(entry: str, shapes: Callable[[Size], tuple[tuple[int, ...], ...]]) -> Callable[[Size, Like], Work]:
    """Work of a kernel challenge whose arguments are all tensors; the rival is its reference in the inputs' dtype."""

    def work(size: Size, like: Like) -> Work:
        args = tuple(normal(like, *shape) for shape in shapes(size))
        return Work(args, lambda module, *args: getattr(module, entry)(*args), {}, 2 * args[0].nbytes)

    return work


def wide_rows(size: Size) -> tuple[int, int]:
    return {"full": (8192, 4096), "odd": (33, 3001), "small": (6, 70)}[size]


def rope_kernel(size: Size) -> tuple[tuple[int, ...], ...]:
    B, H, T, d = {"full": (4, 32, 4096, 128), "odd": (2, 3, 333, 64), "small": (1, 2, 9, 16)}[size]
    return (B, H, T, d), (T, d // 2), (T, d // 2)


def product_shapes(size: Size) -> tuple[tuple[int, ...], ...]:
    M, K, N = {"full": (4096, 4096, 4096), "odd": (333, 200, 111), "small": (20, 24, 40)}[size]
    return (M, K), (K, N), (N,)


def cross_entropy_kernel(size: Size, like: Like) -> Work:
    N, V = {"full": (4096, 50304), "odd": (333, 5003), "small": (6, 70)}[size]
    args = normal(like, N, V), torch.randint(0, V, (N,), device=like["device"])
    return Work(args, lambda module, *args: module.cross_entropy(*args), {}, 2 * args[0].nbytes)


def flash_forward_kernel(size: Size, like: Like) -> Work:
    B, H, T = {"full": (2, 16, 2048), "odd": (2, 3, 333), "small": (1, 2, 40)}[size]
    q, k, v = (normal(like, B, H, T, 16 if size == "small" else 64) for _ in range(3))
    call = lambda module, q, k, v: module.flash_forward(q, k, v, True)  # noqa: E731
    return Work((q, k, v), call, sdpa_rivals(True), flops=2 * B * H * T * T * q.shape[3])


def int4_kernel(size: Size, like: Like) -> Work:
    M, N, K = {"full": (16, 8192, 8192), "odd": (33, 333, 640), "small": (3, 20, 64)}[size]
    packed = torch.randint(0, 256, (N, K // 2), dtype=torch.uint8, device=like["device"])
    scales = torch.rand(N, K // 32, device=like["device"]) / 8
    zeros = torch.randint(0, 16, (N, K // 32), dtype=torch.uint8, device=like["device"])
    call = lambda module, *args: module.int4_matmul(*args, 32)  # noqa: E731
    return Work((normal(like, M, K), packed, scales, zeros), call, {}, packed.nbytes)


def topk_router(size: Size, like: Like) -> Work:
    T, E = {"full": (65536, 128), "odd": (333, 60), "small": (6, 16)}[size]
    logits = normal(like, T, E)
    return Work((logits,), lambda module, x: module.topk_router(x, 4)[0], {}, logits.nbytes)


ENTRIES: dict[str, Entry] = {
    "flash-64": Entry("efficient/flash-attention", flash(64, False), 0.6, "flash"),
    "flash-64-causal": Entry("efficient/flash-attention", flash(64, True), 0.6, "flash"),
    "flash-128": Entry("efficient/flash-attention", flash(128, False), 0.6, "flash"),
    "flash-128-causal": Entry("efficient/flash-attention", flash(128, True), 0.6, "flash"),
    "split-kv-decode": Entry("efficient/split-kv-decode", decode("split_kv_decode"), 0.75),
    "paged-kv": Entry("serving/paged-kv", paged),
    "layer-norm": Entry("norms/layer-norm", layer_norm(False), 0.85, compiled=True),
    "rms-norm": Entry("norms/rms-norm", rms_norm(False), 0.85, compiled=True),
    "softmax": Entry("attention/softmax-stable", softmax, 0.85, compiled=True),
    "nf4-dequantise": Entry("quantisation/nf4", nf4, 0.85),
    "causal-lm-loss": Entry("losses/causal-lm-loss", lm_loss, compiled=True),
    "linear-cross-entropy": Entry("losses/linear-cross-entropy", linear_cross_entropy),
    "flash-backward-64": Entry("efficient/flash-backward", flash_backward(64)),
    "flash-backward-128": Entry("efficient/flash-backward", flash_backward(128)),
    "layer-norm-backward": Entry("norms/layer-norm", layer_norm(True)),
    "rms-norm-backward": Entry("norms/rms-norm", rms_norm(True)),
    "gqa": Entry("cache/gqa", gqa),
    "varlen": Entry("efficient/varlen-attention", varlen),
    "sliding-window": Entry("efficient/sparse-attention", sliding_window),
    "mla": Entry("cache/mla", mla),
    "rope-interleaved": Entry("positions/rope", rope("interleaved"), compiled=True),
    "rope-half": Entry("positions/rope", rope("half")),
    "swiglu": Entry("blocks/swiglu", swiglu, compiled=True),
    "adamw": Entry("optimisers/adamw", adamw, compiled=True),
    "int8-matmul": Entry("quantisation/int8-quant", int8_matmul),
    "int4-matmul": Entry("quantisation/int4-group-quant", int4_matmul),
    "moe": Entry("experts/moe-layer", moe, check_dtype=torch.float32),
    "linear-attention": Entry("efficient/linear-attention", linear_attention),
    "gated-delta-rule": Entry("efficient/gated-delta-rule", gated_delta),
    "vector-add-kernel": Entry("kernels/vector-add", plain("vector_add", lambda size: (wide_rows(size),) * 2)),
    "softmax-kernel": Entry("kernels/softmax-kernel", plain("softmax", lambda size: (wide_rows(size),))),
    "layer-norm-kernel": Entry(
        "kernels/layer-norm-kernel",
        plain("layer_norm", lambda size: (wide_rows(size), wide_rows(size)[1:], wide_rows(size)[1:])),
    ),
    "rms-norm-residual-kernel": Entry(
        "kernels/rms-norm-residual-kernel",
        plain("rms_norm_residual", lambda size: (wide_rows(size), wide_rows(size), wide_rows(size)[1:])),
    ),
    "swiglu-kernel": Entry("kernels/swiglu-kernel", plain("swiglu_gate", lambda size: (wide_rows(size),) * 2)),
    "rope-kernel": Entry("kernels/rope-kernel", plain("rope", rope_kernel)),
    "matmul-epilogue-kernel": Entry("kernels/matmul-epilogue-kernel", plain("linear_gelu", product_shapes)),
    "cross-entropy-kernel": Entry("kernels/cross-entropy-kernel", cross_entropy_kernel),
    "topk-router-kernel": Entry("kernels/topk-router-kernel", topk_router),
    "int4-matmul-kernel": Entry("kernels/int4-matmul-kernel", int4_kernel),
    "flash-decode-kernel": Entry("kernels/flash-decode-kernel", decode("flash_decode")),
    "flash-forward-kernel": Entry("kernels/flash-forward-kernel", flash_forward_kernel),
}
