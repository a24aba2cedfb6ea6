"""Check the H100 machine code of every kernel, forward and backward, as read by benchmarks/sm90.py."""

import importlib
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.impl.kernels.conftest import FOLDERS, IMPL

BENCHMARKS = IMPL.parent / "benchmarks"
FLASH = (
    *("flash-64", "flash-64-causal", "flash-128", "flash-backward-64", "flash-backward-128"),
    *("gqa", "varlen", "sliding-window"),
)
MEMORY_BOUND = ("softmax", "nf4-dequantise", "layer-norm", "rms-norm")
SPILLS = {
    "mla part_kernel": "16 heads of width 576 in one program, until figures choose another tile",
    "rope-interleaved rope_kernel": "sine and cosine of a large angle keep their reduction in local memory",
    "rope-half rope_kernel": "sine and cosine of a large angle keep their reduction in local memory",
}
"""Kernels that use local memory, with the reason; none of the flash family, nor softmax or NF4."""
DIVISIONS = {
    "paged-kv part_kernel": "the page of each token is found by a division",
    "moe weights_kernel": "the tile of an expert is found by a division",
}
"""Kernels with a 64-bit division in a loop, with the reason; none of the flash family, nor softmax or NF4."""

SCATTERED = {
    "linear-attention product_kernel": "a state of 32 × 16 float32, a small part of what it moves",
    "int4-matmul-kernel _int4_matmul": "a kernel to learn from: even and odd columns of x, as they are packed",
}
"""Kernels whose threads access single numbers of a tile, with the reason. RoPE was 7 times slower so on an H200."""

# Registers and instructions are a compiler's choice: the figures are those of the pinned one.
MEASURED = "3.7"
of_the_measured_compiler = pytest.mark.skipif(
    not version("triton").startswith(MEASURED), reason=f"the figures are those of Triton {MEASURED}"
)


pytestmark = [pytest.mark.slow, pytest.mark.full]


def run(folder: Path, *command: str) -> str:
    """Run a Python command for compiled kernels in the benchmarks' folder; return its output."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment["TRITON_CACHE_DIR"] = str(folder)
    command = (sys.executable, *command)
    done = subprocess.run(command, env=environment, cwd=BENCHMARKS, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout[-300:] + done.stderr[-1500:]
    return done.stdout


@cache
def compiled() -> dict[str, dict[str, Any]]:
    """Return the machine code of each kernel by "entry function"; compiled once for all tests here."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "sm90.json"
        run(Path(folder), "sm90.py", "--out", str(out))
        result: dict[str, dict[str, Any]] = json.loads(out.read_text())
    return result


