"""The judge as the app and the commands use it: start its process, send requests, read events and reports.

It loads no torch: the judge is another process. One judge serves a whole session, so torch is imported once.
"""

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
from threading import Lock
from typing import IO, Any, ClassVar, Self

import attncli
from attncli.domain.challenge import CPU, Repair
from attncli.domain.grade_report import BothAnswers, CheckResult, GradeReport, read
from attncli.domain.tests_report import OwnTestsReport
from attncli.domain.vocabulary import CaseRung
from attncli.errors import AttnError, JudgeFailed, NoTorch
from attncli.i18n import Localised, _, quoted
from attncli.sandbox.launch import folders, launch
from attncli.sandbox.policy import MEMORY_MIB as MEMORY_MIB
from attncli.sandbox.wire import LENGTH_DIGITS

TIMEOUT_SECONDS = 10.0

OnCheck = Callable[[CheckResult], None]
OnProved = Callable[[int], None]
OnCaught = Callable[[bool], None]
OnEvent = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeOptions:
    """Options of a grading, from the command line to the judge.

    The defaults are those of `attn grade`, except that only commands ask for a GPU. `device` is one of
    `domain.challenge.CHOICES`; the judge gets "cpu" or "cuda". With `examples` 0 the judge chooses the number. `quick`
    asks for the verdict alone, without badges, and stops at the first failure without shrinking.
    """

    timeout_seconds: float = TIMEOUT_SECONDS
    memory_mib: int = MEMORY_MIB
    seed: int = 0
    rung: CaseRung = "solved"
    examples: int = 0
    device: str = CPU
    record: bool = True
    quick: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """A request about a challenge, given by its document and its folder."""

    op: ClassVar[str]
    spec: Mapping[str, Any]
    folder: Path
    options: GradeOptions = GradeOptions()

    def document(self) -> dict[str, Any]:
        document = {"op": self.op, **asdict(self), "folder": str(self.folder)}
        if "source" in document:
            document["source"] = base64.b64encode(document["source"]).decode()
        return document


@dataclass(frozen=True, slots=True, kw_only=True)
class _SourceRequest(_Request):
    """A request about a submission, given by the bytes of its file."""

    source: bytes
    filename: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRequest(_Request):
    """Verify the files of a challenge on many input streams; `known` has the checks that wrong files failed before.

    `only` names a sample of the wrong files: no others are graded, and the right files share the questions. If it is
    empty, all are graded.
    """

    op = "verify"
    streams: int
    only: Sequence[str] = field(default=())
    known: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    repairs: Sequence[Repair] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeRequest(_SourceRequest):
    """Grade a submission.

    `replay` are counterexamples to try first. With `may_fall_back` the CPU replaces a GPU that cannot be used. `bugs`
    names the bugs that were planted in the file; `repairs` has their texts where several were planted together.
    """

    op = "grade"
    replay: Sequence[Mapping[str, Any]] = field(default=())
    bugs: Sequence[str] = field(default=())
    repairs: Sequence[Repair] = field(default=())
    may_fall_back: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TryRequest(_SourceRequest):
    """Run a case that the learner typed, as `text`, on the submission and on the reference."""

    op = "try"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTestsRequest(_SourceRequest):
    """Run the learner's tests; `rejected_by` maps wrong solutions to the check and rung that reject them."""

    op = "tests"
    rejected_by: Mapping[str, Sequence[str]] = field(default_factory=dict)


class GradingCancelled(JudgeFailed):
    """The learner cancelled the grading; there is no verdict."""


