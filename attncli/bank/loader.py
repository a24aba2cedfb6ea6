"""Load bank files as the documents of cards and challenges; a file with a problem contributes nothing.

`load` reads a file, checks its shape and then the rules that its shape allows, and keeps all findings. A learner's own
file may leave much out; `completed` fills it in first, and filled-in values are never reported.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property, partial
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from attncli.bank.card_rules import card_findings, choices_of
from attncli.bank.problems import (
    KIND_HINT,
    Finding,
    Problem,
    Way,
    findings_of,
    in_order,
    kind_of_value,
    shown,
    shown_path,
    unknown_value,
)
from attncli.bank.schema import CHALLENGE_SHAPE, OWN_SHAPES, SHAPES, UNKNOWN_KIND, GlossaryShape, TopicShape, adapter
from attncli.bank.yaml_reader import Parsed, UnreadableYaml, parse, read_text
from attncli.domain.card import is_identifier, types_of
from attncli.domain.card_kinds import CARDS
from attncli.domain.challenge import REPAIRS
from attncli.i18n import LANGS, Localised, _, quoted

Document = dict[str, Any]

CHALLENGE = "challenge.yaml"
GLOSSARY = "glossary.yaml"
ERRATA = "errata.yaml"
LEDGER = "review.yaml"
SUFFIXES = frozenset({".yaml", ".yml"})
NOT_CARDS = frozenset({GLOSSARY, ERRATA, LEDGER, REPAIRS})

_LEFT_OUT = {"kind": "qa", "level": "onsite"}
_TEXTS = {
    name
    for shape in OWN_SHAPES.values()
    for name, form in types_of(shape).items()
    if Localised in (form, *get_args(form))
}
"""The keys of cards whose value is a text, or a list of texts."""


@dataclass
class BankFile:
    """A YAML file: its value, its problems and its findings.

    `role` is cards, glossary, ledger, challenge or repairs. `own` cards are a learner's; `filled` are the paths of
    omitted values that loading filled in. A `sound` file had no problem and no finding when loaded; a check may add
    findings, the positions of cards whose id is used before (`repeated`) and problems of the files `beside` it.
    """

    path: Path
    role: str
    own: bool = False
    parsed: Parsed = field(default_factory=lambda: Parsed(""))
    value: Any = None
    filled: frozenset[Way] = frozenset()
    findings: list[Finding] = field(default_factory=list)
    sound: bool = False
    repeated: set[int] = field(default_factory=set)
    beside: list[Problem] = field(default_factory=list)

    @property
    def problems(self) -> tuple[Problem, ...]:
        errors = self.parsed.located(finding for finding in self.findings if finding.error)
        return in_order([*self.parsed.problems, *errors, *self.beside])

    @property
    def notes(self) -> tuple[Problem, ...]:
        return in_order(self.parsed.located(finding for finding in self.findings if not finding.error))

    @cached_property
    def cards(self) -> list[tuple[int, dict[str, Any]]]:
        """The cards of the file, valid or not, with their position."""
        cards = self.value.get("cards") if isinstance(self.value, dict) and self.role == "cards" else None
        if not isinstance(cards, list):
            return []
        return [(number, card) for number, card in enumerate(cards) if isinstance(card, dict)]

    @property
    def topic(self) -> str:
        return self.value["topic"] if self.sound else ""

    @property
    def title(self) -> dict[str, str] | None:
        return self.value.get("title") if self.sound else None

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """The cards, the terms or the challenge that the file contributes; none unless it is sound."""
        if not self.sound:
            return ()
        if self.role == "glossary":
            return tuple(self.value["terms"])
        if self.role == "challenge":
            return (_challenge_document(self.path.parent.absolute(), self.value),)
        return tuple(card_document(self.value["topic"], card) for card in self.value["cards"])


def load_file(path: Path, own: bool = False, text: str | None = None) -> BankFile:
    """Load the cards of a bank file, bundled or a learner's `own`; from `text`, if given, instead of its content."""
    return load(path, "cards", partial(topic_findings, own=own), own, text)


def bank_files(folder: Path) -> list[Path]:
    """Return the card files of a bank folder, by name."""
    return sorted(path for path in folder.glob("*.y*ml") if path.suffix in SUFFIXES and path.name not in NOT_CARDS)


def load_glossary(path: Path) -> BankFile:
    """Load a glossary file; a missing one is empty."""
    return load(path, "glossary", glossary_findings) if path.exists() else BankFile(path, "glossary")


def load_challenge(path: Path) -> BankFile:
    """Load a `challenge.yaml`, whose document is that of an `attncli.domain.challenge.Challenge`."""
    return load(path, "challenge", partial(challenge_findings, folder=path.parent))


def _challenge_document(folder: Path, value: Document) -> Document:
    document = {key: part for key, part in value.items() if part is not None}
    return document | {"id": folder.name, "track": folder.parent.name, "folder": str(folder)}


