"""List the experiments, run one in its own process, and read its results.

The file of an experiment is read with `ast` and runs only in the child process. Experiments are the program's own code:
they need no sandbox, and receive no code of the learner. The tests draw the results of every experiment.
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
from typing import Any, Literal, Self

from attncli.errors import ExperimentFailed, NotFound, did_you_mean, reason_of
from attncli.i18n import NOTHING, Lang, Localised, _, quoted

LONGEST_LINE = 1 << 20
OnProgress = Callable[[float], None]

_REQUIRED = ("TITLE", "CLAIM", "CARDS", "CAVEATS", "SEEDS", "SECONDS")
_OPTIONAL = ("TEXT",)

Kind = Literal["line", "bar", "heat"]
Cell = int | float | bool | Localised

_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


@dataclass(frozen=True, slots=True)
class Experiment:
    """The constants of an experiment's file; `cards` are the cards whose claim it demonstrates.

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

    def seeds(self, quick: bool) -> list[int]:
        """Return the seeds to run: one in the quick form."""
        return list(range(1 if quick else self.seed_count))

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
        raise ExperimentFailed(
            _(
                "{path} is not an experiment ({reason}); it must define {names}",
                path=path,
                reason=_reason(error),
                names=", ".join(_REQUIRED),
            )
        ) from error


def _reason(error: Exception) -> Localised:
    if isinstance(error, KeyError):
        return _("{error} is missing", error=error)
    return quoted(f"{type(error).__name__}: {error}")


def _read_constants(path: Path) -> Mapping[str, Any]:
    """Return the constants that the file sets, without running it."""
    constants = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name), *_], value=value) if name in _REQUIRED + _OPTIONAL:
                constants[name] = ast.literal_eval(value)
    return constants


# Reading a result


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
    """Return the outcome of one seed. Raises ExperimentFailed that names what is missing or malformed."""
    try:
        return SeedOutcome(
            seed=seed,
            columns=tuple(map(Localised.of, document["columns"])),
            rows=tuple(map(_cells, document["rows"])),
            plots=tuple(map(_plot, document["plots"])),
            checks=tuple(ClaimCheck(**{**check, "says": Localised.of(check["says"])}) for check in document["checks"]),
            seen=Localised.of(document["seen"]),
            skipped=Localised.of(document["skipped"]) if "skipped" in document else NOTHING,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ExperimentFailed(
            _("experiment {id} returned no usable result: {why}", id=id, why=_reason(error))
        ) from error


def _plot(document: dict[str, Any]) -> Plot:
    series = tuple(Series(Localised.of(one["name"]), tuple(one["y"])) for one in document.get("series", ()))
    values = tuple(map(tuple, document.get("values", ())))
    x, rows, columns = (_cells(document.get(key, ())) for key in ("x", "rows", "columns"))
    title = Localised.of(document["title"])
    return Plot(document["kind"], title, x, series, document.get("log", ""), rows, columns, values)


def _cells(values: Sequence[Any]) -> tuple[Cell, ...]:
    return tuple(
        Localised.of(value) if isinstance(value, dict) else quoted(value) if isinstance(value, str) else value
        for value in values
    )
