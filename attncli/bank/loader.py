"""Bank files to the documents of cards and challenges. A file with a problem contributes nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from attncli.bank.card_rules import card_findings, choices_of
from attncli.bank.problems import (
    Finding,
    Problem,
    Way,
    did_you_mean,
    findings_of,
    kind_of_value,
    one_of,
    shown,
    shown_path,
)
from attncli.bank.schema import (
    OWN_SHAPES,
    SHAPES,
    ChallengeShape,
    GlossaryShape,
    LedgerShape,
    TopicShape,
    UnknownKindShape,
)
from attncli.bank.yaml_reader import UnreadableYaml, located, parse, read_text
from attncli.domain.card import is_identifier
from attncli.domain.challenge import REPAIRS
from attncli.domain.text import LANGS

# Plain values to documents: shape first, then the rules, all findings at once.

Document = dict[str, Any]


def shape_findings(value: Any, model: type[BaseModel], base: Way) -> list[Finding]:
    """What keeps a value from having the shape of `model`."""
    try:
        model.model_validate(value)
    except ValidationError as error:
        return findings_of(error, model, base)
    return []


def topic_findings(value: Any, own: bool = False) -> list[Finding]:
    """Every finding about a whole bank file; of a learner's `own`, completed, less is asked."""
    if not isinstance(value, dict):
        found = kind_of_value(value)
        return [Finding((), f"a bank file is a mapping with topic and cards, found {found}; start it with topic: …")]
    findings = shape_findings(value, TopicShape, ())
    cards = value.get("cards")
    if isinstance(cards, list):
        for number, card in enumerate(cards):
            findings += _card(card, ("cards", number), own)
        findings += _repeated_ids(cards)
    return findings


def _card(card: Any, base: Way, own: bool) -> list[Finding]:
    if not isinstance(card, dict):
        return [Finding(base, f"a card is a mapping, found {kind_of_value(card)}; start it with id: …")]
    kind = card.get("kind")
    model = (OWN_SHAPES if own else SHAPES).get(str(kind), UnknownKindShape)
    findings = [*_kind(card, base), *shape_findings(card, model, base)]
    faulty = {str(found.path[len(base)]) for found in findings}
    faulty |= {name for name, shape in model.model_fields.items() if shape.is_required() and name not in card}
    return [*findings, *(found.below(base) for found in card_findings(card, faulty, own))]


def _kind(card: dict[str, Any], base: Way) -> list[Finding]:
    kind = card.get("kind")
    if isinstance(kind, str) and kind in SHAPES:
        return []
    if "kind" not in card:
        message = 'missing "kind": say kind: qa (or choice, numeric, cloze, ordering, debug)'
    else:
        guess = f"{did_you_mean(kind, SHAPES)} " if isinstance(kind, str) else ""
        said = shown(kind, 30) if isinstance(kind, str) else kind_of_value(kind)
        message = f"kind {said} is not known; {guess.lstrip()}{one_of(SHAPES)}"
    return [Finding((*base, "kind"), message, shape=True)]


def _repeated_ids(cards: list[Any]) -> list[Finding]:
    seen: set[Any] = set()
    findings = []
    for number, card in enumerate(cards):
        identity = card.get("id") if isinstance(card, dict) else None
        if isinstance(identity, str):
            if identity in seen:
                message = f"id {shown(identity, 60)} is used twice in this file; give one of the two another id"
                findings.append(Finding(("cards", number, "id"), message))
            seen.add(identity)
    return findings


def glossary_findings(value: Any) -> list[Finding]:
    """Every finding about a glossary file."""
    findings = shape_findings(value, GlossaryShape, ())
    if findings:
        return findings
    seen: set[str] = set()
    for number, term in enumerate(value["terms"]):
        name = term["en"].lower()
        if name in seen:
            findings.append(Finding(("terms", number, "en"), f"{shown(term['en'], 40)} is listed twice; keep one"))
        seen.add(name)
        for lang in ("en", "zh"):
            if term[lang] in (term.get(f"avoid_{lang}") or ()):
                message = f"{shown(term[lang], 40)} is both the term and avoided; keep one"
                findings.append(Finding(("terms", number, f"avoid_{lang}"), message))
    return findings


