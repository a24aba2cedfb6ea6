"""Load bank files as the documents of cards and challenges; a file with a problem contributes nothing.

`judge` reads a file, checks its shape and then the rules that its shape allows, and keeps all findings. A learner's own
file may leave much out; `completed` fills it in first, and what was filled in is never reported.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
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
    TopicShape,
    UnknownKindShape,
)
from attncli.bank.yaml_reader import UnreadableYaml, located, parse, read_text
from attncli.domain.card import is_identifier
from attncli.domain.challenge import REPAIRS
from attncli.domain.text import LANGS

Document = dict[str, Any]

CHALLENGE = "challenge.yaml"
GLOSSARY = "glossary.yaml"
ERRATA = "errata.yaml"
LEDGER = "review.yaml"
SUFFIXES = frozenset({".yaml", ".yml"})
NOT_CARDS = frozenset({GLOSSARY, ERRATA, LEDGER, REPAIRS, "planned.yaml"})

_LEFT_OUT = {"kind": "qa", "level": "onsite"}
_LEFT_OUT_OF_NUMERIC = {"unit": "", "tolerance": "1%"}
_TEXTS = ("question", "short", "explain", "symptom", "fix")


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file after checking: its value, the problems of reading it, and the findings about its shape and rules.

    `broken` and `filled` are paths whose value is not to be trusted, or was filled in; `whole`: it was read to its end.
    """

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
    """A loaded file: documents, or problems."""

    path: Path
    topic: str = ""
    title: dict[str, str] | None = None
    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()


def load_file(path: Path, own: bool = False) -> BankFile:
    """Load a bank file, bundled or a learner's `own`; never raises for its content."""
    judged = judge(path, partial(topic_findings, own=own), own)
    if not judged.sound:
        return BankFile(path, problems=judged.located)
    value = judged.value
    documents = tuple(card_document(value["topic"], card) for card in value["cards"])
    return BankFile(path, value["topic"], value.get("title"), documents)


def bank_files(folder: Path) -> list[Path]:
    """Return the card files of a bank folder, by name."""
    return sorted(path for path in folder.glob("*.y*ml") if path.suffix in SUFFIXES and path.name not in NOT_CARDS)


def load_glossary(path: Path) -> BankFile:
    """Load a glossary file; a missing one is empty."""
    if not path.exists():
        return BankFile(path)
    judged = judge(path, glossary_findings)
    return BankFile(path, documents=tuple(judged.value["terms"]) if judged.sound else (), problems=judged.located)


def load_challenge(path: Path) -> BankFile:
    """Load a `challenge.yaml` as the document of an `attncli.domain.challenge.Challenge`."""
    judged = judge(path, partial(challenge_findings, folder=path.parent))
    if not judged.sound:
        return BankFile(path, problems=judged.located)
    folder = path.parent.absolute()
    lists: Document = {key: [] for key in ("badges", "forbidden", "cards", "follow_ups", "sources")}
    document = {"version": 1, "kernel": False, "hardened": {"en": "", "zh": ""}, **lists, **judged.value}
    document |= {"id": folder.name, "track": folder.parent.name, "folder": str(folder)}
    return BankFile(path, documents=(document,))


def judge(path: Path, findings_in: Callable[[Any], list[Finding]], own: bool = False) -> CheckedFile:
    """Read and check a file; never raises for its content. A learner's `own` file is completed first."""
    try:
        parsed = parse(shown_path(path), read_text(path))
    except UnreadableYaml as stop:
        return CheckedFile(path, problems=(stop.problem,), whole=False)
    value, filled = completed(parsed.value) if own else (parsed.value, frozenset())
    broken = frozenset(parsed.broken)
    findings = findings_in(value) if parsed.whole else []
    findings = [finding for finding in findings if not lies_below(finding.path, broken | filled)]
    return CheckedFile(path, value, tuple(parsed.problems), tuple(findings), broken, filled, parsed.whole)


def lies_below(path: Way, ways: Collection[Way]) -> bool:
    """Return True if a path is one of some ways, or below one."""
    return bool(ways) and any(path[:length] in ways for length in range(len(path) + 1))


