"""What is wrong with the files of a challenge, as far as reading shows it: nothing here is run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attncli.bank.link_rules import Known, card_faults
from attncli.bank.problems import Finding, Problem, shown, shown_path, visible
from attncli.bank.reading.signatures import Signature, UnreadableSignature, called, defined_in, shown_in
from attncli.bank.reading.yaml_places import located
from attncli.bank.rules.fact_rules import fact_faults, name_faults
from attncli.bank.rules.mistake_rules import MOST_COLUMNS, docstring_faults
from attncli.bank.yaml_reader import UnreadableYaml, read_text

_MEANT = {
    "reference.py": "write the technique, plain and slow, as the spec",
    "inputs.py": "write what is drawn and called: case(make)",
    "wrong": "write a submission with the mistake that people make",
}


def folder_problems(yaml: Path, value: Any, known: Known) -> list[Problem]:
    """Every fault of the files beside a `challenge.yaml`, and of its lines; `value` is what was read of it."""
    return sorted(set(_Files(yaml, value if isinstance(value, dict) else {}, known).problems()))


@dataclass(frozen=True)
class _Source:
    path: Path
    text: str
    tree: ast.Module | None
    fault: tuple[int, str] | None


@dataclass(frozen=True)
class _Files:
    yaml: Path
    value: Mapping[str, Any]
    known: Known

    @property
    def folder(self) -> Path:
        return self.yaml.parent

    @property
    def entry(self) -> list[str]:
        entry = self.value.get("entry")
        return [name for name in entry if isinstance(name, str)] if isinstance(entry, list) else []

    def problems(self) -> Iterator[Problem]:
        for name, meant in _MEANT.items():
            if not (self.folder / name).exists() or (name == "wrong" and not self._solutions("wrong")):
                missing = "no file in wrong/" if name == "wrong" else f"no {name}"
                yield _at(self.yaml, 1, f"there is {missing}; {meant}")
        inputs, reference = self._python("inputs.py"), self._python("reference.py")
        solutions = [source for kind in ("wrong", "right") for source in self._solutions(kind)]
        for source in (*inputs, *reference, *solutions):
            if source.fault is not None:
                yield _at(source.path, *source.fault)
        yield from _long_lines(self.yaml, _read(self.yaml))
        for source in inputs:
            yield from _long_lines(source.path, source.text)
            yield from _told(source, fact_faults)
            yield from _told(source, name_faults)
        for source in self._solutions("wrong"):
            yield from _told(source, lambda tree: docstring_faults(tree, self._cards))
        for source in reference:
            yield from self._signatures(source, inputs[0].text if inputs else "", solutions)

    def _cards(self, card: str) -> Iterator[str]:
        return card_faults(card, self.known)

    def _python(self, name: str) -> list[_Source]:
        path = self.folder / name
        return [_source(path)] if path.exists() else []

    def _solutions(self, kind: str) -> list[_Source]:
        return [_source(path) for path in sorted((self.folder / kind).glob("*.py"))]

    def _signatures(self, reference: _Source, inputs: str, solutions: Sequence[_Source]) -> Iterator[Problem]:
        if reference.tree is None:
            return
        due = defined_in(reference.tree, self.entry)
        for name in self.entry:
            if name not in {signature.partition(".")[0] for signature in due}:
                yield _at(reference.path, 1, f"the reference defines no {name}, which entry names; define it")
        for lang in ("en", "zh"):
            yield from self._shown(lang, due)
        for source in solutions:
            if source.tree is not None:
                yield from _other_parameters(source, called(due, inputs), defined_in(source.tree, self.entry))

    def _shown(self, lang: str, due: Mapping[str, Signature]) -> Iterator[Problem]:
        statement = self.value.get("statement")
        text = statement.get(lang) if isinstance(statement, dict) else None
        if not isinstance(text, str):
            return
        first = self._first_line(lang)
        found = list(shown_in(text))
        for signature in found:
            line = first + signature.line - 1
            if isinstance(signature, UnreadableSignature):
                yield _at(self.yaml, line, f"{shown(signature.text, 80)} is no signature; write def name(…) -> …")
            elif signature.name in due and signature.written != due[signature.name].written:
                said = f"the statement has {signature.name}{signature.written}"
                yield _at(self.yaml, line, f"{said}, the reference {due[signature.name].written}; write the same")
            elif signature.name not in due and signature.name.partition(".")[0] in self.entry:
                yield _at(self.yaml, line, f"the reference has no {signature.name}; correct one of the two")
        if any(isinstance(signature, UnreadableSignature) for signature in found):
            return
        names = {signature.name.partition(".")[0] for signature in found if isinstance(signature, Signature)}
        for name in self.entry:
            if name not in names and any(known.partition(".")[0] == name for known in due):
                yield _at(self.yaml, first, f"the statement shows no signature of {name}; write it as ```python")

    def _first_line(self, lang: str) -> int:
        """The line of the file in which a text of the statement begins."""
        text = _read(self.yaml)
        (place,) = located("", text, [Finding(("statement", lang), "")])
        line = text.splitlines()[place.line - 1] if place.line <= len(text.splitlines()) else ""
        return place.line + (line[place.column - 1 : place.column] in ("|", ">"))


def _other_parameters(
    source: _Source, due: Mapping[str, Signature], found: Mapping[str, Signature]
) -> Iterator[Problem]:
    for name, signature in due.items():
        if name not in found:
            yield _at(source.path, 1, f"there is no {name} here; define it as the reference does")
        elif found[name].parameters != signature.parameters:
            said = f"{name} takes {found[name].parameters}, the reference's {signature.parameters}"
            yield _at(source.path, found[name].line, f"{said}; take the same")


def _told(source: _Source, faults: Callable[[ast.Module], Iterator[tuple[int, str]]]) -> Iterator[Problem]:
    if source.tree is not None:
        yield from (_at(source.path, line, message) for line, message in faults(source.tree))


def _long_lines(path: Path, text: str) -> Iterator[Problem]:
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > MOST_COLUMNS:
            message = f"this line has {len(line)} characters, may have {MOST_COLUMNS}; break it"
            yield Problem(shown_path(path), number, MOST_COLUMNS + 1, message)


def _at(path: Path, line: int, message: str) -> Problem:
    return Problem(shown_path(path), line, 1, visible(message))


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except UnreadableYaml:
        return ""  # the reading of the YAML has told why


def _source(path: Path) -> _Source:
    try:
        text = path.read_text(encoding="utf-8")
        return _Source(path, text, ast.parse(text), None)
    except SyntaxError as error:
        return _Source(path, "", None, (error.lineno or 1, f"this is no Python ({error.msg}); correct it"))
    except (OSError, ValueError) as error:
        return _Source(path, "", None, (1, f"this file cannot be read ({error}); correct it"))
