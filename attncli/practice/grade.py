"""Grade a file: build the request to the judge, record its report, and choose the device.

The judge is another process, so torch is never loaded here; a GPU is detected without it. Counterexamples of earlier
attempts are sent along and tried first.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from attncli.domain.challenge import AUTO, CPU, CUDA, Challenge, gains_by_gpu, runs_on_gpu
from attncli.domain.grade_report import GradeReport, ShownTensor
from attncli.domain.log_row import (
    LARGEST_WHOLE,
    LONGEST_PATH,
    MOST_ITEMS,
    LogRow,
    RowKind,
    clean_source,
    counterexamples_of,
    is_counterexample,
    kept_text,
)
from attncli.domain.vocabulary import STREAMS
from attncli.errors import InvalidInput, NotFound, UsageError, unreadable
from attncli.i18n import Localised, _
from attncli.judge.client import GradeOptions as GradeOptions
from attncli.judge.client import GradeRequest as GradeRequest
from attncli.judge.client import GradingCancelled as GradingCancelled
from attncli.judge.client import Judge as Judge
from attncli.judge.client import OnCheck
from attncli.judge.client import TryRequest as TryRequest
from attncli.paths import expanded
from attncli.practice.challenges import written
from attncli.practice.record import record
from attncli.practice.start import planted_in, solution_file
from attncli.practice.workspace import Workspace
from attncli.sandbox.policy import gpu_is_seen

LARGEST_SUBMISSION = 128 * 1024
KEPT_COUNTEREXAMPLES = 8
MOST_STORED = 16
"""The most counterexamples stored with one attempt."""
_CHECK_FIELDS = ("name", "status", "reason", "rung")
_LONGEST_CASE = 2_000
_VERSION = re.compile(r"^__version__\s*=\s*['\"](?P<version>[^'\"]*)", re.MULTILINE)
_CUDA = re.compile(r"^cuda\b[^=\n]*=\s*['\"](?P<cuda>[^'\"]+)", re.MULTILINE)


def grade(
    workspace: Workspace, judge: Judge, id: str, path: Path, options: GradeOptions, on_check: OnCheck | None = None
) -> GradeReport:
    """Grade a file and record the attempt, unless `options.record` is off.

    Raises NotFound, UsageError, and JudgeFailed if there is no verdict.
    """
    request = request_for(workspace, id, path, options)
    report = judge.grade(request, on_check)
    settle(workspace, request, report)
    return report


def request_for(workspace: Workspace, id: str, path: Path, options: GradeOptions) -> GradeRequest:
    """Build the request to the judge about a file. Raises NotFound, UsageError."""
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
    """Build the request to the judge about a text, which may be that of `file`.

    Raises UsageError if it is too long.
    """
    if len(source) > LARGEST_SUBMISSION:
        raise UsageError(_too_large(filename))
    device, may_fall_back = device_for(challenge, options.device)
    options = replace(options, device=device)
    planted = planted_in(workspace, challenge, file) if file is not None else None
    mistakes = [challenge.mistakes.get(bug) for bug in planted.bugs] if planted is not None else []
    # A bug that only the second rung shows would pass the first.
    if any(mistake is not None and mistake.rung == "hardened" for mistake in mistakes):
        options = replace(options, rung="hardened")
    return GradeRequest(
        options=options,
        may_fall_back=may_fall_back,
        bugs=planted.bugs if planted else (),
        repairs=planted.repairs if planted else (),
        spec=specification(challenge),
        folder=Path(challenge.folder),
        source=source,
        filename=filename,
        replay=kept_counterexamples(workspace, challenge.id),
    )


def specification(challenge: Challenge) -> dict[str, Any]:
    """Return the fields of a challenge that the judge needs besides its folder."""
    lists = ("entry", "required", "badges", "forbidden", "cards")
    fields = {"id": challenge.id, "version": challenge.version, "kernel": challenge.kernel}
    return fields | {name: list(getattr(challenge, name)) for name in lists}


def kept_counterexamples(workspace: Workspace, id: str) -> list[dict[str, Any]]:
    """Return the counterexamples of earlier attempts, the latest first."""
    kept: list[dict[str, Any]] = []
    for row in reversed(workspace.store.log.of_subjects([id])):
        kept += [stored for stored in counterexamples_of(row) if stored not in kept]
        if len(kept) >= KEPT_COUNTEREXAMPLES:
            break
    return kept[:KEPT_COUNTEREXAMPLES]


def target(workspace: Workspace, challenge: str, file: Path | None) -> tuple[str, Path]:
    """Return the id and the file to grade. Raises NotFound, UsageError.

    A challenge alone means the file that was started for it last, but not that of a finished round. A file alone means
    the challenge for which it was started, else the one with its name.
    """
    if file is not None:
        return workspace.library.challenge(challenge).id, file
    log = workspace.store.log
    finished = {row.fixes for row in log.standing_of_kind(RowKind.REPAIR)}
    starts = [row for row in reversed(log.of_kind(RowKind.START)) if row.id not in finished]
    begun = [(row.subject, row.payload.get("file")) for row in starts]
    path = Path(expanded(challenge))
    if path.suffix == ".py":
        id = next((subject for subject, name in begun if name == str(path.absolute())), path.stem)
        try:
            return workspace.library.challenge(id).id, path
        except NotFound:
            raise UsageError(_("name the challenge too: attn grade CHALLENGE {file}", file=path)) from None
    id = workspace.library.challenge(challenge).id
    files = [Path(name) for subject, name in begun if subject == id and isinstance(name, str)]
    return id, next((found for found in files if found.is_file()), solution_file(workspace, id))


def read_submission(path: Path) -> bytes:
    """Return the bytes of a submission. Raises NotFound or UsageError if there is no file to grade."""
    try:
        if not path.exists():
            raise NotFound(_("there is no file {path}; create it with `attn start CHALLENGE`", path=path))
        if not path.is_file():
            raise UsageError(_("{path} is not a file; give the Python file to grade", path=path))
        if path.stat().st_size > LARGEST_SUBMISSION:
            raise InvalidInput(_too_large(path), "file-large", file=str(path))
        return path.read_bytes()
    except (OSError, ValueError) as error:
        message = unreadable(path, error, _("check its name and permissions"))
        raise InvalidInput(message, "file-unread", file=str(path)) from error


def _too_large(file: object) -> Localised:
    return _("{file} is larger than {kib} KiB; submit a shorter file", file=file, kib=LARGEST_SUBMISSION // 1024)


def settle(workspace: Workspace, request: GradeRequest, report: GradeReport) -> None:
    """Record the report as an attempt, or as a repair if the file was handed out with bugs.

    Nothing is recorded if the option `record` is off.
    """
    if not request.options.record:
        return
    source = request.source.decode("utf-8", "replace")
    planted = None
    if request.bugs:
        planted = planted_in(workspace, workspace.library.challenge(report.challenge), Path(request.filename))
    if planted is None:
        record_attempt(workspace, report, source)
    else:
        record_repair(workspace, report, planted.start.id, source)


def fresh_seed(report: GradeReport) -> int:
    """Return the seed of the next input stream after that of `report`, to grade an accepted file again."""
    return (report.seed + 1) % STREAMS


# Recording


def record_attempt(workspace: Workspace, report: GradeReport, source: str) -> LogRow:
    """Record the grading of `source`, from which it follows when the challenge comes back.

    Raises UsageError unless the verdict is accepted or rejected.
    """
    if report.verdict not in ("accepted", "rejected"):
        raise UsageError(_("cannot record the verdict {verdict}; only accepted or rejected", verdict=report.verdict))
    challenge = workspace.library.challenge(report.challenge)
    return record(workspace, RowKind.ATTEMPT, challenge.id, _payload(report, source))


def record_repair(workspace: Workspace, report: GradeReport, start: str, source: str) -> LogRow:
    """Record the grading of a file that the row `start` handed out with bugs.

    Status and schedule stay: a repair does not show that the learner can write the challenge.
    """
    kept = ("verdict", "rung", "file", "seed", "seconds", "sha256", "source")
    details = {key: value for key, value in _payload(report, source).items() if key in kept}
    left = [kept_text(bug.wrong) for bug in report.repaired.left] if report.repaired else []
    return record(workspace, RowKind.REPAIR, report.challenge, {**details, "start": start, "left": left})


def _payload(report: GradeReport, source: str) -> dict[str, Any]:
    """Return the log fields of a grading, within the limits that every reader of the log enforces."""
    checks = [
        {key: kept_text(text) for key in _CHECK_FIELDS if (text := getattr(check, key))} for check in report.checks
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


# Devices


def device_for(challenge: Challenge, wanted: str) -> tuple[str, bool]:
    """Return the device to grade on, and whether the CPU may replace a GPU that fails.

    `auto` takes a GPU if one is present and useful for the challenge. A challenge that has nothing to check on a GPU
    is always graded on the CPU. Raises UsageError if a GPU is asked for and unusable.
    """
    if wanted == CUDA:
        require_gpu()
        return (CUDA if runs_on_gpu(challenge.kernel, challenge.required) else CPU), False
    gains = wanted == AUTO and gains_by_gpu(challenge.kernel, challenge.required)
    return (CUDA, True) if gains and gpu_is_seen() and not torch_without_cuda() else (CPU, False)


def torch_without_cuda() -> str:
    """Return the version of an installed PyTorch built without CUDA; empty if it has CUDA or is unknown."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return ""
    try:
        source = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
    except OSError:
        return ""
    version = _VERSION.search(source)
    return "" if version is None or _CUDA.search(source) else version["version"]


