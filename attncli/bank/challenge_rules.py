"""Static rules for the files of a challenge; nothing is run.

They cover the files in its folder, the facts of `inputs.py`, the docstrings of `wrong/`, `repairs.yaml`, the texts of
`challenge.yaml`, and the signatures that its statement shows.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Any

from attncli.bank.link_rules import Known, card_faults
from attncli.bank.loader import BankFile, load, shape_findings
from attncli.bank.mistakes import Mistakes
from attncli.bank.problems import (
    Finding,
    Problem,
    Way,
    did_you_mean,
    in_order,
    kind_of_value,
    one_of,
    shown,
    shown_path,
)
from attncli.bank.prose_rules import english_words, formula_findings, hidden_findings
from attncli.bank.schema import RepairsShape
from attncli.domain.challenge import (
    CARDS,
    FACTS,
    FIELDS,
    LEAST_REPAIRS,
    MOTIFS,
    REPAIRS,
    RUNG,
    SIXTEEN_BITS,
    SUMMARY,
    SUMMARY_ZH,
    SYMPTOM,
    SYMPTOM_ZH,
    Field,
    Repair,
    fields_in,
    listed,
    planted,
    spans,
)
from attncli.domain.text import is_chinese
from attncli.domain.vocabulary import RUNGS
from attncli.errors import EnvironmentFailure
from attncli.i18n import LANGS, NOTHING, Localised, _

MOST_COLUMNS = 140
MOST_LINES = 25
MOST_WORDS = 180
FOLLOW_UPS = 3
_TEXTS = ("title", "statement", "hardened")
_WRITTEN_TWICE = ("statement", "hardened", "follow_ups")
_NEEDED = {
    "reference.py": _("there is no reference.py; write a plain, slow implementation there"),
    "inputs.py": _("inputs.py is missing; define case(make) there, which draws inputs and calls the function"),
    "wrong": _("there is no file in wrong/; write a submission with a typical mistake"),
}


def folder_problems(challenge: BankFile, known: Known) -> list[Problem]:
    """Return every problem of the files beside a `challenge.yaml`, and of its signatures and line lengths."""
    return list(in_order(_Files(challenge, known).problems()))


Fault = tuple[int, Localised]
"""A line of a file, and the error there."""


@dataclass(frozen=True)
class _Source:
    """A Python file: its tree, or the (line, message) of the error that prevents parsing."""

    path: Path
    text: str
    tree: ast.Module | None
    fault: Fault | None


@dataclass(frozen=True)
class _Files:
    challenge: BankFile
    known: Known

    @property
    def yaml(self) -> Path:
        return self.challenge.path

    @property
    def folder(self) -> Path:
        return self.yaml.parent

    @property
    def value(self) -> Mapping[str, Any]:
        return self.challenge.value if isinstance(self.challenge.value, dict) else {}

    @property
    def entry(self) -> list[str]:
        entry = self.value.get("entry")
        return [name for name in entry if isinstance(name, str)] if isinstance(entry, list) else []

    def problems(self) -> Iterator[Problem]:
        wrong, right = self._solutions("wrong"), self._solutions("right")
        for name, message in _NEEDED.items():
            if not (self.folder / name).exists() or (name == "wrong" and not wrong):
                yield _at(self.yaml, 1, message)
        inputs, reference = self._python("inputs.py"), self._python("reference.py")
        for source in (*inputs, *reference, *wrong, *right):
            if source.fault is not None:
                yield _at(source.path, *source.fault)
        yield from _long_lines(self.yaml, self.challenge.parsed.text)
        for source in inputs:
            yield from _long_lines(source.path, source.text)
            yield from _located(source, _fact_faults)
            yield from _located(source, _name_faults)
        for source in wrong:
            yield from _located(source, partial(docstring_faults, card_faults=partial(card_faults, known=self.known)))
        for source in reference:
            yield from self._signatures(source, inputs[0].text if inputs else "", [*wrong, *right])

    def _python(self, name: str) -> list[_Source]:
        path = self.folder / name
        return [_source(path)] if path.exists() else []

    def _solutions(self, kind: str) -> list[_Source]:
        return [_source(path) for path in sorted((self.folder / kind).glob("*.py"))]

    def _signatures(self, reference: _Source, inputs: str, solutions: Sequence[_Source]) -> Iterator[Problem]:
        if reference.tree is None:
            return
        expected = defined_in(reference.tree, self.entry)
        for name in self.entry:
            if name not in {signature.partition(".")[0] for signature in expected}:
                message = _("the reference does not define {name}, which entry lists; define it", name=name)
                yield _at(reference.path, 1, message)
        for lang in LANGS:
            yield from self._statement_signatures(lang, expected)
        for source in solutions:
            if source.tree is not None:
                yield from _other_parameters(source, called(expected, inputs), defined_in(source.tree, self.entry))

    def _statement_signatures(self, lang: str, expected: Mapping[str, Signature]) -> Iterator[Problem]:
        statement = self.value.get("statement")
        text = statement.get(lang) if isinstance(statement, dict) else None
        if not isinstance(text, str):
            return
        first = self._first_line(lang)
        signatures = list(shown_in(text))
        for signature in signatures:
            line = first + signature.line - 1
            if isinstance(signature, UnreadableSignature):
                message = _("{text} is not a signature; write def name(…) -> …", text=shown(signature.text, 80))
                yield _at(self.yaml, line, message)
            elif signature.name in expected and signature.written != expected[signature.name].written:
                message = _(
                    "the statement has {signature}, the reference {other}; make them match",
                    signature=f"{signature.name}{signature.written}",
                    other=expected[signature.name].written,
                )
                yield _at(self.yaml, line, message)
            elif signature.name not in expected and signature.name.partition(".")[0] in self.entry:
                message = _("the reference has no {name}; correct one of the two", name=signature.name)
                yield _at(self.yaml, line, message)
        if any(isinstance(signature, UnreadableSignature) for signature in signatures):
            return
        names = {signature.name.partition(".")[0] for signature in signatures if isinstance(signature, Signature)}
        for name in self.entry:
            if name not in names and any(known.partition(".")[0] == name for known in expected):
                message = _("the statement shows no signature of {name}; add it in a ```python block", name=name)
                yield _at(self.yaml, first, message)

    def _first_line(self, lang: str) -> int:
        """Return the line of the file in which the statement in a language begins."""
        (place,) = self.challenge.parsed.located([Finding(("statement", lang), NOTHING)])
        line = self.challenge.parsed.text.splitlines()[place.line - 1]
        return place.line + (line[place.column - 1 : place.column] in ("|", ">"))


def _other_parameters(
    source: _Source, expected: Mapping[str, Signature], actual: Mapping[str, Signature]
) -> Iterator[Problem]:
    for name, signature in expected.items():
        if name not in actual:
            yield _at(source.path, 1, _("there is no {name} here; define it as the reference does", name=name))
        elif actual[name].parameters != signature.parameters:
            message = _(
                "{name} takes {parameters}, but {expected} in the reference; make them match",
                name=name,
                parameters=actual[name].parameters,
                expected=signature.parameters,
            )
            yield _at(source.path, actual[name].line, message)


def _located(source: _Source, faults: Callable[[ast.Module], Iterator[Fault]]) -> Iterator[Problem]:
    if source.tree is not None:
        yield from (_at(source.path, line, message) for line, message in faults(source.tree))


def _long_lines(path: Path, text: str) -> Iterator[Problem]:
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > MOST_COLUMNS:
            yield Problem(shown_path(path), number, MOST_COLUMNS + 1, _too_long(line))


def _too_long(line: str) -> Localised:
    return _("this line has {count} characters; the limit is {most}; break it", count=len(line), most=MOST_COLUMNS)


def _at(path: Path, line: int, message: Localised) -> Problem:
    return Problem(shown_path(path), line, 1, message)


def _source(path: Path) -> _Source:
    try:
        text = path.read_text(encoding="utf-8")
        return _Source(path, text, ast.parse(text), None)
    except SyntaxError as error:
        message = _("this is not valid Python ({reason}); correct it", reason=error.msg)
        return _Source(path, "", None, (error.lineno or 1, message))
    except (OSError, ValueError) as error:
        return _Source(path, "", None, (1, _("this file cannot be read ({reason}); correct it", reason=error)))


# Facts of `inputs.py`


def _fact_faults(tree: ast.Module) -> Iterator[Fault]:
    """Yield (line, message) for each name in capitals that is not a known fact: the judge would silently ignore it."""
    for node in tree.body:
        for name in _assigned(node):
            if name.id.isupper() and not name.id.startswith("_") and name.id not in FACTS:
                guess = did_you_mean(name.id, FACTS, _("see the list in docs/challenge-format.md"))
                message = _(
                    "unknown fact {name}; {guess} (a constant of your own begins with an underscore)",
                    name=name.id,
                    guess=guess,
                )
                yield name.lineno, message


def _name_faults(tree: ast.Module) -> Iterator[Fault]:
    """Yield (line, message) for each word in a fact that is not an edge case, a motif or a 16-bit rule."""
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    recorded = {name for name in functions if name == "stable" or name.startswith("edge_")}
    known: dict[str, Collection[str]] = {
        "HARDENED": recorded | MOTIFS,
        "WITHOUT_MOTIFS": MOTIFS,
        "SIXTEEN_BITS": SIXTEEN_BITS,
    }
    for node in tree.body:
        for name in _assigned(node):
            if name.id in known and isinstance(node, ast.Assign):
                yield from _unknown_words(name.id, node.value, known[name.id])


def _unknown_words(fact: str, value: ast.expr, known: Collection[str]) -> Iterator[Fault]:
    for part in ast.walk(value):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value not in known:
            guess = did_you_mean(part.value, known, _("see docs/challenge-format.md"))
            message = _('{fact} names "{name}", which does not exist; {guess}', fact=fact, name=part.value, guess=guess)
            yield part.lineno, message


def _assigned(node: ast.stmt) -> Iterator[ast.Name]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        targets = [node.target]
    for target in targets:
        yield from (part for part in ast.walk(target) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))


# Docstrings of wrong solutions

_REMEDIES = {
    SUMMARY: _("describe the mistake in its first line"),
    SUMMARY_ZH: _("describe the mistake in Chinese, below the English"),
    SYMPTOM: _("describe the symptom as symptom: …"),
    SYMPTOM_ZH: _("describe the symptom in Chinese as 症状：…"),
    CARDS: _("list the cards that explain it, e.g. cards: att-01, att-02"),
    RUNG: _("write the rung that it must fail: rung: solved (a mistake in the technique) or rung: hardened"),
}


def docstring_faults(tree: ast.Module, card_faults: Callable[[str], Iterator[Localised]]) -> Iterator[Fault]:
    """Yield (line, message) for the docstring of a wrong file; `card_faults` yields messages about a card's id."""
    docstring = ast.get_docstring(tree, clean=False) or ""
    first = tree.body[0].lineno if tree.body else 1
    fields: dict[str, Field] = {}
    for field in fields_in(docstring):
        line = first + field.line - 1
        if field.name not in FIELDS:
            guess = did_you_mean(field.name, FIELDS, one_of(FIELDS[2:]))
            yield line, _("unknown field {name}; {guess}", name=shown(field.name, 40), guess=guess)
        elif field.name in fields:
            yield line, _("{name} is given twice; keep one", name=shown(field.name))
        fields.setdefault(field.name, field)
    for name, remedy in _REMEDIES.items():
        if name not in fields or not fields[name].text:
            line = first + fields[name].line - 1 if name in fields else first
            yield line, _("the docstring has no {name}; {remedy}", name=name, remedy=remedy)
    for field in fields.values():
        yield from ((first + field.line - 1, message) for message in _text_faults(field, card_faults))
    for number, text in enumerate(docstring.splitlines(), first):
        if len(text) > MOST_COLUMNS:
            yield number, _too_long(text)


