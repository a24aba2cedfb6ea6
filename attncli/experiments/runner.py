"""An experiment under way: it is started in a process of its own, waited for, and ended when no longer wanted.

Experiments are the program's own code: no sandbox, but nothing of the learner's is handed over either.
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
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, NoReturn, Self

from attncli.domain.text import Lang, Localised, quoted
from attncli.errors import ExperimentFailed, NotFound

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


# The experiments there are, in the order of their list; a file is read with `ast`, and nothing of it is run.

FIRST_SEED = 0
_SAID = ("TITLE", "CLAIM", "CARDS", "CAVEATS", "SEEDS", "SECONDS")
_MAY_SAY = ("TEXT",)


@dataclass(frozen=True, slots=True)
class Experiment:
    """What the file of an experiment says of itself; `cards` are those whose claim it proves.

    `text` is the example of one that looks at a text, None of all others.
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
        """The quick form is content with one seed, whatever the full one asks for."""
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


def catalogue(impl: Path) -> list[Experiment]:
    """All experiments, by id. Raises ExperimentFailed where a file does not say what it must."""
    return [_read(path) for path in sorted((impl / "experiments").glob("*.py"))]


def find(impl: Path, id: str) -> Experiment:
    """The experiment `id`. Raises NotFound with the nearest id."""
    files = {path.stem: path for path in (impl / "experiments").glob("*.py")}
    if id in files:
        return _read(files[id])
    near = get_close_matches(id[:60], files, n=1)
    hint = f"did you mean {near[0]}?" if near else "`attn experiment` lists them"
    raise NotFound(f"there is no experiment {id}; {hint}")


def _read(path: Path) -> Experiment:
    try:
        said = _constants(path)
        quick, full = said["SECONDS"]
        return Experiment(
            id=path.stem,
            file=path,
            title=Localised.of(said["TITLE"]),
            claim=Localised.of(said["CLAIM"]),
            cards=tuple(map(str, said["CARDS"])),
            caveats=tuple(map(Localised.of, said["CAVEATS"])),
            seed_count=int(said["SEEDS"]),
            quick_seconds=float(quick),
            full_seconds=float(full),
            text=Localised.of(said["TEXT"]) if "TEXT" in said else None,
        )
    except (SyntaxError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        raise ExperimentFailed(f"{path} is no experiment ({_why(error)}); it must set {', '.join(_SAID)}") from error


def _constants(path: Path) -> Mapping[str, Any]:
    """The constants that the file sets, without running it."""
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id in _SAID + _MAY_SAY
        ):
            found[node.targets[0].id] = ast.literal_eval(node.value)
    return found


def _why(error: Exception) -> str:
    return f"no {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"


# What an experiment told, checked field by field: kinds, lengths and finite numbers, before anything is drawn.

Kind = Literal["line", "bar", "heat"]
Cell = int | float | bool | Localised
KINDS = ("line", "bar", "heat")
LOGS = ("", "x", "y", "xy")
MOST = {"columns": 12, "rows": 200, "plots": 4, "series": 8, "points": 2000, "marks": 64, "checks": 30}
LONGEST_TEXT = 600
_BEYOND = 1e300


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
    """One thing that must hold for the claim: what was got, and what is due."""

    says: Localised
    holds: bool
    got: str
    due: str

    def document(self, lang: Lang) -> dict[str, Any]:
        return {"says": self.says[lang], "holds": self.holds, "got": self.got, "due": self.due}


@dataclass(frozen=True, slots=True)
class SeedOutcome:
    """What one seed gave."""

    seed: int
    columns: tuple[Localised, ...]
    rows: tuple[tuple[Cell, ...], ...]
    plots: tuple[Plot, ...]
    checks: tuple[ClaimCheck, ...]
    seen: Localised

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
    """The outcome of one seed. Raises ExperimentFailed with the place of what is wrong in it."""
    return _Reader(id).outcome(seed, document)