class Judge:
    """The judge of a session: one process for many gradings, so that torch is imported once; replaced when it has died.

    Requests raise JudgeFailed, after `cancel` GradingCancelled. Only `cancel` and `stop` may be called from another
    thread than the requesting one.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[Any] | None = None
        self._log: IO[bytes] | None = None
        self._number = 0
        self._cancelled = self._stopped = False
        self._lock = Lock()

    @classmethod
    def start(cls) -> Self:
        """Return a judge, which imports torch in the background."""
        judge = cls()
        judge.restart()
        return judge

    def restart(self) -> None:
        """Start the process, unless it runs. Raises JudgeFailed, SandboxUnavailable."""
        with self._lock:
            if self._stopped:
                raise JudgeFailed(_("the grading was stopped"))
            if not self.alive():
                self.close()
                self._start_process()

    def _start_process(self) -> None:
        packages = folders()
        log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "encoding": "utf-8"}
        try:
            process: subprocess.Popen[Any] = launch(sys.executable, ["judge"], log, **streams)
        except AttnError:
            log.close()
            raise
        setup = {
            "root": str(Path(attncli.__file__).resolve().parent.parent),
            "environment": dict(os.environ),
            "dont_write_bytecode": sys.dont_write_bytecode,
        }
        assert process.stdin is not None
        # If the process has died already, the first request reports it.
        with contextlib.suppress(BrokenPipeError):
            for text in map(json.dumps, (packages, setup)):
                process.stdin.write(f"{len(text):0{LENGTH_DIGITS}d}{text}")
                process.stdin.flush()
        self._process, self._log = process, log

    def grade(self, request: GradeRequest, on_check: OnCheck | None = None) -> GradeReport:
        """Return the grade report; `on_check` is called when each check starts and when it ends."""
        on_event = None if on_check is None else lambda event: on_check(read(CheckResult, event))
        return read(GradeReport, self._ask(request.document(), on_event)["report"])

    def try_case(self, request: TryRequest) -> BothAnswers:
        """Return the answers of the reference and the submission to a typed case, or why it cannot be tried."""
        return read(BothAnswers, self._ask(request.document(), None)["answers"])

    def run_tests(self, request: OwnTestsRequest, on_caught: OnCaught | None = None) -> OwnTestsReport:
        """Return the report on a learner's tests; `on_caught` is told of each wrong solution whether it was caught."""
        on_event = None if on_caught is None else lambda event: on_caught(event["caught"])
        return read(OwnTestsReport, self._ask(request.document(), on_event)["report"])

    def verify(self, request: VerifyRequest, on_proved: OnProved) -> dict[str, Any]:
        """Return the numbers of right and wrong files, and the files with an unexpected verdict.

        `on_proved` is called with the number of gradings that were just done.
        """
        proof: dict[str, Any] = self._ask(request.document(), lambda event: on_proved(event["gradings"]))["proof"]
        return proof

    def layers(self) -> list[str]:
        """Wait until the judge is ready and return the sandbox layers in force. Raises also SandboxUnavailable."""
        return [str(layer) for layer in self._ask({"op": "hello"}, None)["layers"]]

    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def cancel(self) -> None:
        """Kill the judge under a running request, which then raises; the next request starts another."""
        self._cancelled = True
        self.kill()

    def stop(self) -> None:
        """Cancel the running request, and start no other process."""
        with self._lock:
            self._stopped = True
        self.cancel()

    def kill(self) -> None:
        """Stop a running grading; the zygote and its workers die with the judge."""
        if (process := self._process) is not None:
            process.kill()
            process.wait()

    def close(self) -> None:
        """End the judge, if there is one, and everything that it started."""
        process, self._process = self._process, None
        if process is None or self._log is None:
            return
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.kill()
        self.close()

    def _ask(self, message: dict[str, Any], on_event: OnEvent | None) -> dict[str, Any]:
        self._cancelled = False
        self.restart()
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        self._number += 1
        try:
            process.stdin.write(json.dumps({**message, "id": self._number}) + "\n")
            process.stdin.flush()
            for line in process.stdout:
                answer: dict[str, Any] = json.loads(line)
                if answer.get("id") != self._number:
                    continue
                if "event" in answer:
                    if on_event is not None:
                        on_event(answer)
                elif "error" in answer:
                    raise JudgeFailed(Localised.of(answer["error"]))
                else:
                    return answer
        except (BrokenPipeError, json.JSONDecodeError) as error:
            raise self._failure(process) from error
        raise self._failure(process)

    def _failure(self, process: subprocess.Popen[Any]) -> JudgeFailed:
        """Return the reason for a missing answer, from the last line of the process's log."""
        if self._cancelled:
            return GradingCancelled(_("the grading was cancelled; there is no verdict"))
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.kill()
        assert self._log is not None
        self._log.seek(0)
        log = self._log.read().decode("utf-8", "replace").strip()
        status = _("exit status {status}", status=process.returncode)
        last = quoted(log.splitlines()[-1]) if log else status
        if "No module named 'torch'" in log:
            return NoTorch(_("grading needs PyTorch and it is not installed; install it with: pip install torch"))
        return JudgeFailed(_("the judge died ({last}); run attn doctor, then try again", last=last))


def sandbox_layers() -> tuple[str, ...]:
    """Return the names of all sandbox layers. Works only on Linux, since it loads Linux modules."""
    from attncli.sandbox.policy import LAYERS

    return LAYERS
