"""The stand-in for torch's compiler: what looks through the loaded modules does not load it."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import torch
from attncli.sandbox.compiler import postpone_compiler
postpone_compiler()
assert not hasattr(torch._dynamo, "__file__")
torch.testing.assert_close(torch.ones(1), torch.ones(1))
"""


@pytest.mark.slow
def test_the_first_comparison_works_while_the_compiler_is_postponed() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