def locate(path: Path, findings: Iterable[Finding]) -> list[Problem]:
    """Turn findings about a file into problems with line and column; reads the file again."""
    findings = list(findings)
    if not findings:
        return []
    name = shown_path(path)
    try:
        return located(name, read_text(path), findings)
    except UnreadableYaml as stop:
        return [stop.problem, *(Problem(name, 1, 1, finding.message) for finding in findings)]


def shape_findings(value: Any, model: type[BaseModel], base: Way) -> list[Finding]:
    """Return every finding about the shape of a value."""
    try:
        model.model_validate(value)
    except ValidationError as error:
        return findings_of(error, model, base)
    return []


def topic_findings(value: Any, own: bool = False) -> list[Finding]:
    """Return every finding about a bank file; a learner's `own`, completed, has to meet fewer rules."""
    if not isinstance(value, dict):
        actual = kind_of_value(value)
        return [Finding((), f"a bank file is a mapping with topic and cards, found {actual}; start it with topic: …")]
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
        guess = did_you_mean(kind, SHAPES) if isinstance(kind, str) else ""
        guess += " " if guess else ""
        actual = shown(kind, 30) if isinstance(kind, str) else kind_of_value(kind)
        message = f"kind {actual} is not known; {guess}{one_of(SHAPES)}"
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
    """Return every finding about a glossary file."""
    findings = shape_findings(value, GlossaryShape, ())
    if findings:
        return findings
    seen: set[str] = set()
    for number, term in enumerate(value["terms"]):
        name = term["en"].lower()
        if name in seen:
            findings.append(Finding(("terms", number, "en"), f"{shown(term['en'], 40)} is listed twice; keep one"))
        seen.add(name)
        for lang in LANGS:
            if term[lang] in (term.get(f"avoid_{lang}") or ()):
                message = f"{shown(term[lang], 40)} is both the term and avoided; keep one"
                findings.append(Finding(("terms", number, f"avoid_{lang}"), message))
    return findings


def challenge_findings(value: Any, folder: Path) -> list[Finding]:
    """Return every finding about the `challenge.yaml` of `folder`, which is named by the id and lies in the track."""
    findings = shape_findings(value, ChallengeShape, ())
    folder = folder.absolute()
    for what, name in (("challenge", folder.name), ("track", folder.parent.name)):
        if not is_identifier(name):
            message = f"the folder {shown(name, 40)} is named like no {what}"
            findings.append(Finding((), f"{message}; use lower-case letters, digits and single hyphens"))
    return findings


def card_document(topic: str, card: dict[str, Any]) -> Document:
    """Return a valid card as the document that `attncli.domain.card.card_of` reads."""
    document = {"topic": topic, **card}
    if "parameters" in card:
        document["parameters"] = [[name, choices_of(values)] for name, values in card["parameters"].items()]
    for key in ("compute", "tolerance"):
        if key in card:
            document[key] = str(card[key]).strip()
    if "slips" in card:
        document["slips"] = [{**slip, "compute": str(slip["compute"]).strip()} for slip in card["slips"]]
    return document


def completed(value: Any) -> tuple[Any, frozenset[Way]]:
    """Fill in what the cards of a learner's own file leave out; return it with the paths of texts that were filled in.

    A text in one language counts for both, and so does a plain text. A card without a kind is `qa`, one without a level
    `onsite`; a number without a unit is plain, with a tolerance of 1 %.
    """
    completion = _Completion()
    return completion.file(value), frozenset(completion.filled)


class _Completion:
    """Copies a file with every gap filled; `filled` are the paths of the texts that were missing."""

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
        """Complete a text in one language to one in both."""
        present = [lang for lang in LANGS if isinstance(value.get(lang), str) and value[lang].strip()]
        missing = [lang for lang in LANGS if lang not in value]
        if len(present) != 1 or not missing:
            return value
        self.filled.add((*way, missing[0]))
        return {**value, missing[0]: value[present[0]]}
