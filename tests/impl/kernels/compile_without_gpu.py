"""Compile the launches of a kernel.py for an absent GPU: `python compile_without_gpu.py FOLDER...`.

Triton's wheel contains the assembler. A kernel gets the judge's cases, and each launch stops after compilation, for an
A100 and an H100, forward and backward. Each line has the kernel, its types, and the shared memory it takes.
`benchmarks/sm90.py` compiles the sizes that are timed, and a test runs that.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import yaml

from attncli.judge.case import Case, Turn, profile_of
from attncli.judge.challenge import Folder
from attncli.judge.drawing import fixed_draw
from attncli.judge.exam import Exam
from attncli.judge.make import Recorder
from attncli.judge.questions import Gradients
from attncli.judge.reference import as_given, run_reference

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))
from sm90 import Launches, load

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


def cases(folder: Folder) -> Iterator[Case]:
    """Yield the largest drawn case and the smallest in some branches, in each profile."""
    for name in PROFILES:
        for number in range(BRANCHES):
            recorder = Recorder(fixed_draw, profile_of(name, folder.facts), declared=folder.declared)
            sizes = {axis: size[0 if number % 2 else -1] for axis, size in folder.facts.sizes.items()}
            recorder.begin(Turn(number=number, sizes=sizes))
            folder.inputs.case(recorder)
            yield recorder.case


def compile_all(path: Path, capability: int) -> dict[str, Any]:
    """Return the kernels that the cases of a challenge launch on a GPU of this capability."""
    launches, module = Launches(capability), load(path, capability)
    folder = Folder(yaml.safe_load((path / "challenge.yaml").read_text(encoding="utf-8")), path)
    exam = Exam(folder, 0)
    for case in cases(folder):
        request = Gradients(exam.folder, case).request if folder.facts.gradients else None
        leaves, vectors = (request.leaves, request.cotangents) if request else ((), None)
        run_reference(vars(module), case, as_given, leaf_indices=leaves, cotangents=vectors)
    for dtype in (torch.bfloat16, torch.float32) if path.name in BESIDE else ():
        BESIDE[path.name](module, dtype)
    return launches.compiled


def main(arguments: list[str]) -> None:
    for path in (Path(argument) for argument in arguments):
        for capability, most in TARGETS.items():
            compiled = compile_all(path, capability)
            assert compiled, f"{path.name} launches nothing"
            for name, kernel in compiled.items():
                shared = kernel.metadata.shared
                print(f"{path.name} sm_{capability} {name}: {shared} bytes shared, {kernel.metadata.num_warps} warps")
                assert shared <= most, f"more than {most} bytes of shared memory"


if __name__ == "__main__":
    main(sys.argv[1:])