def _text_faults(field: Field, card_faults: Callable[[str], Iterator[Localised]]) -> Iterator[Localised]:
    for finding in (*hidden_findings(field.text), *formula_findings({"en": field.text, "zh": ""})):
        yield finding.message
    if field.name == CARDS:
        for card in listed(field.text):
            yield from card_faults(card)
    elif field.name == RUNG and field.text and field.text not in RUNGS:
        guess = did_you_mean(field.text, RUNGS, one_of(RUNGS))
        yield _("unknown rung {name}; {guess}", name=shown(field.text, 40), guess=guess)
    elif field.name == SYMPTOM_ZH and field.text and not is_chinese(field.text):
        yield _("{name} has no Chinese text; add it", name=SYMPTOM_ZH)


# `repairs.yaml`


def load_repairs(folder: Path) -> tuple[Repair, ...]:
    """Load the mistakes that can be planted in the reference of `folder`, none if it has no `repairs.yaml`.

    Raises EnvironmentFailure for a file with an error.
    """
    path = folder / REPAIRS
    if not path.is_file():
        return ()
    file = load(path, "repairs", partial(repair_findings, folder=folder))
    if not file.sound:
        raise EnvironmentFailure(
            _(
                "{problem}; run `attn verify {id}` to list every problem of the challenge",
                problem=file.problems[0].text,
                id=folder.name,
            )
        )
    return _repairs(file.value)