def require_gpu() -> None:
    """Raise UsageError if no file can be graded on a GPU."""
    if not gpu_is_seen():
        raise UsageError(_("no NVIDIA GPU found; use --device cpu (it checks device placement too)"))
    if version := torch_without_cuda():
        raise UsageError(
            _("PyTorch {version} has no CUDA support; install a CUDA build (pytorch.org/get-started)", version=version)
        )


# The learner's own case, which is run but not recorded


def try_request(workspace: Workspace, id: str, file: Path, text: str) -> TryRequest:
    """Build the request to the judge about a typed case. Raises NotFound, UsageError."""
    challenge = workspace.library.challenge(id)
    return TryRequest(
        spec=specification(challenge),
        folder=Path(challenge.folder),
        source=read_submission(file),
        filename=str(file),
        text=text,
    )


def calls_of(challenge: Challenge) -> list[str]:
    """Return the possible calls with the signatures of the reference: `gqa(q, k, v, causal=False)`.

    Methods begin with a dot; a constructor has the name of its class.
    """
    from attncli.bank.challenge_rules import defined_in

    tree = ast.parse((Path(challenge.folder) / "reference.py").read_bytes())
    found = []
    for name, signature in defined_in(tree, challenge.entry).items():
        owner, _, method = name.partition(".")
        called = f".{method}" if method and method != "__init__" else owner
        found.append(called + signature.parameters.replace("(self, ", "(").replace("(self)", "()"))
    return found


