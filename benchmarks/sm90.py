"""Show the machine code of every kernel for an H100, on a machine without a GPU.

    python benchmarks/sm90.py [KERNEL...] [--out FILE] [--before FILE]

It compiles the calls that `gpu.py` times, at full size in bfloat16, and their backward passes. Tensors have a shape and
no memory, and a launch ends once its kernel is compiled. `ptxas` and `cuobjdump` come with Triton's wheel. The columns:

- regs, spills: registers a thread; loads and stores of local memory, where registers did not suffice;
- shared, blocks: KiB of shared memory; blocks that fit on a multiprocessor by registers, shared memory and warps;
- wgmma, mma: instructions of the tensor cores, by a warpgroup or by a warp (half the speed on an H100);
- FMA: scalar multiply-adds in float32, slow where a matrix product is meant;
- wide, narrow: reads and writes of global memory by 128 bits and by less;
- barriers, loops: barriers of a block, and instructions, in each innermost loop in the order of the code;
- divisions: 64-bit divisions, about 100 instructions each, and how many of them in loops;
- scattered: reads and writes of a tile whose threads may run along a longer stride: each takes a single number, or the
  tile has more than two axes, among which releases of Triton choose differently;
- repeated: whether warps compute the same rows of a product, as the tile has fewer than 16 rows a warp.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import JITFunction

from gpu_kernels import ENTRIES, Entry

ROOT = Path(__file__).resolve().parent.parent
TOOL = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
REGISTERS, SHARED_BYTES, WARPS = 65536, 227 << 10, 64  # of a multiprocessor
DIVISION = r"\b(?:div|rem)\.[su]64\b"


@dataclass(frozen=True, slots=True)
class Code:
    """Machine code of one kernel: counts of instructions unless a unit is named."""

    registers: int
    spills: int
    warps: int
    shared_bytes: int
    blocks: int
    wgmma: int
    mma: int
    scalar_fma: int
    wide: int
    narrow: int
    barriers: int
    loop_instructions: list[int]
    loop_barriers: list[int]
    divisions: int
    loop_divisions: int
    scattered: int
    repeated_rows: bool


class NoDevice:
    """Stand in for Triton's driver until a launch."""

    def __init__(self, capability: int) -> None:
        self.capability = capability

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self.capability, 32)

    def get_current_device(self) -> int:
        return self.capability

    def get_current_stream(self, device: int) -> int:
        return 0