@pytest.fixture
def sm90(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("sm90")


def of(entries: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    return {name: code for name, code in compiled().items() if name.split()[0] in entries}


def test_every_kernel_compiles_within_shared_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from gpu_kernels import ENTRIES

    assert {IMPL / ENTRIES[name.split()[0]].folder for name in compiled()} == set(FOLDERS)
    assert all(code["shared_bytes"] <= 227 << 10 for code in compiled().values())


def test_an_author_can_compile_a_kernel_for_every_dtype_and_both_targets(tmp_path: Path) -> None:
    script = Path(__file__).with_name("compile_without_gpu.py")
    printed = run(tmp_path, str(script), str(IMPL / "kernels" / "vector-add"))
    assert {line.split()[1] for line in printed.splitlines()} == {"sm_80", "sm_90"}


@of_the_measured_compiler
def test_no_kernel_spills_but_those_with_a_reason() -> None:
    assert {name for name, code in compiled().items() if code["spills"]} == set(SPILLS)


@of_the_measured_compiler
def test_no_kernel_divides_in_a_loop_but_those_with_a_reason() -> None:
    assert {name for name, code in compiled().items() if code["loop_divisions"]} == set(DIVISIONS)


def test_threads_run_along_the_memory_but_where_there_is_a_reason() -> None:
    """If two axes of a tile look alike, releases of Triton choose differently; this test passes for each release."""
    assert {name for name, code in compiled().items() if code["scattered"]} <= set(SCATTERED)


@of_the_measured_compiler
def test_the_flash_family_uses_warpgroups_on_rows_of_their_own() -> None:
    family = of(FLASH)
    assert len(family) >= 16
    for name, code in family.items():
        assert code["wgmma"] and not code["mma"] and not code["repeated_rows"], name
        assert max(code["loop_barriers"]) <= 2, name


@of_the_measured_compiler
def test_three_programs_of_width_64_fit_a_multiprocessor() -> None:
    assert compiled()["flash-64 forward_kernel"]["registers"] <= 168
    assert compiled()["flash-64-causal forward_kernel"]["registers"] <= 168


@of_the_measured_compiler
def test_memory_bound_kernels_move_128_bits() -> None:
    family = of(MEMORY_BOUND)
    assert len(family) >= 4
    for name, code in family.items():
        assert code["wide"] >= code["narrow"], name


def test_nf4_loads_16_bytes_a_thread_and_nothing_less(tmp_path: Path) -> None:
    """Both loads and stores; only the absmax of a block, one float32 number, is stored alone."""
    script = (
        "import json, sm90, torch\n"
        "launches, module = sm90.Launches(), sm90.load(sm90.ROOT / 'impl/quantisation/nf4')\n"
        "packed, absmax = module.nf4_quantize(torch.empty(8192, 8192, dtype=torch.bfloat16, device='meta'))\n"
        "module.nf4_dequantize(packed, absmax, torch.bfloat16)\n"
        "print(json.dumps({name.split()[0]: sm90.read(kernel).narrow for name, kernel in launches.compiled.items()}))\n"
    )
    assert json.loads(run(tmp_path, "-c", script)) == {"absmax_kernel": 1, "codes_kernel": 0, "back_kernel": 0}


def test_a_tile_is_scattered_where_a_thread_takes_one_number_or_there_are_more_than_two_axes(sm90: Any) -> None:
    layout = "#blocked = #ttg.blocked<{{sizePerThread = {}, threadsPerWarp = [16, 2], order = [0, 1]}}>\n"
    loads = "%u = tt.load %at, %in : tensor<16x64x!tt.ptr<bf16>, #blocked>\n"
    small = "tt.store %at, %u : tensor<8x4x!tt.ptr<f32>, #blocked>\ntt.load %p : tensor<512x!tt.ptr<f32>, #blocked>\n"
    assert sm90.scattered_accesses(layout.format([1, 8]) + loads + small) == 1
    assert sm90.scattered_accesses(layout.format([8, 1]) + loads + small) == 0
    four_axes = "tt.store %at, %z : tensor<4x16x8x8x!tt.ptr<bf16>, #blocked>\n"
    assert sm90.scattered_accesses(layout.format([8, 1]) + four_axes) == 1


def test_divisions_count_only_within_a_loop(sm90: Any) -> None:
    ptx = "div.s64 a;\n$L_1:\nrem.u64 b;\n@%p bra $L_1;\nrem.s64 c;\n@%p bra $L_2;\ndiv.s64 d;\n$L_2:\n"
    assert sm90.divisions_in_loops(ptx) == 1


def test_loops_are_the_innermost_ones(sm90: Any) -> None:
    sass = (
        "/*0010*/ MOV R1 ;\n/*0020*/ FADD R1 ;\n/*0030*/ @P0 BRA 0x20 ;\n/*0040*/ @!P1 BRA 0x10 ;\n/*0050*/ BRA 0x50;"
    )
    code = sm90.instructions(sass)
    assert [text.split()[0] for _, text in code] == ["MOV", "FADD", "BRA", "BRA", "BRA"]
    assert sm90.innermost_loops(code) == [(0x20, 0x30)]


def test_blocks_are_bounded_by_registers_and_shared_memory(sm90: Any) -> None:
    assert [sm90.blocks(r, 0, 4) for r in (168, 169)] == [3, 2]
    assert sm90.blocks(32, 100 << 10, 8) == 2
