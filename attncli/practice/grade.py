"""Grading a file: what the judge is asked, and what is kept of its answer."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from attncli.domain.card import STREAMS
from attncli.domain.challenge import AUTO, CPU, CUDA, CaseRung, Challenge, Standing, gains_by_gpu, runs_on_gpu
from attncli.domain.grade_report import BothAnswers, Counterexample, GradeReport, ShownTensor
from attncli.domain.log_row import (
    LARGEST_WHOLE,
    LONGEST_PATH,
    MOST_ITEMS,
    LogRow,
    RowKind,
    Schedule,
    clean_source,
    counterexamples_of,
    is_counterexample,
    kept_text,
)
from attncli.errors import JudgeFailed, NotFound, Unfit, UsageError
from attncli.judge.client import MEMORY_MIB, TIMEOUT_SECONDS, Judge, OnCheck
from attncli.judge.client import GradeRequest as GradeRequest
from attncli.judge.client import TryRequest as TryRequest
from attncli.memory.replay import standing_of
from attncli.practice.challenges import written
from attncli.practice.record import record
from attncli.practice.start import Planted, planted_in
from attncli.practice.workspace import Workspace

LARGEST_SUBMISSION = 128 * 1024
KEPT_COUNTEREXAMPLES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeOptions:
    """How to grade; the defaults are those of `attn grade`, but that nothing but a command asks for a GPU.

    `examples` 0 means the judge's own number.
    """

    timeout_seconds: float = TIMEOUT_SECONDS
    memory_mib: int = MEMORY_MIB
    seed: int = 0
    rung: CaseRung = "solved"
    examples: int = 0
    record: bool = True
    device: str = CPU


def specification(challenge: Challenge) -> dict[str, Any]:
    """What the judge has to know of a challenge besides its folder."""
    listed = ("entry", "required", "badges", "forbidden", "cards")
    told = {"id": challenge.id, "version": challenge.version, "kernel": challenge.kernel}
    return told | {name: list(getattr(challenge, name)) for name in listed}


def read_submission(path: Path) -> bytes:
    """The bytes of a submission. NotFound or UsageError where there is no file to grade."""
    try:
        if not path.exists():
            raise NotFound(f"there is no file {path}; `attn start CHALLENGE` writes one to begin with")
        if not path.is_file():
            raise UsageError(f"{path} is not a file; name the Python file to grade")
        if path.stat().st_size > LARGEST_SUBMISSION:
            most = f"{LARGEST_SUBMISSION // 1024} KiB"
            said = f"{path} is larger than {most}; a submission is a short Python file"
            raise Unfit(said, "file-large", file=str(path))
        return path.read_bytes()
    except (OSError, ValueError) as error:
        said = f"cannot read {path} ({error}); check the name and its permissions"
        raise Unfit(said, "file-unread", file=str(path)) from error


def kept_counterexamples(workspace: Workspace, id: str) -> list[dict[str, Any]]:
    """The counterexamples of earlier attempts, the latest first; they are tried before anything is drawn."""
    kept: list[dict[str, Any]] = []
    for row in reversed(workspace.store.log.of_subjects([id])):
        kept += [stored for stored in counterexamples_of(row) if stored not in kept]
        if len(kept) >= KEPT_COUNTEREXAMPLES:
            break
    return kept[:KEPT_COUNTEREXAMPLES]


def request_for(workspace: Workspace, id: str, path: Path, options: GradeOptions) -> GradeRequest:
    """What the judge is asked about a file. Raises NotFound, UsageError."""
    challenge = workspace.library.challenge(id)
    return request_of(workspace, challenge, read_submission(path), str(path), options, path)


def request_of(
    workspace: Workspace,
    challenge: Challenge,
    source: bytes,
    filename: str,
    options: GradeOptions,
    file: Path | None = None,
) -> GradeRequest:
    """What the judge is asked about a text, which may be that of a `file`. Raises UsageError where it is too long."""
    if len(source) > LARGEST_SUBMISSION:
        most = f"{LARGEST_SUBMISSION // 1024} KiB"
        raise UsageError(f"{filename} is larger than {most}; a submission is a short Python file")
    asked = {name: value for name, value in asdict(options).items() if name not in ("record", "device")}
    device, may_fall_back = device_for(challenge, options.device)
    planted = planted_in(workspace, challenge, file) if file is not None else None
    if planted is not None and _is_hardened(challenge, planted):
        asked["rung"] = "hardened"
    return GradeRequest(
        **asked,
        device=device,
        may_fall_back=may_fall_back,
        bugs=planted.bugs if planted else (),
        repairs=planted.repairs if planted else (),
        spec=specification(challenge),
        folder=Path(challenge.folder),
        source=source,
        filename=filename,
        replay=kept_counterexamples(workspace, challenge.id),
    )


def _is_hardened(challenge: Challenge, planted: Planted) -> bool:
    """Whether a bug shows on the second rung alone: the first is reached with the bug in it."""
    mistakes = (challenge.mistakes.get(bug) for bug in planted.bugs)
    return any(mistake is not None and mistake.rung == "hardened" for mistake in mistakes)


def settle(workspace: Workspace, request: GradeRequest, report: GradeReport, options: GradeOptions) -> None:
    """Records what the judge answered, unless `options` say otherwise: as an attempt, or apart from those for a file
    that was handed out with bugs."""
    if not options.record:
        return
    source = request.source.decode("utf-8", "replace")
    planted = None
    if request.bugs:
        planted = planted_in(workspace, workspace.library.challenge(report.challenge), Path(request.filename))
    if planted is None:
        record_attempt(workspace, report, source)
    else:
        record_repair(workspace, report, planted.start.id, source)


def grade(
    workspace: Workspace,
    judge: Judge | WarmJudge,
    id: str,
    path: Path,
    options: GradeOptions,
    on_check: OnCheck | None = None,
) -> GradeReport:
    """The grade report of a file, recorded as an attempt unless `options` say otherwise.

    Raises NotFound, UsageError, and JudgeFailed where there is no verdict.
    """
    request = request_for(workspace, id, path, options)
    report = judge.grade(request, on_check)
    settle(workspace, request, report, options)
    return report


def failed_report(id: str, path: Path, error: JudgeFailed) -> GradeReport:
    """The report of a grading in which the judge itself failed."""
    return GradeReport(challenge=id, file=str(path), verdict="error", error=error.message)


def fresh_seed(report: GradeReport) -> int:
    """The input stream after the one of `report`: what it accepted can be examined on inputs that it has not seen."""
    return (report.seed + 1) % STREAMS


# Recording what came of a grading: an attempt, which schedules when the challenge comes next.

MOST_STORED = 16


@dataclass(frozen=True, slots=True)
class Attempt:
    """A recorded attempt; `schedule` is None until the challenge has been solved."""

    row: LogRow
    standing: Standing
    schedule: Schedule | None


def record_attempt(workspace: Workspace, report: GradeReport, source: str, at: datetime | None = None) -> Attempt:
    """Records a grading: `source` is the text that was graded.

    Raises UsageError for a report without verdict accepted or rejected: where the judge failed, nothing was shown.
    """
    if report.verdict not in ("accepted", "rejected"):
        raise UsageError(f"a grading with verdict {report.verdict} says nothing about the submission")
    challenge = workspace.library.challenge(report.challenge)
    details = _kept(report, source)
    row = record(workspace, RowKind.ATTEMPT, challenge.id, details, at)
    rows = workspace.store.log.of_subjects([challenge.id])
    return Attempt(row, standing_of(rows), workspace.store.schedules.get(challenge.id))


def record_repair(workspace: Workspace, report: GradeReport, start: str, source: str) -> LogRow:
    """Records the grading of a file that the row `start` handed out with bugs. It says nothing of how well the learner
    writes the challenge: standing and schedule stay."""
    told = ("verdict", "rung", "file", "seed", "seconds", "sha256", "source")
    details = {key: value for key, value in _kept(report, source).items() if key in told}
    left = [kept_text(bug.wrong) for bug in report.repaired.left] if report.repaired else []
    return record(workspace, RowKind.REPAIR, report.challenge, {**details, "start": start, "left": left})


def _kept(report: GradeReport, source: str) -> dict[str, Any]:
    """What the log keeps of a grading, within the bounds that any reader of the log holds it to."""
    checks = [
        {key: kept_text(said) for key in _TOLD_OF_A_CHECK if (said := getattr(check, key))} for check in report.checks
    ]
    return {
        "verdict": report.verdict,
        "rung": report.rung,
        "file": kept_text(report.file, LONGEST_PATH),
        "seed": max(-LARGEST_WHOLE, min(report.seed, LARGEST_WHOLE)),
        "seconds": report.seconds,
        "examples": sum(check.examples for check in report.checks),
        "checks": checks[:MOST_ITEMS],
        "diagnosis": [kept_text(found.wrong) for found in report.diagnosis][:MOST_ITEMS],
        "stored": [stored for stored in report.stored if is_counterexample(stored)][:MOST_STORED],
        "sha256": sha256(source.encode("utf-8", "surrogateescape")).hexdigest(),
        "source": clean_source(kept_text(source, len(source))),
    }


_TOLD_OF_A_CHECK = ("name", "status", "reason", "rung")


# One judge for a sitting in the app: started when a challenge is opened, asked from a thread, stopped at will.

T = TypeVar("T")


class GradingCancelled(JudgeFailed):
    """The learner stopped the grading; there is no verdict."""


class WarmJudge:
    """Keeps a judge process warm. Only `grade` and `try_case` may be called from another thread than the rest."""

    def __init__(self) -> None:
        self._judge: Judge | None = None
        self._cancelled = False

    def warm_up(self) -> None:
        """Starts the judge if none is running; it imports torch meanwhile. Raises JudgeFailed."""
        if self._judge is None or not self._judge.alive():
            self.close()
            self._judge = Judge.start()

    def grade(self, request: GradeRequest, on_check: OnCheck | None = None) -> GradeReport:
        """The judge's report. Raises GradingCancelled after `cancel`, else JudgeFailed."""
        return self._asked(lambda judge: judge.grade(request, on_check))

    def try_case(self, request: TryRequest) -> BothAnswers:
        """Both answers to a case that the learner typed. Raises GradingCancelled after `cancel`, else JudgeFailed."""
        return self._asked(lambda judge: judge.try_case(request))

    def _asked(self, ask: Callable[[Judge], T]) -> T:
        self._cancelled = False
        self.warm_up()
        judge = self._judge
        assert judge is not None
        try:
            return ask(judge)
        except JudgeFailed as error:
            if self._cancelled:
                raise GradingCancelled("the grading was cancelled; there is no verdict") from error
            raise

    def cancel(self) -> None:
        """Kills the judge under a running `grade`, which then raises; the next grading starts another."""
        self._cancelled = True
        if self._judge is not None:
            self._judge.kill()

    def close(self) -> None:
        """Ends the judge, if there is one."""
        judge, self._judge = self._judge, None
        if judge is not None:
            judge.close()