class Launches:
    """Replace every launch by a compilation for one capability, and keep the results by kernel and dtypes."""

    def __init__(self, capability: int = 90) -> None:
        self.compiled: dict[str, Any] = {}
        driver.set_active(NoDevice(capability))
        JITFunction.run = lambda function, *args, **kwargs: self.run(function, *args, **kwargs)  # type: ignore[method-assign]

    def run(self, function: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        kernel = _run(function, *args, grid=grid, warmup=True, **kwargs)
        types = ",".join(sorted({str(a.dtype).removeprefix("torch.") for a in args if isinstance(a, torch.Tensor)}))
        self.compiled[f"{function.__name__} {types} {kernel.hash[:8]}"] = kernel
        return kernel


_run = JITFunction.run


def load(folder: Path, capability: int = 90) -> ModuleType:
    """Run a kernel.py as a module with a unique name, since Triton reads its source again."""
    module = ModuleType(f"kernel_{folder.name.replace('-', '_')}_{capability}")
    module.__file__ = str(folder / "kernel.py")
    sys.modules[module.__name__] = module
    exec(compile((folder / "kernel.py").read_bytes(), module.__file__, "exec"), module.__dict__)
    return module


def compile_entry(entry: Entry) -> dict[str, Code]:
    """Compile the launches of an entry's call, and of its backward pass if it has one."""
    launches, module = Launches(), load(ROOT / "impl" / entry.folder)
    work = entry.work("full", {"device": "meta", "dtype": torch.bfloat16})
    differentiable = any(isinstance(x, type) and issubclass(x, torch.autograd.Function) for x in vars(module).values())
    for x in work.args if differentiable else ():
        if isinstance(x, torch.Tensor) and x.is_floating_point():
            x.requires_grad_()
    outputs = work.call(module, *work.args)
    first = outputs if isinstance(outputs, torch.Tensor) else outputs[0]
    if first.requires_grad:
        first.backward(torch.empty_like(first))
    return {name.split()[0]: read(kernel) for name, kernel in launches.compiled.items()}


def read(kernel: Any) -> Code:
    """Count the instructions of a compiled kernel."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(kernel.asm["cubin"])
        file.flush()
        usage, sass = (
            subprocess.run([TOOL, option, file.name], capture_output=True, text=True, check=True).stdout
            for option in ("-res-usage", "-sass")
        )
    found = re.search(r"REG:(\d+)", usage)
    assert found, usage
    registers, warps, shared = int(found[1]), kernel.metadata.num_warps, kernel.metadata.shared
    code = instructions(sass)
    loops = [[text for at, text in code if begin <= at <= end] for begin, end in innermost_loops(code)]
    everything = [text for _, text in code]
    accesses = [text for text in everything if re.match(r"(LDG|STG|LDGSTS)\b", text)]
    wide = count(accesses, r"[A-Z]+\S*\.128\b")
    return Code(
        registers=registers,
        spills=count(everything, r"(LDL|STL)\b"),
        warps=warps,
        shared_bytes=shared,
        blocks=blocks(registers, shared, warps),
        wgmma=count(everything, r"HGMMA\b"),
        mma=count(everything, r"(HMMA|IMMA|DMMA)\b"),
        scalar_fma=count(everything, r"FFMA\b"),
        wide=wide,
        narrow=len(accesses) - wide,
        barriers=count(everything, r"BAR\.SYNC"),
        loop_instructions=[len(loop) for loop in loops],
        loop_barriers=[count(loop, r"BAR\.SYNC") for loop in loops],
        divisions=len(re.findall(DIVISION, kernel.asm["ptx"])),
        loop_divisions=divisions_in_loops(kernel.asm["ptx"]),
        scattered=scattered_accesses(kernel.asm["ttgir"]),
        repeated_rows=repeats_rows(kernel.asm["ttgir"]),
    )


def blocks(registers: int, shared: int, warps: int) -> int:
    """Count the blocks on a multiprocessor. Registers come by 8 a thread; each block needs 1 KiB more shared memory."""
    by_registers = REGISTERS // (-(-registers // 8) * 8 * 32 * warps)
    return min(by_registers, SHARED_BYTES // (shared + 1024), WARPS // warps)


def instructions(sass: str) -> list[tuple[int, str]]:
    """Return each instruction with its address, without its predicate."""
    lines = re.findall(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][^;]*);", sass)
    return [(int(at, 16), text) for at, text in lines if not text.startswith("NOP")]


def innermost_loops(code: Sequence[tuple[int, str]]) -> list[tuple[int, int]]:
    """Return the first and last address of each innermost loop, found by its backward branch."""
    ends: dict[int, int] = {}
    for at, text in code:
        target = re.match(r"BRA\S*\s.*?0x([0-9a-f]+)", text)
        if target and int(target[1], 16) < at:
            ends[int(target[1], 16)] = at
    loops = sorted(ends.items())
    return [(a, b) for a, b in loops if not any((c, d) != (a, b) and a <= c and d <= b for c, d in loops)]


def count(texts: Sequence[str], pattern: str) -> int:
    return sum(re.match(pattern, text) is not None for text in texts)


def divisions_in_loops(ptx: str) -> int:
    """Count 64-bit divisions and remainders between a label and a branch back to it."""
    lines = ptx.splitlines()
    labels = {line.split(":")[0].strip(): at for at, line in enumerate(lines) if re.match(r"\s*\$\S+:", line)}
    inside: set[int] = set()
    for at, line in enumerate(lines):
        target = re.search(r"\bbra\S*\s+(\$\w+)", line)
        if target and labels.get(target[1], at) < at:
            inside |= set(range(labels[target[1]], at))
    return sum(re.search(DIVISION, lines[at]) is not None for at in inside)


def scattered_accesses(ttgir: str) -> int:
    """Count reads and writes of tiles with over 255 numbers, by one number a thread or with more than two axes."""
    layouts = {
        name: json.loads(sizes)[json.loads(order)[0]]
        for name, sizes, order in re.findall(
            r"(#\w+) = #ttg\.blocked<\{sizePerThread = (\[[^]]*\]),.*?order = (\[[^]]*\])", ttgir
        )
    }
    access = r"(?:tt\.load|tt\.store|async_copy_global_to_local) .*: tensor<((?:\d+x)+)!tt\.ptr<\w+>, (#\w+)>"
    tiles = [([int(n) for n in shape.split("x")[:-1]], name) for shape, name in re.findall(access, ttgir)]
    large = [(len(shape), layouts.get(name)) for shape, name in tiles if math.prod(shape) >= 256]
    return sum(axes > 2 or (axes == 2 and run == 1) for axes, run in large)


def repeats_rows(ttgir: str) -> bool:
    """Return True if a tensor-core product has more warps along its rows than the rows need."""
    warps = {name: int(n) for name, n in re.findall(r"(#\w+) = #ttg\.nvidia_mma<\{[^>]*warpsPerCTA = \[(\d+)", ttgir)}
    products = re.findall(r"(?:tt\.dot|warp_group_dot) .*-> tensor<(\d+)x\d+x\w+, (#\w+)>", ttgir)
    return any(16 * warps.get(name, 0) > int(size) for size, name in products)


HEADS = "regs spills warps shared blocks wgmma mma FMA wide narrow scattered repeated divisions barriers loops".split()


def cells(code: Code) -> list[str]:
    return [
        *map(str, (code.registers, code.spills, code.warps, f"{code.shared_bytes / 1024:.0f}", code.blocks)),
        *map(str, (code.wgmma, code.mma, code.scalar_fma, code.wide, code.narrow, code.scattered)),
        "yes" if code.repeated_rows else "no",
        f"{code.divisions} ({code.loop_divisions})",
        f"{code.barriers} ({'+'.join(map(str, code.loop_barriers))})",
        "+".join(map(str, code.loop_instructions)),
    ]


def rows(name: str, code: Code, before: dict[str, Any]) -> Iterator[str]:
    """Print a kernel as a row, below its earlier row."""
    if name in before and Code(**before[name]) != code:
        yield "| " + " | ".join([name, "before", *cells(Code(**before[name]))]) + " |"
    yield "| " + " | ".join([name, "now", *cells(code)]) + " |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help=f"any of {', '.join(ENTRIES)}")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/sm90.json")
    parser.add_argument("--before", type=Path, help="an earlier result to print beside this one")
    options = parser.parse_args(arguments)
    before = json.loads(options.before.read_text()) if options.before else {}
    saved = json.loads(options.out.read_text()) if options.kernels and options.out.exists() else {}
    print(f"| kernel | {' | '.join(['', *HEADS])} |\n|{' --- |' * (len(HEADS) + 2)}", flush=True)
    for entry in options.kernels or ENTRIES:
        for function, code in compile_entry(ENTRIES[entry]).items():
            saved[f"{entry} {function}"] = asdict(code)
            print(*rows(f"{entry} {function}", code, before), sep="\n", flush=True)
        options.out.write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
