"""Time the reference kernels on a GPU beside torch's own operations and the device limits.

    python benchmarks/gpu.py [KERNEL...] [--minutes 6] [--out DIR]
    python benchmarks/gpu.py --small [KERNEL...] [--out DIR]     no GPU: correctness in Triton's interpreter

Each row is printed and appended to DIR/rows.jsonl at once, so an interrupted run loses nothing. An error in one
kernel costs only its row. DIR/conditions.json records the machine and the versions.

Correctness comes first: sizes that divide no tile, fresh memory filled with NaN, and the challenge's reference in
float64 as the oracle. Wrong kernels are not timed. Then come two rounds of queued runs, each timed by device events
after a cache flush, which also hides the launch. A row gives the median of each round and the spread of all runs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"

import triton
from torch import Tensor

from gpu_kernels import ENTRIES, Entry, Like, Outputs, Size, Work

ROOT = Path(__file__).resolve().parent.parent
RUNS, WARM_UP, ROUNDS = 30, 5, 2
FLUSHED_BYTES = 1 << 30
LIMITS = {torch.bfloat16: 0.02, torch.float32: 1e-4}
"""The largest error that a result may have, as a share of the oracle's largest value."""
AS_FAST = 0.97
"""A kernel at this share of the eager form's speed counts as not slower: less is within the spread of a run."""


@dataclass(slots=True)
class Row:
    """Results of one kernel. `status` is holds, under, measured (no goal), right (not timed), failed or skipped.

    Milliseconds are medians; `spread` is the distance between the 10th and the 90th percentile over the median.
    """

    kernel: str
    status: str
    reason: str = ""
    error: float | None = None
    ms: list[float] = field(default_factory=list)
    spread: float | None = None
    rivals_ms: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    of_bandwidth: float | None = None
    tflops: float | None = None
    reached: float | None = None
    goal: str = ""

    def line(self) -> str:
        told = [f"{self.status:<9} {self.kernel:<26}"]
        if self.error is not None:
            told.append(f"error {self.error:.1e}")
        if self.ms:
            told.append(f"{' / '.join(f'{ms:.4f}' for ms in self.ms)} ms ±{self.spread:.0%}")
        if self.of_bandwidth is not None:
            told.append(f"{self.of_bandwidth:.2f} of bandwidth")
        if self.tflops is not None:
            told.append(f"{self.tflops:.0f} TFLOP/s")
        told += [f"{ms / min(self.ms):.2f} × {name}" for name, ms in self.rivals_ms.items()]
        return "  ".join([*told, *filter(None, [self.goal, self.reason])])


class Failed(Exception):
    """Raised when a kernel is wrong."""


def module_of(folder: str, name: str) -> ModuleType:
    """Load `kernel.py` or `reference.py` of a challenge."""
    path = ROOT / "impl" / folder / name
    module = ModuleType(f"measured_{folder}_{path.stem}".replace("-", "_").replace("/", "_"))
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    return module


def as_tuple(outputs: Outputs) -> tuple[Tensor, ...]:
    return outputs if isinstance(outputs, tuple) else (outputs,)


def check(entry: Entry, size: Size, like: Like) -> float:
    """Compare the kernel with the reference in float64; return the largest error. Raises Failed if it is too large."""
    if entry.check_dtype is not None and like["dtype"] != torch.float32:
        like = {**like, "dtype": entry.check_dtype}
    torch.manual_seed(0)
    work = entry.work(size, like)
    wide = [x.double() if isinstance(x, Tensor) and x.is_floating_point() else x for x in work.args]
    truths = as_tuple(work.call(module_of(entry.folder, "reference.py"), *wide))
    with PoisonedMemory():
        results = as_tuple(work.call(module_of(entry.folder, "kernel.py"), *work.args))
    worst = 0.0
    for result, truth in zip(results, truths, strict=True):
        if result.shape != truth.shape:
            raise Failed(f"shape {tuple(result.shape)}, expected {tuple(truth.shape)}")
        error = float((result.double() - truth.double()).abs().max() / truth.double().abs().max())
        if not error <= LIMITS[like["dtype"]]:  # also false for NaN
            raise Failed(f"off by {error:.3g} of the largest value; at most {LIMITS[like['dtype']]}")
        worst = max(worst, error)
    return worst


class PoisonedMemory:
    """Fill the memory of torch.empty with NaN, so that unwritten results are detected."""

    def __enter__(self) -> None:
        self.filled = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
        warnings.filterwarnings("ignore", message=".*deterministic.*")
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]

    def __exit__(self, *_: object) -> None:
        torch.use_deterministic_algorithms(False)
        torch.utils.deterministic.fill_uninitialized_memory = self.filled  # type: ignore[attr-defined]