# Which device a file is graded on: found out without loading torch.


def device_for(challenge: Challenge, asked: str) -> tuple[str, bool]:
    """The device to grade on, and whether the CPU will do where a GPU cannot be used after all.

    `auto` takes a GPU that is there where the challenge gains by it. A challenge of which a GPU shows nothing is graded
    on the CPU, whatever is asked for. Raises UsageError where a GPU is asked for and cannot be had.
    """
    if asked == CUDA:
        require_gpu()
        return (CUDA if runs_on_gpu(challenge.kernel, challenge.required) else CPU), False
    gains = asked == AUTO and gains_by_gpu(challenge.kernel, challenge.required)
    return (CUDA, True) if gains and gpu_is_seen() and not torch_without_cuda() else (CPU, False)


# Is there a GPU, and can PyTorch use it? Asked without loading torch.

_GPUS = (Path("/dev/nvidia0"), Path("/dev/dxg"))
_VERSION = re.compile(r"^__version__\s*=\s*['\"](?P<version>[^'\"]*)", re.MULTILINE)
_CUDA = re.compile(r"^cuda\b[^=\n]*=\s*['\"](?P<cuda>[^'\"]+)", re.MULTILINE)


def gpu_is_seen() -> bool:
    """Whether an NVIDIA GPU is visible to this machine."""
    return any(path.exists() for path in _GPUS)


