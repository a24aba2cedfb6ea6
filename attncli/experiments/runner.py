"""An experiment under way: it is started in a process of its own, waited for, and ended when no longer wanted.

Experiments are the program's own code: no sandbox, but nothing of the learner's is handed over either.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from attncli.errors import ExperimentFailed
from attncli.experiments.catalogue import Experiment
from attncli.experiments.results import SeedOutcome, outcome_of

LONGEST_LINE = 1 << 20
OnProgress = Callable[[float], None]

_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


class ChildRun:
    """One call of an experiment over some seeds. Started at once, or ExperimentFailed; `outcomes` waits for it.

    `text` is for an experiment that looks at one.
    """

    def __init__(self, experiment: Experiment, impl: Path, seeds: Sequence[int], quick: bool, text: str = "") -> None:
        self.experiment = experiment
        self.seeds = list(seeds)
        request = {"file": str(experiment.file), "impl": str(impl), "seeds": self.seeds, "quick": quick, "text": text}
        environment = {name: value for name, value in os.environ.items() if name != "ATTN_HOME"}
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the run
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(Path(__file__).with_name("child.py")), json.dumps(request)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env={**environment, **_ONE_THREAD},
                cwd=tempfile.gettempdir(),
                start_new_session=True,  # Ctrl-C is for whoever asked: it ends this process by `kill`
            )
        except OSError as error:
            self._log.close()
            raise ExperimentFailed(
                f"experiment {experiment.id} cannot be started ({sys.executable}: {error.strerror}); close other "
                "programs and try again"
            ) from error

    def outcomes(self, on_progress: OnProgress = lambda share: None) -> list[SeedOutcome]:
        """What each seed gave. Raises ExperimentFailed where the process dies or tells what is no result."""
        found = []
        for event in self._events():
            if "error" in event:
                raise ExperimentFailed(f"experiment {self._missing(str(event['error']))}")
            if "result" in event:
                found.append(outcome_of(self.experiment.id, event["seed"], event["result"]))
                on_progress(len(found) / len(self.seeds))
            else:
                on_progress(float(event["progress"]))
        if len(found) < len(self.seeds):
            raise ExperimentFailed(f"experiment {self._missing(self._last_words())}")
        if len({tuple(check.says for check in outcome.checks) for outcome in found}) > 1:
            raise ExperimentFailed(f"experiment {self.experiment.id} checked other things in other seeds; it must not")
        return found

    def kill(self) -> None:
        """Ends it, however far it is."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _events(self) -> Iterator[dict[str, Any]]:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline(LONGEST_LINE):
            if not line.endswith(b"\n"):
                raise ExperimentFailed(f"experiment {self.experiment.id} told more than {LONGEST_LINE >> 20} MiB")
            yield json.loads(line)

    def _last_words(self) -> str:
        try:
            status = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return f"{self.experiment.id} stopped telling before it had ended; run it again"
        self._log.seek(0)
        said = self._log.read()[-4096:].decode("utf-8", "replace").strip().splitlines()
        ended = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return f"{self.experiment.id} {ended} before it had a result{f' ({said[-1]})' if said else ''}; run it again"

    def _missing(self, said: str) -> str:
        if "No module named 'torch'" in said:
            return f"{self.experiment.id} needs PyTorch and it is not installed; install it with: pip install torch"
        return said