def timed(call: Callable[[], Any], flush: bool = True) -> list[float]:
    """Return the milliseconds of each of RUNS runs; all are queued before the first synchronisation."""
    flushed = torch.empty(FLUSHED_BYTES, dtype=torch.uint8, device="cuda") if flush else None
    for _ in range(WARM_UP):
        call()
    events = []
    for _ in range(RUNS):
        if flushed is not None:
            flushed.zero_()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        events.append((begin, end))
    torch.cuda.synchronize()
    return [begin.elapsed_time(end) for begin, end in events]


def copy_bandwidth() -> float:
    """Return the bytes per millisecond that a large copy reads and writes."""
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.nbytes / statistics.median(timed(lambda: target.copy_(source), flush=False))


def measure(name: str, entry: Entry, bandwidth: float) -> Row:
    """Check a kernel at odd sizes, time it and its rivals at full size, and compare it with its goal."""
    like = {"dtype": torch.bfloat16, "device": "cuda"}
    row = Row(name, "measured", error=check(entry, "odd", like))
    work = entry.work("full", like)
    kernel, reference = (module_of(entry.folder, f"{file}.py") for file in ("kernel", "reference"))
    ours = lambda: work.call(kernel, *work.args)  # noqa: E731
    rivals = {what: (lambda rival=rival: rival(*work.args)) for what, rival in work.rivals.items()}
    if not rivals and entry.folder.startswith("kernels/"):
        rivals = {"eager": lambda: work.call(reference, *work.args)}
    rivals = {what: rival for what, rival in rivals.items() if _runs(what, rival, row)}
    rounds = []
    for _ in range(ROUNDS):
        rounds.append(timed(ours))
        for what, rival in rivals.items():
            ms = statistics.median(timed(rival))
            row.rivals_ms[what] = min(ms, row.rivals_ms.get(what, ms))
    row.ms = [statistics.median(each) for each in rounds]
    deciles = statistics.quantiles([ms for each in rounds for ms in each], n=10)
    row.spread = (deciles[-1] - deciles[0]) / statistics.median(row.ms)
    _judge(row, entry, work, bandwidth)
    return row


def _runs(what: str, rival: Callable[[], Any], row: Row) -> bool:
    """Call a rival once and return True; if torch refuses these inputs, note it in the row and return False."""
    try:
        rival()
        torch.cuda.synchronize()
    except Exception as error:  # noqa: BLE001 - torch raises any exception when a backend has no kernel
        row.refused[what] = _short(error)
        return False
    return True


def _judge(row: Row, entry: Entry, work: Work, bandwidth: float) -> None:
    ms = min(row.ms)
    if work.moved_bytes:
        row.of_bandwidth = work.moved_bytes / ms / bandwidth
    if work.flops:
        row.tflops = work.flops / ms / 1e9
    if entry.goal is None:
        return
    row.goal = f"goal {entry.goal} of {entry.against}"
    if entry.against == "bandwidth":
        row.reached = row.of_bandwidth
        slower = [what for what, other in row.rivals_ms.items() if other / ms < AS_FAST]
    else:
        row.reached = row.rivals_ms[entry.against] / ms if entry.against in row.rivals_ms else None
        slower = []
    if row.reached is None:
        row.reason = f"torch has no {entry.against} here"
        return
    row.status = "holds" if row.reached >= entry.goal and not slower else "under"
    row.reason = f"slower than {', '.join(slower)}" if slower else ""


def measure_compiled(name: str, entry: Entry) -> Row:
    """Time torch.compile of the eager form beside the kernel."""
    like = {"dtype": torch.bfloat16, "device": "cuda"}
    work = entry.work("full", like)
    compiled, kernel = torch.compile(work.rivals["eager"]), module_of(entry.folder, "kernel.py")
    row = Row(f"{name}, torch.compile", "measured")
    rounds = [timed(lambda: work.call(kernel, *work.args)) for _ in range(ROUNDS)]
    row.ms = [statistics.median(each) for each in rounds]
    row.spread = 0.0
    row.rivals_ms["torch.compile"] = statistics.median(timed(lambda: compiled(*work.args)))
    return row


def check_small(name: str, entry: Entry) -> Row:
    return Row(name, "right", error=check(entry, "small", {"dtype": torch.float32, "device": "cpu"}))


