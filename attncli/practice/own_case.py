"""A case of one's own: what the learner types, put to their file and to the reference. Nothing of it is recorded."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attncli.domain.challenge import Challenge
from attncli.domain.grade_report import Counterexample, GradeReport, ShownTensor
from attncli.judge.client import TryRequest
from attncli.practice.grade import read_submission, specification
from attncli.practice.workspace import Workspace

_LONGEST = 2_000


def try_request(workspace: Workspace, id: str, file: Path, text: str) -> TryRequest:
    """What the judge is asked about a typed case. Raises NotFound, UsageError."""
    challenge = workspace.library.challenge(id)
    return TryRequest(
        spec=specification(challenge),
        folder=Path(challenge.folder),
        source=read_submission(file),
        filename=str(file),
        text=text,
    )


def calls_of(challenge: Challenge) -> list[str]:
    """What can be called, as the reference's signatures have it: `gqa(q, k, v, causal=False)`.

    Methods begin with a dot; a constructor has the name of its class.
    """
    tree = ast.parse((Path(challenge.folder) / "reference.py").read_bytes())
    found = []
    from attncli.bank.reading.signatures import defined_in

    for name, signature in defined_in(tree, challenge.entry).items():
        owner, _, method = name.partition(".")
        called = f".{method}" if method and method != "__init__" else owner
        found.append(called + signature.parameters.replace("(self, ", "(").replace("(self)", "()"))
    return found


def counterexample_text(challenge: Challenge, report: GradeReport | None) -> str:
    """The first counterexample of a report as it can be typed; empty where there is none that is whole and short."""
    shown = next((c.counterexample for c in report.checks if c.counterexample), None) if report else None
    if shown is None or shown.calls or not shown.args or len(challenge.entry) != 1:
        return ""
    text = f"{challenge.entry[0]}({', '.join(_arguments(shown))})"
    return text if "…" not in text and len(text) <= _LONGEST else ""


def _arguments(shown: Counterexample) -> Iterator[str]:
    for name, value in (shown.args or {}).items():
        yield f"{name}={_typed(value)}"


def _typed(value: Any) -> str:
    if isinstance(value, ShownTensor):
        return _typed_tensor(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_typed(part)}" for key, part in value.items()) + "}"
    return f"[{', '.join(map(_typed, value))}]" if isinstance(value, list) else repr(value)


def _typed_tensor(tensor: ShownTensor) -> str:
    if tensor.truncated or tensor.values is None:
        return "…"
    if 0 in tensor.shape:
        return f"torch.zeros({list(tensor.shape)}, dtype=torch.{tensor.dtype})"
    usual = tensor.dtype in ("float32", "int64", "bool")
    return f"torch.tensor({_nested(tensor)}{'' if usual else f', dtype=torch.{tensor.dtype}'})"


def _nested(tensor: ShownTensor) -> str:
    cells: Sequence[str] = [_cell(value, tensor.dtype) for value in tensor.values or ()]
    for size in reversed(tensor.shape):
        cells = [f"[{', '.join(cells[k : k + size])}]" for k in range(0, len(cells), size)]
    return cells[0]


def _cell(value: Any, dtype: str) -> str:
    """A number as Python reads it back in this dtype; what is not finite has its name."""
    return repr(float(value)) if "float" in dtype and not isinstance(value, str) else str(value)
