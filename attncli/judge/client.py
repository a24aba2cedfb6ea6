"""The judge as the app and the commands see it. Loads no torch: the judge is a process of its own."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar, Self

import attncli
from attncli.domain.challenge import CaseRung, Repair
from attncli.domain.grade_report import BothAnswers, CheckResult, GradeReport, answers_of, check_of, report_of
from attncli.errors import AttnError, JudgeFailed, NoTorch
from attncli.sandbox.policy import MEMORY_MIB as MEMORY_MIB
from attncli.sandbox.wire import LENGTH_DIGITS
from attncli.sandbox.zygote_client import folders, launch

TIMEOUT_SECONDS = 10.0

OnCheck = Callable[[CheckResult], None]
OnProved = Callable[[int], None]
OnEvent = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """What the judge is asked of a challenge, by its document and folder."""

    op: ClassVar[str]
    spec: Mapping[str, Any]
    folder: Path
    timeout_seconds: float = TIMEOUT_SECONDS
    memory_mib: int = MEMORY_MIB

    def document(self) -> dict[str, Any]:
        return {"op": self.op, **asdict(self), "folder": str(self.folder)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _SourceRequest(_Request):
    """What it is asked of a submission, by the bytes of its file."""

    source: bytes
    filename: str

    def document(self) -> dict[str, Any]:
        return _Request.document(self) | {"source": base64.b64encode(self.source).decode()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProveRequest(_Request):
    """All files of a challenge on many streams of inputs; `known` says what wrong files failed before."""

    op = "prove"
    streams: int
    known: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    repairs: Sequence[Repair] = field(default=())
    device: str = "cpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeRequest(_SourceRequest):
    """One grading, and how to grade.

    `device` is "cpu" or "cuda"; `may_fall_back` leaves a GPU that cannot be used aside, where nobody has asked for it.
    `bugs` are the names of those that were planted in the file, `repairs` how, where they were planted together.
    """

    op = "grade"
    seed: int = 0
    rung: CaseRung = "solved"
    examples: int = 0
    quick: bool = False
    replay: Sequence[Mapping[str, Any]] = field(default=())
    bugs: Sequence[str] = field(default=())
    repairs: Sequence[Repair] = field(default=())
    device: str = "cpu"
    may_fall_back: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TryRequest(_SourceRequest):
    """A case that the learner typed, as `text`, for the submission."""

    op = "try"
    text: str


class Judge:
    """One judge process for a whole sitting. `start` returns at once; torch is imported meanwhile."""

    def __init__(self, process: subprocess.Popen[Any], log: IO[bytes]) -> None:
        self._process = process
        self._log = log
        self._number = 0

    @classmethod
    def start(cls) -> Judge:
        where = folders()
        log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the judge
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "encoding": "utf-8"}
        try:
            process = launch(sys.executable, ["judge"], log, **streams)
        except AttnError:
            log.close()
            raise
        setup = {
            "root": str(Path(attncli.__file__).resolve().parent.parent),
            "environment": dict(os.environ),
            "dont_write_bytecode": sys.dont_write_bytecode,
        }
        judge = cls(process, log)
        for message in (where, setup):
            judge._tell(message)
        return judge

    def _tell(self, message: dict[str, Any]) -> None:
        """What the process has to know before it is a judge; if it is gone already, the first request says so."""
        text = json.dumps(message)
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{len(text):0{LENGTH_DIGITS}d}{text}")
            self._process.stdin.flush()

    def grade(self, request: GradeRequest, on_check: OnCheck | None = None) -> GradeReport:
        """The grade report; `on_check` is told of each check when it begins and when it has ended."""
        on_event = None if on_check is None else lambda event: on_check(check_of(event))
        return report_of(self._ask(request.document(), on_event)["report"])

    def try_case(self, request: TryRequest) -> BothAnswers:
        """What the reference and the submission answer to a typed case, or why it cannot be tried."""
        return answers_of(self._ask(request.document(), None)["answers"])

    def prove(self, request: ProveRequest, on_proved: OnProved) -> dict[str, Any]:
        """How many sound and wrong files there are, and those that were not judged as they should be.

        `on_proved` is told how many gradings more are done.
        """
        proof: dict[str, Any] = self._ask(request.document(), lambda event: on_proved(event["gradings"]))["proof"]
        return proof

    def hello(self) -> dict[str, Any]:
        """Waits until the judge is ready; which sandbox layers are in force."""
        return self._ask({"op": "hello"}, None)

    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """Ends the judge and everything that it started."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.kill()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._log.close()

    def kill(self) -> None:
        """Stops a grading that is under way; the zygote and its workers die with the judge."""
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.kill()
        self.close()

    def _ask(self, message: dict[str, Any], on_event: OnEvent | None) -> dict[str, Any]:
        self._number += 1
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({**message, "id": self._number}) + "\n")
            self._process.stdin.flush()
            for line in self._process.stdout:
                answer: dict[str, Any] = json.loads(line)
                if answer.get("id") != self._number:
                    continue
                if "event" in answer:
                    if on_event is not None:
                        on_event(answer)
                elif "error" in answer:
                    raise JudgeFailed(str(answer["error"]))
                else:
                    return answer
        except (BrokenPipeError, json.JSONDecodeError) as error:
            raise self._failure() from error
        raise self._failure()

    def _failure(self) -> JudgeFailed:
        """Why there is no answer, by the last words of the process."""
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.kill()
        self._log.seek(0)
        said = self._log.read().decode("utf-8", "replace")
        last = said.strip().splitlines()[-1] if said.strip() else f"exit status {self._process.returncode}"
        if "No module named 'torch'" in said:
            return NoTorch("grading needs PyTorch and it is not installed; install it with: pip install torch")
        return JudgeFailed(f"the judge died ({last}); run attn doctor, then try again")


def sandbox_layers() -> tuple[str, ...]:
    """All layers that a worker can be confined by; on Linux alone, whose modules this loads."""
    from attncli.sandbox.policy import LAYERS

    return LAYERS