def counterexample_text(challenge: Challenge, report: GradeReport | None) -> str:
    """Return the first counterexample of a report as it can be typed; empty if it is cut or too long."""
    shown = next((c.counterexample for c in report.checks if c.counterexample), None) if report else None
    if shown is None or shown.calls or not shown.args or len(challenge.entry) != 1:
        return ""
    arguments = ", ".join(f"{name}={_typed(value)}" for name, value in shown.args.items())
    text = f"{challenge.entry[0]}({arguments})"
    return text if "…" not in text and len(text) <= _LONGEST_CASE else ""


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
    # Numbers as Python source; NaN and infinity by name.
    is_float = "float" in tensor.dtype
    values = tensor.values or ()
    cells = [repr(float(v)) if is_float and not isinstance(v, str) else str(v) for v in values]
    for size in reversed(tensor.shape):
        cells = [f"[{', '.join(cells[k : k + size])}]" for k in range(0, len(cells), size)]
    return cells[0]


# Files for `attn ladder`


def texts_for_seats(
    workspace: Workspace, seats: Iterable[str], given: Mapping[str, Path]
) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """Return the source for each piece of an engine, and where it comes from.

    A named file comes first, otherwise the last source that solved the challenge. Raises UsageError for a file that is
    missing or cannot be graded.
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