def repair_problems(folder: Path, challenge: Any) -> list[Problem]:
    """Return every problem of the `repairs.yaml` in `folder`, if any; `challenge` is the value of `challenge.yaml`."""
    path = folder / REPAIRS
    if not path.is_file():
        return []
    kernel = isinstance(challenge, dict) and challenge.get("kernel") is True
    return list(load(path, "repairs", partial(repair_findings, folder=folder, kernel=kernel)).problems)


def _repairs(value: Any) -> tuple[Repair, ...]:
    return tuple(Repair(entry["wrong"], entry["find"], entry["replace"]) for entry in value["repairs"])


def repair_findings(value: Any, folder: Path, kernel: bool = False) -> list[Finding]:
    """Return every finding about the `repairs.yaml` of `folder`."""
    if not isinstance(value, dict):
        message = _(
            "repairs.yaml must be a mapping, found {value}; start it with repairs: …", value=kind_of_value(value)
        )
        return [Finding((), message)]
    if kernel:
        message = _("mistakes cannot be planted in a kernel challenge: its reference is not a kernel; remove this file")
        return [Finding((), message)]
    findings = shape_findings(value, RepairsShape, ())
    return findings or list(_planting_findings(_repairs(value), folder))


def _planting_findings(repairs: Sequence[Repair], folder: Path) -> Iterator[Finding]:
    if len(repairs) < LEAST_REPAIRS:
        message = _(
            "only {count} mistakes can be planted; write at least {least} that fit together",
            count=len(repairs),
            least=LEAST_REPAIRS,
        )
        yield Finding(("repairs",), message)
    try:
        source = (folder / "reference.py").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        source = ""  # `folder_problems` reports why
    mistakes = Mistakes(folder)
    named: set[str] = set()
    for number, repair in enumerate(repairs):
        at = ("repairs", number)
        yield from (Finding((*at, "wrong"), message) for message in _mistake_faults(repair.wrong, mistakes))
        if repair.wrong in named:
            message = _("{name} is planted twice; keep one of the two", name=shown(repair.wrong))
            yield Finding((*at, "wrong"), message)
        named.add(repair.wrong)
        yield from (finding.below(at) for finding in _line_findings(repair, source))
    yield from _overlapping(repairs, source)


