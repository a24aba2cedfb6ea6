"""The experiments there are, in the order of their list; a file is read with `ast`, and nothing of it is run."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from attncli.domain.text import Lang, Localised
from attncli.errors import ExperimentFailed, NotFound

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
