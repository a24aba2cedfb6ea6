"""Plain values to documents: shape first, then the rules, all findings at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from attncli.bank.card_rules import card_findings
from attncli.bank.problems import Finding, Way, did_you_mean, one_of, shown
from attncli.bank.reading.schema_messages import findings_of, kind_of_value
from attncli.bank.rules.numeric_rules import choices_of
from attncli.bank.schema import (
    OWN_SHAPES,
    SHAPES,
    ChallengeShape,
    GlossaryShape,
    LedgerShape,
    TopicShape,
    UnknownKindShape,
)
from attncli.domain.identifiers import is_identifier

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