def ledger_findings(value: Any) -> list[Finding]:
    """Every finding about the ledger of readings."""
    return shape_findings(value, LedgerShape, ())


def challenge_findings(value: Any, folder: Path) -> list[Finding]:
    """Every finding about the `challenge.yaml` of `folder`, whose name is the id and whose parent's is the track."""
    return [*shape_findings(value, ChallengeShape, ()), *_place_findings(folder.absolute())]


def _place_findings(folder: Path) -> Iterator[Finding]:
    for what, name in (("challenge", folder.name), ("track", folder.parent.name)):
        if not is_identifier(name):
            said = f"the folder {shown(name, 40)} is named like no {what}"
            yield Finding((), f"{said}; use lower-case letters, digits and single hyphens")


def card_document(topic: str, card: dict[str, Any]) -> Document:
    """A valid card as the document that `attncli.domain.card.card_of` reads."""
    document = {"topic": topic, **card}
    if "parameters" in card:
        document["parameters"] = [[name, choices_of(values)] for name, values in card["parameters"].items()]
    for key in ("compute", "tolerance"):
        if key in card:
            document[key] = str(card[key]).strip()
    if "slips" in card:
        document["slips"] = [{**slip, "compute": str(slip["compute"]).strip()} for slip in card["slips"]]
    return document


CHALLENGE = "challenge.yaml"
GLOSSARY = "glossary.yaml"
ERRATA = "errata.yaml"
LEDGER = "review.yaml"
SUFFIXES = frozenset({".yaml", ".yml"})
NOT_CARDS = frozenset({GLOSSARY, ERRATA, LEDGER, REPAIRS, "planned.yaml"})


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file as it was read: its value, what was wrong in reading it, and what shape and rules say of the value."""

    path: Path
    value: Any = None
    problems: tuple[Problem, ...] = ()
    findings: tuple[Finding, ...] = ()
    broken: frozenset[Way] = frozenset()
    filled: frozenset[Way] = frozenset()
    whole: bool = True

    @property
    def sound(self) -> bool:
        return not self.problems and not self.findings

    @property
    def located(self) -> tuple[Problem, ...]:
        return tuple(sorted({*self.problems, *locate(self.path, self.findings)}))


@dataclass(frozen=True, slots=True)
class BankFile:
    """One file for use: either documents, or problems."""

    path: Path
    topic: str = ""
    title: dict[str, str] | None = None
    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()


def judge(path: Path, findings_in: Callable[[Any], list[Finding]], own: bool = False) -> CheckedFile:
    """A file read and judged; never raises for what is in it. What a learner's `own` leaves out is filled in before."""
    try:
        parsed = parse(shown_path(path), read_text(path))
    except UnreadableYaml as stop:
        return CheckedFile(path, problems=(stop.problem,), whole=False)
    value, filled = completed(parsed.value) if own else (parsed.value, frozenset())
    found = findings_in(value) if parsed.whole else []
    broken = frozenset(parsed.broken)
    found = [finding for finding in found if not lies_below(finding.path, broken | filled)]
    return CheckedFile(path, value, tuple(parsed.problems), tuple(found), broken, filled, parsed.whole)


def lies_below(path: Way, ways: Collection[Way]) -> bool:
    """Whether a path is one of some ways or goes on from it."""
    return bool(ways) and any(path[:length] in ways for length in range(len(path) + 1))


def locate(path: Path, findings: Iterable[Finding]) -> list[Problem]:
    """Findings about a file as problems with line and column; the file is read again for the places."""
    findings = list(findings)
    if not findings:
        return []
    name = shown_path(path)
    try:
        return located(name, read_text(path), findings)
    except UnreadableYaml as stop:
        return [stop.problem, *(Problem(name, 1, 1, finding.message) for finding in findings)]


def load_file(path: Path, own: bool = False) -> BankFile:
    """One bank file, bundled or a learner's `own`; never raises for what is in it."""
    judged = judge(path, partial(topic_findings, own=own), own)
    if not judged.sound:
        return BankFile(path, problems=judged.located)
    value = judged.value
    documents = tuple(card_document(value["topic"], card) for card in value["cards"])
    return BankFile(path, value["topic"], value.get("title"), documents)