def _mistake_faults(name: str, mistakes: Mistakes) -> Iterator[Localised]:
    if name not in mistakes:
        guess = did_you_mean(name, mistakes, _("name the file that makes this mistake"))
        yield _("there is no {file}; {guess}", file=shown(f"wrong/{name}.py"), guess=guess)
    elif mistakes[name].rung != "solved":
        yield _("{name} only fails the hardened rung; plant one that fails the first rung", name=shown(name))


def _line_findings(repair: Repair, source: str) -> Iterator[Finding]:
    found = spans(source, repair.find)
    if not found:
        yield Finding(("find",), _("these lines are not in reference.py; copy whole lines, with their comments"))
    elif len(found) > 1:
        lines = ", ".join(str(span.first + 1) for span in found)
        message = _("these lines occur in reference.py at lines {lines}; add a neighbouring line", lines=lines)
        yield Finding(("find",), message)
    elif planted(source, [repair]) == planted(source, []):
        yield Finding(("replace",), _("this changes nothing; write the mistake"))
    else:
        yield from _outcome_findings(planted(source, [repair]))


def _outcome_findings(text: str) -> Iterator[Finding]:
    try:
        ast.parse(text)
    except SyntaxError as error:
        message = _("this makes the reference invalid Python ({reason}); correct it", reason=error.msg)
        yield Finding(("replace",), message)
    if any(len(line) > MOST_COLUMNS for line in text.splitlines()):
        message = _("this makes a line longer than {most} characters; break it", most=MOST_COLUMNS)
        yield Finding(("replace",), message)


