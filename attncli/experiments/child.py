"""Run one experiment, one seed after the other, in a process with torch; started by its path.

The only argument is the request, a JSON object. The output has one JSON object per line: `progress`, each seed's
`result`, or the `error` that ended it. Standard input has no data: its end means that the caller has exited.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, TextIO

SMALLEST_STEP = 0.005


def main() -> None:
    request = json.loads(sys.argv[1])
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # an experiment's own output is not part of its result
    threading.Thread(target=_exit_with_caller, daemon=True).start()
    sys.excepthook = lambda kind, error, trace: _write_event(
        out, error=_describe_error(Path(request["file"]), error, trace)
    )
    experiment = _load(Path(request["file"]), "experiment")
    for index, seed in enumerate(request["seeds"]):
        result = _run(experiment, request, seed, _progress(out, index, len(request["seeds"])))
        _write_event(out, result=result, seed=seed)
    out.flush()
    os._exit(0)  # skips torch's slow and useless teardown


def _run(experiment: ModuleType, request: dict[str, Any], seed: int, progress: Callable[[float], None]) -> Any:
    """Run one seed. `run` has a parameter `reference` if it uses references of `impl/`, `text` if it reads a text."""
    options: dict[str, Any] = {"control": True} if request["control"] else {}
    parameters = inspect.signature(experiment.run).parameters
    if "text" in parameters:
        options["text"] = request["text"]
    if "reference" in parameters:
        impl = Path(request["impl"])
        options["reference"] = lambda name: _load(
            impl / name / "reference.py", name.replace("/", "_").replace("-", "_")
        )
    return experiment.run(seed, request["quick"], progress, **options)


def _load(path: Path, name: str) -> ModuleType:
    """Load a file without writing a bytecode cache next to it."""
    module = ModuleType(name)
    sys.modules[name] = module  # where a dataclass looks up its annotations
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    return module


def _progress(out: TextIO, index: int, seeds: int) -> Callable[[float], None]:
    reported = 0.0

    def report(share: float) -> None:
        nonlocal reported
        if share - reported >= SMALLEST_STEP:
            reported = share
            _write_event(out, progress=(index + min(1.0, float(share))) / seeds)

    return report


def _write_event(out: TextIO, **event: Any) -> None:
    out.write(json.dumps(event, allow_nan=False) + "\n")


def _describe_error(file: Path, error: BaseException, trace: TracebackType | None) -> str:
    """Return the error with the line of the experiment that led to it."""
    lines = [frame.lineno for frame in traceback.extract_tb(trace) if frame.filename == str(file)]
    return f"{file.name}:{lines[-1] if lines else 1}: {type(error).__name__}: {error}"


def _exit_with_caller() -> None:
    os.read(0, 1)
    os._exit(1)


if __name__ == "__main__":
    main()