def bank_files(folder: Path) -> list[Path]:
    """The card files of a bank folder, by name."""
    return sorted(path for path in folder.glob("*.y*ml") if path.suffix in SUFFIXES and path.name not in NOT_CARDS)


def load_glossary(path: Path) -> BankFile:
    """A glossary file; a missing one is empty."""
    if not path.exists():
        return BankFile(path)
    judged = judge(path, glossary_findings)
    return BankFile(path, documents=tuple(judged.value["terms"]) if judged.sound else (), problems=judged.located)


def load_challenge(path: Path) -> BankFile:
    """One `challenge.yaml`, as the document of an `attncli.domain.challenge.Challenge`."""
    judged = judge(path, lambda value: challenge_findings(value, path.parent))
    documents = (challenge_document(judged.value, path.parent),) if judged.sound else ()
    return BankFile(path, documents=documents, problems=judged.located)


def challenge_document(value: dict[str, Any], folder: Path) -> Document:
    """A valid challenge with every optional key filled in, its id and track, and its place on disk."""
    lists: Document = {key: [] for key in ("badges", "forbidden", "cards", "follow_ups", "sources")}
    optional = {"version": 1, "kernel": False, "hardened": {"en": "", "zh": ""}, **lists}
    place = folder.absolute()
    return {**optional, **value, "id": place.name, "track": place.parent.name, "folder": str(folder)}


# What a learner's own card may leave out, and what stands there instead: one language, a question and an answer do.

_LEFT_OUT = {"kind": "qa", "level": "onsite"}
_LEFT_OUT_OF_NUMERIC = {"unit": "", "tolerance": "1%"}
_TEXTS = ("question", "short", "explain", "symptom", "fix")


class _Completion:
    """`filled` are the ways to what was not written."""

    def __init__(self) -> None:
        self.filled: set[Way] = set()

    def file(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        cards = value.get("cards")
        whole = dict(value)
        if isinstance(whole.get("title"), str):
            whole["title"] = self._both(whole["title"], ("title",))
        if isinstance(cards, list):
            whole["cards"] = [self._card(card, ("cards", number)) for number, card in enumerate(cards)]
        return self._inside(whole, ())

    def _card(self, card: Any, way: Way) -> Any:
        if not isinstance(card, dict):
            return card
        whole = {**_LEFT_OUT, **card}
        if whole["kind"] == "numeric":
            whole = {**_LEFT_OUT_OF_NUMERIC, **whole}
        for key in _TEXTS:
            if isinstance(whole.get(key), str):
                whole[key] = self._both(whole[key], (*way, key))
        if isinstance(points := whole.get("points"), list):
            whole["points"] = [
                self._both(point, (*way, "points", number)) if isinstance(point, str) else point
                for number, point in enumerate(points)
            ]
        return whole

    def _both(self, text: str, way: Way) -> dict[str, str]:
        self.filled.add((*way, LANGS[1]))
        return dict.fromkeys(LANGS, text)

    def _inside(self, value: Any, way: Way) -> Any:
        if isinstance(value, list):
            return [self._inside(inner, (*way, number)) for number, inner in enumerate(value)]
        if not isinstance(value, dict):
            return value
        return self._text({key: self._inside(inner, (*way, key)) for key, inner in value.items()}, way)

    def _text(self, value: dict[Any, Any], way: Way) -> Mapping[Any, Any]:
        """A text in one language as one in both."""
        there = [lang for lang in LANGS if isinstance(value.get(lang), str) and value[lang].strip()]
        missing = [lang for lang in LANGS if lang not in value]
        if len(there) != 1 or not missing:
            return value
        self.filled.add((*way, missing[0]))
        return {**value, missing[0]: value[there[0]]}


def completed(value: Any) -> tuple[Any, frozenset[Way]]:
    """The value of an own bank file with all that its cards leave out, and the ways to texts that were not written.

    A text in one language stands for both, a plain text too. A card without a kind is `qa`, one without a level
    `onsite`; a number without a unit is plain, and right to 1 %.
    """
    completion = _Completion()
    return completion.file(value), frozenset(completion.filled)