def load(
    path: Path, role: str, findings_in: Callable[[Any], list[Finding]], own: bool = False, text: str | None = None
) -> BankFile:
    """Read and check a file; never raises for its content. A learner's `own` file is completed first."""
    name = shown_path(path)
    try:
        parsed = parse(name, read_text(path) if text is None else text)
    except UnreadableYaml as stop:
        parsed = Parsed(name, problems=[stop.problem], whole=False)
    value, filled = completed(parsed.value) if own else (parsed.value, frozenset())
    findings = findings_in(value) if parsed.whole else []
    findings = [finding for finding in findings if not lies_below(finding.path, parsed.broken | filled)]
    sound = not parsed.problems and not findings
    return BankFile(path, role, own, parsed, value, filled, findings, sound)


def lies_below(path: Way, ways: Collection[Way]) -> bool:
    """Return True if a path is one of `ways`, or below one."""
    return bool(ways) and any(path[:length] in ways for length in range(len(path) + 1))


def shape_findings(value: Any, model: type, base: Way) -> list[Finding]:
    """Return every finding about the shape of a value."""
    try:
        adapter(model).validate_python(value)
    except ValidationError as error:
        return findings_of(error, model, base)
    return []


def topic_findings(value: Any, own: bool = False) -> list[Finding]:
    """Return every finding about a bank file; fewer rules apply to a learner's `own` file, already completed."""
    if not isinstance(value, dict):
        message = _(
            "a bank file must be a mapping with topic and cards, found {value}; start it with topic: …",
            value=kind_of_value(value),
        )
        return [Finding((), message, shape=True)]
    findings = shape_findings(value, TopicShape, ())
    cards = value.get("cards")
    if isinstance(cards, list):
        for number, card in enumerate(cards):
            findings += _card(card, ("cards", number), own)
        findings += _repeated_ids(cards)
    return findings


def _card(card: Any, base: Way, own: bool) -> list[Finding]:
    if not isinstance(card, dict):
        message = _("a card must be a mapping, found {value}; start it with id: …", value=kind_of_value(card))
        return [Finding(base, message)]
    kind = card.get("kind")
    model = (OWN_SHAPES if own else SHAPES).get(str(kind), UNKNOWN_KIND)
    findings = [*_kind(card, base), *shape_findings(card, model, base)]
    faulty = {str(found.path[len(base)]) for found in findings}
    faulty |= {key.name for key in fields(model) if key.default is MISSING and key.name not in card}
    return [*findings, *(found.below(base) for found in card_findings(card, faulty, own))]


def _kind(card: dict[str, Any], base: Way) -> list[Finding]:
    kind = card.get("kind")
    if isinstance(kind, str) and kind in SHAPES:
        return []
    if "kind" in card:
        message = unknown_value(quoted('"kind"'), kind, SHAPES)
    else:
        message = _('missing "kind": {hint}', hint=KIND_HINT)
    return [Finding((*base, "kind"), message, shape=True)]


def _repeated_ids(cards: list[Any]) -> list[Finding]:
    seen: set[Any] = set()
    findings = []
    for number, card in enumerate(cards):
        identity = card.get("id") if isinstance(card, dict) else None
        if isinstance(identity, str):
            if identity in seen:
                message = _(
                    "id {id} is used twice in this file; give one of the two another id", id=shown(identity, 60)
                )
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
            findings.append(
                Finding(("terms", number, "en"), _("{term} is listed twice; keep one", term=shown(term["en"], 40)))
            )
        seen.add(name)
        for lang in LANGS:
            if term[lang] in (term.get(f"avoid_{lang}") or ()):
                message = _("{term} is both the term and one to avoid; keep one", term=shown(term[lang], 40))
                findings.append(Finding(("terms", number, f"avoid_{lang}"), message))
    return findings


def challenge_findings(value: Any, folder: Path) -> list[Finding]:
    """Return every finding about the `challenge.yaml` of `folder`, the path of which ends in track and id."""
    findings = shape_findings(value, CHALLENGE_SHAPE, ())
    folder = folder.absolute()
    messages = {
        folder: _(
            "the folder name {name} is not a valid challenge id; use lower-case letters, digits and single hyphens"
        ),
        folder.parent: _(
            "the folder name {name} is not a valid track id; use lower-case letters, digits and single hyphens"
        ),
    }
    bad = [(path.name, message) for path, message in messages.items() if not is_identifier(path.name)]
    return findings + [Finding((), message.format(name=shown(name, 40))) for name, message in bad]


def card_document(topic: str, card: dict[str, Any]) -> Document:
    """Return a valid card as the document that `card_of` reads."""
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
    """Fill in the omitted keys of a learner's own file; return it with the paths of the texts filled in.

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
        if isinstance(whole["kind"], str) and whole["kind"] in CARDS:
            whole = {**CARDS[whole["kind"]].presumed, **whole}
        for key in _TEXTS & whole.keys():
            whole[key] = self._completed(whole[key], (*way, key))
        return whole

    def _completed(self, value: Any, way: Way) -> Any:
        if isinstance(value, list):
            return [self._completed(each, (*way, number)) for number, each in enumerate(value)]
        return self._both(value, way) if isinstance(value, str) else value

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
