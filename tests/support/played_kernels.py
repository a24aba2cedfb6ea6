"""A kernel challenge without Triton: the file itself counts a kernel's loads and stores, like the watch of the
interpreter; on the fake device nothing is counted."""

from pathlib import Path

from attncli.judge.challenge import Folder
from in_process import write_challenge

REFERENCE = "def total(x):\n    return x.sum(0)\n"
INPUTS = """
def case(make):
    make.call("total", make.normal(make.size(2, 5), 2))

def longer(make, size):
    make.call("total", make.normal(size, 2))

CONTRACTS = [
    {"check": "work", "measure": "moved", "case": longer, "sizes": (8, 16, 32), "growth_at_most": 1.05,
     "bound": lambda size: 8.0 * size, "says": {"en": "reads each row once", "zh": "每行只读一次"}},
]
"""
SPEC = {"id": "total", "kernel": True, "entry": ["total"], "forbidden": []}
REQUIRED = ["loads", "matches-reference", "pure", "work"]
KERNEL = """
from attncli.sandbox.tracing import Traffic

def total(x):
    Traffic.moved += {moved}
    return x.sum(0)
"""
FRUGAL, GREEDY = KERNEL.format(moved="8 * len(x)"), KERNEL.format(moved="8 * len(x) ** 2")
# Right on the played device alone, whose tensors say "meta".
RIGHT_THERE = "def total(x):\n    return x.sum(0) if x.device.type == 'meta' else x.sum(0) + 1\n"
WRONG = '"""Takes another way on the CPU.\n在 CPU 上走另一条路。\n\nrung: solved\n"""\n'


def write_kernels(root: Path, wrong: str = RIGHT_THERE, kernel: str = FRUGAL) -> Folder:
    folder = write_challenge(root, {**SPEC, "required": REQUIRED}, REFERENCE, INPUTS, {"there": WRONG + wrong})
    (root / "kernel.py").write_text(kernel, encoding="utf-8")
    return folder