def _overlapping(repairs: Sequence[Repair], source: str) -> Iterator[Finding]:
    """Find mistakes in the same lines: they could not be planted together."""
    placed = [
        (found[0], number) for number, repair in enumerate(repairs) if len(found := spans(source, repair.find)) == 1
    ]
    placed.sort(key=lambda at: (at[0].first, at[1]))
    for (before, first), (span, number) in pairwise(placed):
        if span.overlaps(before):
            message = _("these lines overlap with those of {name}; find other lines", name=shown(repairs[first].wrong))
            yield Finding(("repairs", number, "find"), message)


# Texts of `challenge.yaml`


def statement_findings(value: Mapping[str, Any]) -> Iterator[Finding]:
    """Check that the texts of a `challenge.yaml` are in both languages, and its statement short enough."""
    for way, text in _texts(value):
        if _is_text(text.get("zh")) and not is_chinese(text["zh"]):
            if text["zh"] != text.get("en"):
                yield Finding((*way, "zh"), _("the Chinese text is missing; add it"))
            elif way[0] in _WRITTEN_TWICE:
                yield Finding((*way, "zh"), _("this text repeats the English; write it in Chinese"))
        if _is_text(text.get("en")) and not any("a" <= char <= "z" for char in text["en"].lower()):
            yield Finding((*way, "en"), _("this text has no English; write it in English"))
    yield from _length_findings(value.get("statement"))


def _texts(value: Mapping[str, Any]) -> Iterator[tuple[Way, Mapping[str, Any]]]:
    texts: list[tuple[Way, Any]] = [((key,), value.get(key)) for key in _TEXTS]
    hints, follow_ups = value.get("hints"), value.get("follow_ups")
    texts += [(("hints", number), hint) for number, hint in enumerate(hints if isinstance(hints, list) else ())]
    for number, entry in enumerate(follow_ups if isinstance(follow_ups, list) else ()):
        if isinstance(entry, dict):
            texts += [(("follow_ups", number, key), entry.get(key)) for key in ("ask", "answer")]
    return ((way, text) for way, text in texts if isinstance(text, dict))


def follow_up_findings(value: Mapping[str, Any], bundled: bool) -> Iterator[Finding]:
    """Check the follow-ups and sources of a challenge; one that is not `bundled` may leave them out."""
    asked = value.get("follow_ups") or ()
    if len(asked) != FOLLOW_UPS and (asked or bundled):
        yield Finding(("follow_ups",), _few_follow_ups(len(asked), bundled), at_key=True)
    if bundled and not value.get("sources"):
        yield Finding(("sources",), _("there is no source; cite the paper or page that it comes from"), at_key=True)
    for lang in LANGS:
        questions = [entry["ask"][lang] for entry in asked]
        for number, question in enumerate(questions):
            if question in questions[:number]:
                yield Finding(("follow_ups", number, "ask", lang), _("this is asked twice; ask something else"))


def _few_follow_ups(count: int, bundled: bool) -> Localised:
    if bundled:
        return _(
            "a challenge needs {expected} follow-ups, found {count}; write what interviewers ask next",
            count=count,
            expected=FOLLOW_UPS,
        )
    return _(
        "a challenge needs {expected} follow-ups, found {count}; write what interviewers ask next, or remove them",
        count=count,
        expected=FOLLOW_UPS,
    )


def _is_text(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())


def _length_findings(statement: Any) -> Iterator[Finding]:
    if not isinstance(statement, dict):
        return
    remedy = _("move production-only requirements to hardened, and omit what all challenges share")
    for lang in LANGS:
        text = statement.get(lang)
        if not isinstance(text, str):
            continue
        lines, words = len(text.strip("\n").splitlines()), english_words(text)
        if lines > MOST_LINES:
            message = _(
                "the statement has {count} lines; the limit is {most}; {remedy}",
                count=lines,
                most=MOST_LINES,
                remedy=remedy,
            )
            yield Finding(("statement", lang), message)
        if lang == "en" and words > MOST_WORDS:
            message = _(
                "the statement has {count} words; the limit is {most}; {remedy}",
                count=words,
                most=MOST_WORDS,
                remedy=remedy,
            )
            yield Finding(("statement", lang), message)


