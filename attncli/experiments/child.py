"""Runs one experiment, one seed after the other: started by its path in a process of its own, where torch is.

The only argument is the request, a JSON object. What goes out is one JSON object a line: `progress`, each seed's
`result`, or the `error` that ended it. Standard input says nothing: where it ends, whoever asked is gone.
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
    os.dup2(2, 1)  # what an experiment prints is no part of its result
    threading.Thread(target=_end_with_the_caller, daemon=True).start()
    sys.excepthook = lambda kind, error, at: _tell(out, error=_where(Path(request["file"]), error, at))
    experiment = _load(Path(request["file"]), "experiment")
    for place, seed in enumerate(request["seeds"]):
        result = _run(experiment, request, seed, _progress(out, place, len(request["seeds"])))
        _tell(out, result=result, seed=seed)
    out.flush()
    os._exit(0)  # torch takes a while to be torn down, for nothing


def _run(experiment: ModuleType, request: dict[str, Any], seed: int, progress: Callable[[float], None]) -> Any:
    """A file that uses references of `impl/` has a parameter `reference`; one that looks at a text, `text`."""
    more: dict[str, Any] = {}
    wanted = inspect.signature(experiment.run).parameters
    if "text" in wanted:
        more["text"] = request["text"]
    if "reference" in wanted:
        impl = Path(request["impl"])
        more["reference"] = lambda name: _load(impl / name / "reference.py", name.replace("/", "_").replace("-", "_"))
    return experiment.run(seed, request["quick"], progress, **more)


def _load(path: Path, name: str) -> ModuleType:
    """Compiled from its text, so that no cache is written beside it."""
    module = ModuleType(name)
    sys.modules[name] = module  # where a dataclass looks up its annotations
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    return module


def _progress(out: TextIO, place: int, seeds: int) -> Callable[[float], None]:
    told = 0.0

    def tell(share: float) -> None:
        nonlocal told
        if share - told >= SMALLEST_STEP:
            told = share
            _tell(out, progress=(place + min(1.0, float(share))) / seeds)

    return tell


def _tell(out: TextIO, **event: Any) -> None:
    out.write(json.dumps(event, allow_nan=False) + "\n")


def _where(file: Path, error: BaseException, at: TracebackType | None) -> str:
    """The error with the line of the experiment that led to it."""
    lines = [frame.lineno for frame in traceback.extract_tb(at) if frame.filename == str(file)]
    return f"{file.name}:{lines[-1] if lines else 1}: {type(error).__name__}: {error}"


def _end_with_the_caller() -> None:
    os.read(0, 1)
    os._exit(1)


if __name__ == "__main__":
    main()
