"""List the experiments, run one in its own process, and read its results.

The file of an experiment is read with `ast` and runs only in the child process. Experiments are the program's own code:
they need no sandbox, and receive no code of the learner. Results are checked field by field before anything is drawn.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn, Self

from attncli.errors import ExperimentFailed, NotFound, did_you_mean, reason_of
from attncli.i18n import NOTHING, Lang, Localised, _, quoted

LONGEST_LINE = 1 << 20
OnProgress = Callable[[float], None]

FIRST_SEED = 0
_REQUIRED = ("TITLE", "CLAIM", "CARDS", "CAVEATS", "SEEDS", "SECONDS")
_OPTIONAL = ("TEXT",)

Kind = Literal["line", "bar", "heat"]
Cell = int | float | bool | Localised
KINDS = ("line", "bar", "heat")
LOGS = ("", "x", "y", "xy")
MOST = {"columns": 12, "rows": 200, "plots": 4, "series": 8, "points": 2000, "marks": 64, "checks": 30}
LONGEST_TEXT = 600
_LARGEST = 1e300

_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


@dataclass(frozen=True, slots=True)
class Experiment:
    """The constants of an experiment's file; `cards` are the cards whose claim it proves.

    `text` is the example text of an experiment that reads one, None of all others.
    """

    id: str
    file: Path
    title: Localised
    claim: Localised
    cards: tuple[str, ...]
    caveats: tuple[Localised, ...]
    seed_count: int
    quick_seconds: float
    full_seconds: float
    text: Localised | None = None

    def seeds(self, quick: bool, first: int = FIRST_SEED) -> list[int]:
        """Return the seeds to run: one in the quick form."""
        return list(range(first, first + (1 if quick else self.seed_count)))

    def document(self, lang: Lang) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title[lang],
            "claim": self.claim[lang],
            "seconds": {"quick": self.quick_seconds, "full": self.full_seconds},
            "seeds": self.seed_count,
            "cards": list(self.cards),
        }


class ChildRun:
    """One run of an experiment over some seeds. The process starts at once; `outcomes` waits for it.

    `text` is for an experiment that reads one. `control` applies the change that must break its claim. Raises
    ExperimentFailed if the process cannot start.
    """

    def __init__(
        self,
        experiment: Experiment,
        impl: Path,
        seeds: Sequence[int],
        quick: bool,
        text: str = "",
        *,
        control: bool = False,
    ) -> None:
        self.experiment = experiment
        self.seeds = list(seeds)
        request = {
            "file": str(experiment.file),
            "impl": str(impl),
            "seeds": self.seeds,
            "quick": quick,
            "text": text,
            "control": control,
        }
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
                start_new_session=True,  # Ctrl-C goes to the caller, which ends this process by `kill`
            )
        except OSError as error:
            self._log.close()
            raise ExperimentFailed(
                _(
                    "cannot start experiment {id} ({executable}: {strerror}); close other programs and try again",
                    id=experiment.id,
                    executable=sys.executable,
                    strerror=reason_of(error),
                )
            ) from error

    def outcomes(self, on_progress: OnProgress = lambda share: None) -> list[SeedOutcome]:
        """Return the outcome of each seed. Raises ExperimentFailed if the process dies or writes an invalid result."""
        outcomes = []
        for event in self._events():
            if "error" in event:
                raise ExperimentFailed(self._explain(str(event["error"])))
            if "result" in event:
                outcomes.append(outcome_of(self.experiment.id, event["seed"], event["result"]))
                on_progress(len(outcomes) / len(self.seeds))
            else:
                on_progress(float(event["progress"]))
        if len(outcomes) < len(self.seeds):
            raise ExperimentFailed(self._ending())
        if len({tuple(check.says for check in outcome.checks) for outcome in outcomes}) > 1:
            raise ExperimentFailed(_("experiment {id} must run the same checks for every seed", id=self.experiment.id))
        return outcomes

    def kill(self) -> None:
        """Kill the process at any stage."""
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
                raise ExperimentFailed(
                    _(
                        "experiment {id} reported more than {longest_line} MiB",
                        id=self.experiment.id,
                        longest_line=LONGEST_LINE >> 20,
                    )
                )
            yield json.loads(line)

    def _ending(self) -> Localised:
        id = self.experiment.id
        try:
            status = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return _("experiment {id} stopped reporting before it ended; run it again", id=id)
        self._log.seek(0)
        log = self._log.read()[-4096:].decode("utf-8", "replace").strip().splitlines()
        last = _(" ({reason})", reason=log[-1]) if log else NOTHING
        if status < 0:
            return _(
                "experiment {id} was killed by signal {signal} before it had a result{last}; run it again",
                id=id,
                signal=-status,
                last=last,
            )
        return _(
            "experiment {id} ended with status {status} before it had a result{last}; run it again",
            id=id,
            status=status,
            last=last,
        )

    def _explain(self, text: str) -> Localised:
        if "No module named 'torch'" in text:
            return _(
                "experiment {id} needs PyTorch, which is not installed; install it with: pip install torch",
                id=self.experiment.id,
            )
        return _("experiment {event}", event=text)


# Reading the files of experiments


def catalogue(impl: Path) -> list[Experiment]:
    """Return all experiments, by id. Raises ExperimentFailed if a file lacks a required constant."""
    return [_read_experiment(path) for path in sorted((impl / "experiments").glob("*.py"))]


def find(impl: Path, id: str) -> Experiment:
    """Return the experiment `id`. Raises NotFound with the nearest id."""
    files = {path.stem: path for path in (impl / "experiments").glob("*.py")}
    if id in files:
        return _read_experiment(files[id])
    hint = did_you_mean(id, files, _("`attn experiment` lists them"))
    raise NotFound(_("there is no experiment {id}; {hint}", id=id, hint=hint))


def _read_experiment(path: Path) -> Experiment:
    try:
        constants = _read_constants(path)
        quick, full = constants["SECONDS"]
        return Experiment(
            id=path.stem,
            file=path,
            title=Localised.of(constants["TITLE"]),
            claim=Localised.of(constants["CLAIM"]),
            cards=tuple(map(str, constants["CARDS"])),
            caveats=tuple(map(Localised.of, constants["CAVEATS"])),
            seed_count=int(constants["SEEDS"]),
            quick_seconds=float(quick),
            full_seconds=float(full),
            text=Localised.of(constants["TEXT"]) if "TEXT" in constants else None,
        )
    except (SyntaxError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        is_missing = isinstance(error, KeyError)
        reason = _("{error} is missing", error=error) if is_missing else quoted(f"{type(error).__name__}: {error}")
        raise ExperimentFailed(
            _(
                "{path} is not an experiment ({reason}); it must define {names}",
                path=path,
                reason=reason,
                names=", ".join(_REQUIRED),
            )
        ) from error


def _read_constants(path: Path) -> Mapping[str, Any]:
    """Return the constants that the file sets, without running it."""
    constants = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name), *_], value=value) if name in _REQUIRED + _OPTIONAL:
                constants[name] = ast.literal_eval(value)
    return constants


# Reading a result, field by field, before anything is drawn


@dataclass(frozen=True, slots=True)
class Series:
    """One line, or one bar of each group."""

    name: Localised
    y: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """`x` are numbers for a line, labels for bars; a heat map has `rows`, `columns` and `values` instead."""

    kind: Kind
    title: Localised
    x: tuple[Cell, ...] = ()
    series: tuple[Series, ...] = ()
    log: str = ""
    rows: tuple[Cell, ...] = ()
    columns: tuple[Cell, ...] = ()
    values: tuple[tuple[float, ...], ...] = ()

    def document(self, lang: Lang) -> dict[str, Any]:
        shared = {"kind": self.kind, "title": self.title[lang]}
        if self.kind == "heat":
            labels = {"rows": _plain(self.rows, lang), "columns": _plain(self.columns, lang)}
            return {**shared, **labels, "values": [list(row) for row in self.values]}
        series = [{"name": series.name[lang], "y": list(series.y)} for series in self.series]
        return {**shared, "x": _plain(self.x, lang), "series": series, "log": self.log}


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """A condition of the claim, with the actual and the expected value in words."""

    says: Localised
    holds: bool
    got: str
    due: str

    def document(self, lang: Lang) -> dict[str, Any]:
        return {"says": self.says[lang], "holds": self.holds, "got": self.got, "due": self.due}


@dataclass(frozen=True, slots=True)
class SeedOutcome:
    """The outcome of one seed; `seen` describes the observation, `skipped` the part of the claim that was not run."""

    seed: int
    columns: tuple[Localised, ...]
    rows: tuple[tuple[Cell, ...], ...]
    plots: tuple[Plot, ...]
    checks: tuple[ClaimCheck, ...]
    seen: Localised
    skipped: Localised = NOTHING

    @property
    def holds(self) -> bool:
        return all(check.holds for check in self.checks)

    def document(self, lang: Lang) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "holds": self.holds,
            "columns": [column[lang] for column in self.columns],
            "rows": [_plain(row, lang) for row in self.rows],
            "plots": [plot.document(lang) for plot in self.plots],
            "checks": [check.document(lang) for check in self.checks],
            "seen": self.seen[lang],
        }


def _plain(cells: Sequence[Cell], lang: Lang) -> list[Any]:
    return [cell[lang] if isinstance(cell, Localised) else cell for cell in cells]


def outcome_of(id: str, seed: int, document: Any) -> SeedOutcome:
    """Read the outcome of one seed. Raises ExperimentFailed with the path of an invalid field."""
    return _Reader(id).outcome(seed, document)


class _Reader:
    """Read a result; `path` is that of the field being read."""

    def __init__(self, id: str) -> None:
        self.id = id

    def refuse(self, path: str, why: Localised) -> NoReturn:
        raise ExperimentFailed(
            _("experiment {id} returned no usable result: {path} {why}", id=self.id, path=path, why=why)
        )

    def outcome(self, seed: int, document: Any) -> SeedOutcome:
        columns = self.list(document, "", "columns", "columns")
        rows = self.list(document, "", "rows", "rows")
        checks = self.list(document, "", "checks", "checks")
        for index, row in enumerate(rows):
            if not isinstance(row, list) or len(row) != len(columns):
                self.refuse(f"rows[{index}]", _("is not a list of {count} cells", count=len(columns)))
        plots = self.list(document, "", "plots", "plots")
        return SeedOutcome(
            seed=seed,
            columns=tuple(self.text(column, f"columns[{index}]") for index, column in enumerate(columns)),
            rows=tuple(self.cells(row, f"rows[{index}]") for index, row in enumerate(rows)),
            plots=tuple(self.plot(plot, f"plots[{index}]") for index, plot in enumerate(plots)),
            checks=tuple(self.check(check, f"checks[{index}]") for index, check in enumerate(checks)),
            seen=self.text(self.field(document, "", "seen"), "seen"),
            skipped=self.text(document["skipped"], "skipped") if "skipped" in document else NOTHING,
        )

    def plot(self, document: Any, path: str) -> Plot:
        kind = self.one_of(document, path, "kind", KINDS)
        title = self.text(self.field(document, path, "title"), f"{path}.title")
        if kind == "heat":
            return self.heat(document, path, title)
        log = self.one_of({"log": "", **document}, path, "log", LOGS)
        x = self.list(document, path, "x", "points" if kind == "line" else "marks")
        xs: Sequence[Cell] = self.numbers(x, f"{path}.x") if kind == "line" else self.cells(x, f"{path}.x")
        if "x" in log and (kind == "bar" or min(x) <= 0):
            self.refuse(f"{path}.x", _("has a logarithmic axis, which needs numbers above 0"))
        series = tuple(
            self.series(one, f"{path}.series[{index}]", len(x), "y" in log)
            for index, one in enumerate(self.list(document, path, "series", "series"))
        )
        return Plot("bar" if kind == "bar" else "line", title, x=tuple(xs), series=series, log=log)

    def series(self, document: Any, path: str, length: int, log: bool) -> Series:
        y = self.numbers(self.list(document, path, "y", "points"), f"{path}.y")
        if len(y) != length:
            self.refuse(f"{path}.y", _("has {count} values, but x has {length}", count=len(y), length=length))
        if log and min(y) <= 0:
            self.refuse(f"{path}.y", _("has a logarithmic axis, which needs numbers above 0"))
        return Series(self.text(self.field(document, path, "name"), f"{path}.name"), y)

    def heat(self, document: Any, path: str, title: Localised) -> Plot:
        rows = self.cells(self.list(document, path, "rows", "marks"), f"{path}.rows")
        columns = self.cells(self.list(document, path, "columns", "marks"), f"{path}.columns")
        values = self.list(document, path, "values", "marks")
        if len(values) != len(rows) or any(not isinstance(row, list) or len(row) != len(columns) for row in values):
            self.refuse(
                f"{path}.values", _("is not {rows} rows of {columns} numbers", rows=len(rows), columns=len(columns))
            )
        numbers = tuple(self.numbers(row, f"{path}.values[{index}]") for index, row in enumerate(values))
        return Plot("heat", title, rows=rows, columns=columns, values=numbers)

    def check(self, document: Any, path: str) -> ClaimCheck:
        holds = self.field(document, path, "holds")
        if not isinstance(holds, bool):
            self.refuse(f"{path}.holds", _("is neither true nor false"))
        says = self.text(self.field(document, path, "says"), f"{path}.says")
        got, due = (self.string(self.field(document, path, key), f"{path}.{key}") for key in ("got", "due"))
        return ClaimCheck(says, holds, got, due)

    def field(self, document: Any, path: str, key: str) -> Any:
        if not isinstance(document, dict) or key not in document:
            self.refuse(path or "result", _("has no {key}", key=key))
        return document[key]

    def list(self, document: Any, path: str, key: str, what: str) -> list[Any]:
        value = self.field(document, path, key)
        field_path = f"{path}.{key}" if path else key
        if not isinstance(value, list):
            self.refuse(field_path, _("is not a list"))
        if not value:
            self.refuse(field_path, _("is empty"))
        if len(value) > MOST[what]:
            self.refuse(field_path, _("has {count} entries; the limit is {most}", count=len(value), most=MOST[what]))
        return value

    def one_of(self, document: Any, path: str, key: str, allowed: Sequence[str]) -> str:
        value = self.field(document, path, key)
        if value not in allowed:
            self.refuse(f"{path}.{key}", _("is not one of {allowed}", allowed=", ".join(map(repr, allowed))))
        return str(value)

    def text(self, value: Any, path: str) -> Localised:
        if not isinstance(value, dict) or set(value) != {"en", "zh"}:
            self.refuse(path, _("is not a text in both languages"))
        return Localised(self.string(value["en"], path), self.string(value["zh"], path))

    def string(self, value: Any, path: str) -> str:
        if not isinstance(value, str) or len(value) > LONGEST_TEXT:
            self.refuse(path, _("is not a text of at most {most} characters", most=LONGEST_TEXT))
        return value

    def cells(self, value: Sequence[Any], path: str) -> tuple[Cell, ...]:
        return tuple(self.cell(one, f"{path}[{index}]") for index, one in enumerate(value))

    def cell(self, value: Any, path: str) -> Cell:
        if isinstance(value, dict):
            return self.text(value, path)
        if isinstance(value, str):
            return quoted(self.string(value, path))
        return value if isinstance(value, bool) else self.number(value, path)

    def numbers(self, value: Sequence[Any], path: str) -> tuple[float, ...]:
        return tuple(self.number(one, f"{path}[{index}]") for index, one in enumerate(value))

    def number(self, value: Any, path: str) -> int | float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
            self.refuse(path, _("is not a finite number"))
        return value
