"""Reference kernels on a GPU, against torch's own operation and the device's limits as measured in the same run.

    python benchmarks/gpu.py [KERNEL…]       writes benchmarks/results/gpu-<device>.json and prints a table
    attn verify --device cuda                before that: every challenge by its own files, on the same GPU
    python benchmarks/gpu.py --small         without a GPU: correctness alone, at small sizes, in Triton's interpreter

Correctness comes first: what differs from torch's operation is not timed. Times are medians by device events with the
second-level cache flushed before each run. A kernel bound by memory is put beside the bandwidth that a large copy
reaches, FlashAttention beside torch's fused attention; every kernel beside torch eager.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"

import torch.nn.functional as F
from torch import Tensor

ROOT = Path(__file__).resolve().parent.parent
RUNS, WARM_UP = 30, 5
FLUSHED_BYTES = 256 << 20
DTYPE = torch.bfloat16
SMALL = torch.float32  # the interpreter has no bfloat16


@dataclass(frozen=True, slots=True)
class Entry:
    """One kernel: `make(scale, dtype, device)` gives what is called, torch's way to do the same, and bytes moved."""

    folder: str
    make: Callable[[ModuleType, bool, Any], tuple[Callable[[], Tensor], Callable[[], Tensor], int]]
    at_least: float
    against: str = "bandwidth"


def normal(*shape: int, like: dict[str, Any]) -> Tensor:
    return torch.randn(*shape, **like)


def softmax(kernel: ModuleType, small: bool, like: Any) -> Any:
    x = normal(*((6, 70) if small else (16384, 4096)), like=like)
    return lambda: kernel.softmax(x), lambda: F.softmax(x, -1), 2 * x.nbytes


def layer_norm(kernel: ModuleType, small: bool, like: Any) -> Any:
    rows, D = (6, 70) if small else (16384, 4096)
    x, gamma, beta = normal(rows, D, like=like), normal(D, like=like), normal(D, like=like)
    return lambda: kernel.layer_norm(x, gamma, beta), lambda: F.layer_norm(x, (D,), gamma, beta), 2 * x.nbytes


def rms_norm(kernel: ModuleType, small: bool, like: Any) -> Any:
    rows, D = (6, 70) if small else (16384, 4096)
    x, w = normal(rows, D, like=like), normal(D, like=like)
    return lambda: kernel.rms_norm(x, w, 1e-6), lambda: F.rms_norm(x, (D,), w, 1e-6), 2 * x.nbytes


def attention(d: int, causal: bool) -> Callable[[ModuleType, bool, Any], Any]:
    def make(kernel: ModuleType, small: bool, like: Any) -> Any:
        B, H, T = (1, 2, 40) if small else (4, 16, 4096)
        q, k, v = (normal(B, H, T, d, like=like) for _ in range(3))
        torchs = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal)  # noqa: E731
        blocks = {} if not small else {"block_q": 16, "block_k": 16}
        return lambda: kernel.flash_attention(q, k, v, causal=causal, **blocks)[0], torchs, 4 * q.nbytes

    return make


def decode(kernel: ModuleType, small: bool, like: Any) -> Any:
    B, H, G, S, d = (1, 4, 2, 70, 16) if small else (16, 32, 8, 16384, 128)
    q, k, v = normal(B, H, d, like=like), normal(B, G, S, d, like=like), normal(B, G, S, d, like=like)
    n_splits = 3 if small else 16
    torchs = lambda: F.scaled_dot_product_attention(q[:, :, None], k, v, enable_gqa=True)[:, :, 0]  # noqa: E731
    return lambda: kernel.split_kv_decode(q, k, v, n_splits)[0], torchs, k.nbytes + v.nbytes


def nf4(kernel: ModuleType, small: bool, like: Any) -> Any:
    w = normal(*((8, 128) if small else (8192, 8192)), like={**like, "dtype": torch.float32})
    packed, absmax = kernel.nf4_quantize(w)
    table = kernel.levels(torch.float32, w.device)

    def torchs() -> Tensor:
        codes = torch.stack((packed & 15, packed >> 4), -1).long()
        values = table[codes.view(-1, 64)] * absmax.view(-1, 1)
        return values.view(kernel.nf4_dequantize(packed, absmax).shape).to(like["dtype"])

    bytes_ = packed.nbytes + absmax.nbytes + w.numel() * like["dtype"].itemsize
    return lambda: kernel.nf4_dequantize(packed, absmax, like["dtype"]), torchs, bytes_