def attempt(name: str, make: Callable[[], Row]) -> Row:
    """Return the row, or a failed one with the reason."""
    try:
        return make()
    except Exception as error:  # noqa: BLE001 - the other kernels must still run
        return Row(name, "failed", reason=_short(error))


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def device_is_lost() -> bool:
    """Return True if the device fails: after an illegal access every later call of this process fails too."""
    try:
        torch.cuda.synchronize()
    except Exception:  # noqa: BLE001 - any exception means that the device is lost
        return True
    return False


def conditions() -> dict[str, Any]:
    """Return the versions and device settings behind the figures; a missing program leaves its entry empty."""
    said: dict[str, Any] = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _said_by("git", "-C", str(ROOT), "rev-parse", "HEAD"),
        "python": sys.version.split()[0],
        "torch": torch.__version__,
        "triton": triton.__version__,
    }
    if torch.cuda.is_available():
        wanted = "name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.limit,temperature.gpu"
        properties = torch.cuda.get_device_properties(0)
        said |= {
            "device": torch.cuda.get_device_name(),
            "capability": list(torch.cuda.get_device_capability()),
            "memory_gib": round(properties.total_memory / 2**30, 1),
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(),
            "nvidia_smi": {"asked": wanted, "said": _said_by("nvidia-smi", f"--query-gpu={wanted}", "--format=csv")},
        }
    return said


def _said_by(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


class Results:
    """The files of one run; each row is written before the next kernel starts."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.conditions, self.rows = folder / "conditions.json", folder / "rows.jsonl"

    def start(self, said: dict[str, Any]) -> None:
        self.conditions.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")
        self.rows.write_text("", encoding="utf-8")

    def add(self, row: Row) -> None:
        with self.rows.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row)) + "\n")
            file.flush()
            os.fsync(file.fileno())
        print(row.line(), flush=True)

    def kernels(self) -> set[str]:
        """Return the names of the kernels that have a row."""
        lines = self.rows.read_text(encoding="utf-8").splitlines() if self.rows.exists() else []
        return {json.loads(line)["kernel"] for line in lines}


def steps(names: Sequence[str], small: bool, bandwidth: float) -> Iterator[tuple[str, Callable[[], Row]]]:
    """Yield (name, function that makes the row) in order of importance; torch.compile rows come last."""
    for name in names:
        entry = ENTRIES[name]
        make = check_small if small else lambda name, entry: measure(name, entry, bandwidth)
        yield name, lambda name=name, entry=entry, make=make: make(name, entry)
    for name in names:
        if ENTRIES[name].compiled and not small:
            yield f"{name}, torch.compile", lambda name=name: measure_compiled(name, ENTRIES[name])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Reference kernels against torch and the limits of this GPU.")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help=", ".join(ENTRIES))
    parser.add_argument("--small", action="store_true", help="correctness alone, in Triton's interpreter")
    parser.add_argument("--minutes", type=float, default=6.0, help="no kernel is started after these (default 6)")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "gpu", metavar="DIR")
    parser.add_argument("--until", type=float, help=argparse.SUPPRESS)  # continues a run that lost its device
    asked = parser.parse_args()
    if unknown := [name for name in asked.kernels if name not in ENTRIES]:
        parser.error(f"there is no kernel {unknown[0]}; there are {', '.join(ENTRIES)}")
    return asked


def main() -> int:
    asked = arguments()
    if not asked.small and not torch.cuda.is_available():
        print("there is no GPU here; --small checks what can be checked without one", file=sys.stderr)
        return 3
    results = Results(asked.out)
    until = asked.until or time.time() + asked.minutes * 60
    bandwidth = 0.0 if asked.small else copy_bandwidth()
    if asked.until is None:
        said = conditions() | ({} if asked.small else {"copy_gb_s": round(bandwidth / 1e6, 1)})
        results.start(said)
        print("  ".join(f"{key} {value}" for key, value in said.items() if key != "nvidia_smi"), flush=True)
    done, failed = results.kernels(), False
    for name, make in steps(asked.kernels or list(ENTRIES), asked.small, bandwidth):
        if name in done:
            continue
        if time.time() > until:
            row = Row(name, "skipped", reason="out of time")
        else:
            row = attempt(name, make)
        results.add(row)
        failed = failed or row.status == "failed"
        if row.status == "failed" and not asked.small and device_is_lost():
            again = [sys.executable, *sys.argv, *([] if asked.until else ["--until", str(until)])]
            os.execv(sys.executable, again)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