class _Reader:
    """Reads a result; `at` is the way to the field that is read."""

    def __init__(self, id: str) -> None:
        self.id = id

    def refuse(self, at: str, why: str) -> NoReturn:
        raise ExperimentFailed(f"experiment {self.id} returned no usable result: {at} {why}")

    def outcome(self, seed: int, document: Any) -> SeedOutcome:
        columns = self.list(document, "", "columns", "columns")
        rows = self.list(document, "", "rows", "rows")
        checks = self.list(document, "", "checks", "checks")
        for place, row in enumerate(rows):
            if not isinstance(row, list) or len(row) != len(columns):
                self.refuse(f"rows[{place}]", f"is no list of {len(columns)} cells")
        plots = self.list(document, "", "plots", "plots")
        return SeedOutcome(
            seed=seed,
            columns=tuple(self.text(column, f"columns[{place}]") for place, column in enumerate(columns)),
            rows=tuple(self.cells(row, f"rows[{place}]") for place, row in enumerate(rows)),
            plots=tuple(self.plot(plot, f"plots[{place}]") for place, plot in enumerate(plots)),
            checks=tuple(self.check(check, f"checks[{place}]") for place, check in enumerate(checks)),
            seen=self.text(self.field(document, "", "seen"), "seen"),
        )

    def plot(self, document: Any, at: str) -> Plot:
        kind = self.one_of(document, at, "kind", KINDS)
        title = self.text(self.field(document, at, "title"), f"{at}.title")
        if kind == "heat":
            return self.heat(document, at, title)
        log = self.one_of({"log": "", **document}, at, "log", LOGS)
        x = self.list(document, at, "x", "points" if kind == "line" else "marks")
        xs: Sequence[Cell] = self.numbers(x, f"{at}.x") if kind == "line" else self.cells(x, f"{at}.x")
        if "x" in log and (kind == "bar" or min(x) <= 0):
            self.refuse(f"{at}.x", "has a logarithmic axis, which wants numbers above 0")
        series = tuple(
            self.series(one, f"{at}.series[{place}]", len(x), "y" in log)
            for place, one in enumerate(self.list(document, at, "series", "series"))
        )
        return Plot("bar" if kind == "bar" else "line", title, x=tuple(xs), series=series, log=log)

    def series(self, document: Any, at: str, length: int, log: bool) -> Series:
        y = self.numbers(self.list(document, at, "y", "points"), f"{at}.y")
        if len(y) != length:
            self.refuse(f"{at}.y", f"has {len(y)} values for {length} of x")
        if log and min(y) <= 0:
            self.refuse(f"{at}.y", "has a logarithmic axis, which wants numbers above 0")
        return Series(self.text(self.field(document, at, "name"), f"{at}.name"), y)

    def heat(self, document: Any, at: str, title: Localised) -> Plot:
        rows = self.cells(self.list(document, at, "rows", "marks"), f"{at}.rows")
        columns = self.cells(self.list(document, at, "columns", "marks"), f"{at}.columns")
        values = self.list(document, at, "values", "marks")
        if len(values) != len(rows) or any(not isinstance(row, list) or len(row) != len(columns) for row in values):
            self.refuse(f"{at}.values", f"is not {len(rows)} rows of {len(columns)} numbers")
        numbers = tuple(self.numbers(row, f"{at}.values[{place}]") for place, row in enumerate(values))
        return Plot("heat", title, rows=rows, columns=columns, values=numbers)

    def check(self, document: Any, at: str) -> ClaimCheck:
        holds = self.field(document, at, "holds")
        if not isinstance(holds, bool):
            self.refuse(f"{at}.holds", "is neither true nor false")
        says = self.text(self.field(document, at, "says"), f"{at}.says")
        got, due = (self.string(self.field(document, at, key), f"{at}.{key}") for key in ("got", "due"))
        return ClaimCheck(says, holds, got, due)

    def field(self, document: Any, at: str, key: str) -> Any:
        if not isinstance(document, dict) or key not in document:
            self.refuse(at or "it", f"has no {key}")
        return document[key]

    def list(self, document: Any, at: str, key: str, what: str) -> list[Any]:
        found = self.field(document, at, key)
        way = f"{at}.{key}" if at else key
        if not isinstance(found, list):
            self.refuse(way, "is no list")
        if not found:
            self.refuse(way, "is empty")
        if len(found) > MOST[what]:
            self.refuse(way, f"has {len(found)} entries, may have {MOST[what]}")
        return found

    def one_of(self, document: Any, at: str, key: str, allowed: Sequence[str]) -> str:
        found = self.field(document, at, key)
        if found not in allowed:
            self.refuse(f"{at}.{key}", f"is none of {', '.join(map(repr, allowed))}")
        return str(found)

    def text(self, found: Any, at: str) -> Localised:
        if not isinstance(found, dict) or set(found) != {"en", "zh"}:
            self.refuse(at, "is no text in both languages")
        return Localised(self.string(found["en"], at), self.string(found["zh"], at))

    def string(self, found: Any, at: str) -> str:
        if not isinstance(found, str) or len(found) > LONGEST_TEXT:
            self.refuse(at, f"is no text of at most {LONGEST_TEXT} characters")
        return found

    def cells(self, found: Sequence[Any], at: str) -> tuple[Cell, ...]:
        return tuple(self.cell(one, f"{at}[{place}]") for place, one in enumerate(found))

    def cell(self, found: Any, at: str) -> Cell:
        if isinstance(found, dict):
            return self.text(found, at)
        if isinstance(found, str):
            return quoted(self.string(found, at))
        return found if isinstance(found, bool) else self.number(found, at)

    def numbers(self, found: Sequence[Any], at: str) -> tuple[float, ...]:
        return tuple(self.number(one, f"{at}[{place}]") for place, one in enumerate(found))

    def number(self, found: Any, at: str) -> int | float:
        if isinstance(found, bool) or not isinstance(found, int | float) or not abs(found) < _BEYOND:
            self.refuse(at, "is no finite number")
        return found