# Signatures

_CLASS = re.compile(r"class\s+(\w+)")
_COMMENT = re.compile(r"\s*#.*")


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature of a function or a method (`Class.method`), defined in line `line`."""

    name: str
    line: int
    arguments: ast.arguments
    returns: ast.expr | None

    @property
    def written(self) -> str:
        """The signature with annotations, defaults and result."""
        returns = f" -> {ast.unparse(self.returns)}" if self.returns is not None else ""
        return f"({ast.unparse(self.arguments)}){returns}"

    @property
    def parameters(self) -> str:
        """The names and defaults; a default that is a name counts as equal to any other name."""
        bare = ast.parse(f"def f({ast.unparse(self.arguments)}): ...").body[0]
        assert isinstance(bare, ast.FunctionDef)
        for argument in ast.walk(bare.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        defaults = (bare.args.defaults, bare.args.kw_defaults)
        for given in defaults:
            given[:] = [ast.Name("…") if isinstance(default, ast.Name) else default for default in given]  # type: ignore[misc]
        return f"({ast.unparse(bare.args)})"


def defined_in(tree: ast.Module, entry: Collection[str]) -> dict[str, Signature]:
    """Return the signatures of every entry function, and of constructor and public methods of every entry class."""
    found: dict[str, Signature] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in entry:
            found[node.name] = _signature(node.name, node)
        elif isinstance(node, ast.ClassDef) and node.name in entry:
            found |= {signature.name: signature for signature in _methods(node)}
    return found


def called(signatures: Mapping[str, Signature], inputs: str) -> dict[str, Signature]:
    """Return the signatures that are called on every submission: functions, constructors, methods in `inputs.py`."""
    found = {}
    for name, signature in signatures.items():
        method = name.partition(".")[2]
        if method in ("", "__init__") or f'"{method}"' in inputs:
            found[name] = signature
    return found


def _methods(node: ast.ClassDef) -> Iterator[Signature]:
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and (member.name == "__init__" or not member.name.startswith("_")):
            yield _signature(f"{node.name}.{member.name}", member)


def _signature(name: str, node: ast.FunctionDef, line: int = 0) -> Signature:
    return Signature(name, line or node.lineno, node.args, node.returns)


@dataclass(frozen=True, slots=True)
class UnreadableSignature:
    """A line of a statement that starts like a signature but does not parse."""

    line: int
    text: str


def shown_in(statement: str) -> Iterator[Signature | UnreadableSignature]:
    """Yield the signatures in the Python blocks of a statement; `line` counts its lines from 1."""
    owner, owner_indent = "", -1
    lines = list(_block_lines(statement))
    while lines:
        number, line = lines.pop(0)
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent <= owner_indent:
            owner, owner_indent = "", -1
        if header := _CLASS.match(line.strip()):
            owner, owner_indent = header[1], indent
        elif line.strip().startswith("def "):
            while _is_open(line) and lines:
                line += "\n" + lines.pop(0)[1]
            yield _read_signature(line, owner, number)


def _block_lines(statement: str) -> Iterator[tuple[int, str]]:
    inside = False
    for number, line in enumerate(statement.splitlines(), 1):
        if line.strip().startswith("```"):
            inside = line.strip() == "```python"
        elif inside:
            yield number, _COMMENT.sub("", line)


def _is_open(header: str) -> bool:
    return sum(map(header.count, "([{")) > sum(map(header.count, ")]}"))


def _read_signature(header: str, owner: str, line: int) -> Signature | UnreadableSignature:
    whole = dedent(header).rstrip().removesuffix("...").rstrip().removesuffix(":")
    try:
        node = ast.parse(f"{whole}: ...").body[0]
    except SyntaxError:
        return UnreadableSignature(line, header.strip())
    assert isinstance(node, ast.FunctionDef)
    return _signature(f"{owner}.{node.name}" if owner else node.name, node, line)