ENTRIES: dict[str, Entry] = {
    "softmax": Entry("attention/softmax-stable", softmax, 0.85),
    "layer-norm": Entry("norms/layer-norm", layer_norm, 0.85),
    "rms-norm": Entry("norms/rms-norm", rms_norm, 0.85),
    "nf4-dequantise": Entry("quantisation/nf4", nf4, 0.85),
    "split-kv-decode": Entry("efficient/split-kv-decode", decode, 0.75),
    "flash-64": Entry("efficient/flash-attention", attention(64, False), 0.6, "torch"),
    "flash-64-causal": Entry("efficient/flash-attention", attention(64, True), 0.6, "torch"),
    "flash-128": Entry("efficient/flash-attention", attention(128, False), 0.6, "torch"),
    "flash-128-causal": Entry("efficient/flash-attention", attention(128, True), 0.6, "torch"),
}


@dataclass(frozen=True, slots=True)
class Found:
    """What was measured of one kernel: milliseconds, its share of the limit, its speed against torch eager."""

    kernel: str
    ms: float
    torch_ms: float
    of_bandwidth: float
    against_torch: float
    due: str
    holds: bool


def kernel_of(folder: str) -> ModuleType:
    path = ROOT / "impl" / folder / "kernel.py"
    module = ModuleType(f"measured_{folder.rpartition('/')[2].replace('-', '_')}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    return module


def difference(got: Tensor, due: Tensor) -> float:
    """The largest error, relative to the largest value."""
    return float((got.double() - due.double()).abs().max() / due.double().abs().max())


def median_ms(call: Callable[[], Any]) -> float:
    flushed = torch.empty(FLUSHED_BYTES, dtype=torch.uint8, device="cuda")
    times = []
    for run in range(WARM_UP + RUNS):
        flushed.zero_()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        if run >= WARM_UP:
            times.append(begin.elapsed_time(end))
    return statistics.median(times)


def copy_bandwidth() -> float:
    """Bytes a millisecond that a large copy moves, read and written."""
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.nbytes / median_ms(lambda: target.copy_(source))


def measure(name: str, entry: Entry, bandwidth: float) -> Found:
    ours, torchs, bytes_ = entry.make(kernel_of(entry.folder), False, {"dtype": DTYPE, "device": "cuda"})
    error = difference(ours(), torchs())
    if error > 0.02:
        raise SystemExit(
            f"{name}: differs from torch's operation by {error:.3g} of its largest value; nothing is timed"
        )
    ms, torch_ms = median_ms(ours), median_ms(torchs)
    share, faster = bytes_ / ms / bandwidth, torch_ms / ms
    reached = share if entry.against == "bandwidth" else faster
    # Nothing may be slower than eager, but FlashAttention is put beside a fused kernel of the vendor's.
    holds = reached >= entry.at_least and (faster >= 1 or entry.against == "torch")
    return Found(name, ms, torch_ms, share, faster, f"≥ {entry.at_least} of {entry.against}", holds)


def check_small(names: list[str]) -> None:
    for name in names:
        torch.manual_seed(0)
        entry = ENTRIES[name]
        ours, torchs, _ = entry.make(kernel_of(entry.folder), True, {"dtype": SMALL, "device": "cpu"})
        error = difference(ours(), torchs())
        print(f"{name:<18} differs from torch by {error:.1e} of its largest value")
        if error > 1e-4:
            raise SystemExit(f"{name} is wrong")


def main() -> None:
    parser = argparse.ArgumentParser(description="Reference kernels against torch and the limits of this GPU.")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help=", ".join(ENTRIES))
    parser.add_argument("--small", action="store_true", help="correctness alone, in Triton's interpreter")
    asked = parser.parse_args()
    names = asked.kernels or list(ENTRIES)
    if unknown := [name for name in names if name not in ENTRIES]:
        parser.error(f"there is no kernel {unknown[0]}; there are {', '.join(ENTRIES)}")
    if asked.small:
        return check_small(names)
    if not torch.cuda.is_available():
        raise SystemExit("there is no GPU here; --small checks what can be checked without one")
    bandwidth, device = copy_bandwidth(), torch.cuda.get_device_name()
    print(f"{device}, torch {torch.__version__}, copy {bandwidth / 1e6:.0f} GB/s")
    found = [measure(name, ENTRIES[name], bandwidth) for name in names]
    for row in found:
        verdict = "holds" if row.holds else "UNDER"
        limits = f"{row.of_bandwidth:5.2f} of bandwidth  {row.against_torch:5.2f} × torch"
        print(f"{verdict}  {row.kernel:<18} {row.ms:8.3f} ms  {limits}  ({row.due})")
    results = ROOT / "benchmarks" / "results"
    results.mkdir(exist_ok=True)
    said = {
        "device": device,
        "torch": torch.__version__,
        "copy_gb_s": bandwidth / 1e6,
        "rows": [asdict(r) for r in found],
    }
    name = f"gpu-{device.lower().replace(' ', '-')}.json"
    (results / name).write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