def torch_without_cuda() -> str:
    """The version of an installed PyTorch that is built without CUDA; empty where it has it, or cannot be told."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return ""
    try:
        said = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
    except OSError:
        return ""
    version = _VERSION.search(said)
    return "" if version is None or _CUDA.search(said) else version["version"]


def require_gpu() -> None:
    """Raises UsageError where nothing can be graded on a GPU."""
    if not gpu_is_seen():
        raise UsageError("no NVIDIA GPU is visible here; use --device cpu: device placement is proved without one")
    if version := torch_without_cuda():
        raise UsageError(f"PyTorch {version} is built without CUDA; install a build with it (pytorch.org/get-started)")


# A case of one's own: what the learner types, put to their file and to the reference. Nothing of it is recorded.

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
    from attncli.bank.challenge_rules import defined_in

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


# Which of the learner's files take the seats of `attn ladder`: one that is named, else what solved the piece last.


def texts_for_seats(
    workspace: Workspace, seats: Iterable[str], given: Mapping[str, Path]
) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """The learner's text for each seat of an engine, and where it comes from.

    Raises UsageError for a file that is not there or cannot be graded.
    """
    texts: dict[str, str] = {}
    whose: dict[str, dict[str, Any]] = {}
    solved = {found.challenge.id: found for found in written(workspace).solved}
    for id in seats:
        if id in given:
            texts[id] = read_submission(given[id]).decode("utf-8", "replace")
            whose[id] = {"file": str(given[id])}
        elif id in solved and solved[id].source:
            texts[id] = solved[id].source
            whose[id] = {"rung": solved[id].rung, "solved": solved[id].at.isoformat()}
    return texts, whose
