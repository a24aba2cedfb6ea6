"""Compiles what a kernel.py launches for a GPU that is not there: `python compile_without_gpu.py [--quick] FOLDER...`.

Triton's wheel brings the assembler. The judge's cases are put to a kernel whose launches stop after they are compiled,
for an A100 and an H100, forward and backward; each line says the kernel, its types, and the shared memory it takes.
`--quick` is for an H100, in bfloat16, and of the first case alone that launches anything.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import yaml
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import JITFunction

from attncli.judge.asking.exam import Exam
from attncli.judge.asking.questions import Gradients
from attncli.judge.cases.case import Case
from attncli.judge.cases.drawing import fixed_draw
from attncli.judge.cases.make_recording import Recorder
from attncli.judge.cases.profiles import profile_of
from attncli.judge.cases.trusted_files import Folder
from attncli.judge.cases.turns import Turn
from attncli.judge.truth.reference import as_given, run_reference

# How much shared memory a program may take there.
TARGETS = {80: 163 << 10, 90: 227 << 10}
PROFILES = ("ordinary", "bf16", "float64")
BRANCHES = 4  # by turns of the largest and of the smallest sizes
# What kernels offer beside the entry points of their challenge, or what the first cases of these leave out.
BESIDE: dict[str, Callable[[Any, torch.dtype], Any]] = {
    "int8-quant": lambda kernel, dtype: kernel.int8_matmul(
        torch.ones(65, 96, dtype=dtype), *kernel.quantize_int8(torch.ones(80, 96), 0, False)
    ),
    "int4-group-quant": lambda kernel, dtype: kernel.int4_matmul(
        torch.ones(65, 96, dtype=dtype), *kernel.quantize_int4(torch.ones(80, 96), 32)
    ),
    "nf4": lambda kernel, dtype: kernel.nf4_dequantize(*kernel.nf4_quantize(torch.ones(3, 128)), dtype),
    "linear-attention": lambda kernel, dtype: kernel.linear_attention(*torch.ones(3, 1, 2, 40, 64, dtype=dtype), True),
    "mla": lambda kernel, dtype: kernel.AbsorbedAttention.apply(
        *(torch.ones(2, 20, width, dtype=dtype) for width in (512, 64, 512, 64)), 0.1
    ),
    "paged-kv": lambda kernel, dtype: kernel.paged_attention(
        torch.ones(2, 8, 64, dtype=dtype),
        *torch.ones(2, 9, 16, 2, 64, dtype=dtype),
        torch.zeros(2, 4, dtype=torch.int32),
        torch.ones(2, dtype=torch.int32),
    ),
    "split-kv-decode": lambda kernel, dtype: kernel.split_kv_decode(
        torch.ones(2, 8, 64, dtype=dtype), *torch.ones(2, 2, 2, 100, 64, dtype=dtype), 4
    ),
}


class NoDevice:
    """What Triton asks of a driver until it launches."""

    def __init__(self, capability: int) -> None:
        self.capability = capability

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self.capability, 32)

    def get_current_device(self) -> int:
        return self.capability

    def get_current_stream(self, device: int) -> int:
        return 0


class Launches:
    """Takes the place of a launch: compiles, and notes what came of it."""

    def __init__(self) -> None:
        self.compiled: dict[str, Any] = {}

    def run(self, function: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        kernel = _run(function, *args, grid=grid, warmup=True, **kwargs)
        types = ",".join(sorted({str(a.dtype).removeprefix("torch.") for a in args if isinstance(a, torch.Tensor)}))
        self.compiled[f"{function.__name__} {types} {kernel.hash[:8]}"] = kernel
        return kernel


_run = JITFunction.run


def cases(folder: Folder, quick: bool) -> Iterator[Case]:
    """The largest drawn case and the smallest in some branches, in each profile."""
    for name in PROFILES[1:2] if quick else PROFILES:
        for number in range(BRANCHES):
            recorder = Recorder(fixed_draw, profile_of(name, folder.facts), declared=folder.declared)
            sizes = {axis: size[0 if number % 2 else -1] for axis, size in folder.facts.sizes.items()}
            recorder.begin(Turn(number=number, sizes=sizes))
            folder.inputs.case(recorder)
            yield recorder.case


def compile_all(path: Path, capability: int, quick: bool) -> dict[str, Any]:
    """The kernels that the cases of a challenge launch on a GPU of this capability."""
    driver.set_active(NoDevice(capability))
    launches = Launches()
    JITFunction.run = lambda function, *args, **kwargs: launches.run(function, *args, **kwargs)
    module = ModuleType(f"kernel_{path.name.replace('-', '_')}_{capability}")
    module.__file__ = str(path / "kernel.py")
    sys.modules[module.__name__] = module
    exec(compile((path / "kernel.py").read_bytes(), module.__file__, "exec"), module.__dict__)
    folder = Folder(yaml.safe_load((path / "challenge.yaml").read_text(encoding="utf-8")), path)
    exam = Exam(folder, 0)
    seen: set[str] = set()
    for case in cases(folder, quick):
        if quick and case.profile.name in seen:
            continue
        before = len(launches.compiled)
        request = Gradients(exam.demands, case).request if folder.facts.gradients else None
        leaves, vectors = (request.leaves, request.cotangents) if request else ((), None)
        run_reference(vars(module), case, as_given, leaf_indices=leaves, cotangents=vectors)
        if len(launches.compiled) > before:
            seen.add(case.profile.name)
    for dtype in (torch.bfloat16, torch.float32)[: 1 if quick else 2] if path.name in BESIDE else ():
        BESIDE[path.name](module, dtype)
    return launches.compiled


def main(arguments: list[str]) -> None:
    quick = "--quick" in arguments
    for path in (Path(argument) for argument in arguments if argument != "--quick"):
        for capability, most in list(TARGETS.items())[1 if quick else 0 :]:
            compiled = compile_all(path, capability, quick)
            assert compiled, f"{path.name} launches nothing"
            for name, kernel in compiled.items():
                shared = kernel.metadata.shared
                print(f"{path.name} sm_{capability} {name}: {shared} bytes shared, {kernel.metadata.num_warps} warps")
                assert shared <= most, f"more than {most} bytes of shared memory"


if __name__ == "__main__":
    main(sys.argv[1:])
