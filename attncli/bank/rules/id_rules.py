"""Who is who: topics and their files, ids, what is planned under an id, questions that are asked twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attncli.bank.checked_files import Checked, Readable
from attncli.bank.link_rules import Known, card_faults, follow_up_cards
from attncli.bank.problems import Finding, Way, shown, shown_path
from attncli.bank.rules.similar_questions import matches


def topic_rules(file: Checked, known: Known, bundled: bool) -> Iterator[Finding]:
    """File name, topic and ids fit together; in the bundled bank they are as planned."""
    value = file.judged.value
    topic = value.get("topic") if isinstance(value, dict) else None
    if (
        not file.judged.whole
        or not isinstance(topic, str)
        or any(finding.path == ("topic",) for finding in file.judged.findings)
    ):
        return
    cards = [entry for entry in file.readable if "id" in entry.card and entry.number not in file.repeated]
    ids = [entry.card["id"] for entry in cards]
    if len(ids) > 1 and not any(identity.startswith(f"{topic}-") for identity in ids):
        yield Finding(("topic",), f'topic "{topic}" fits none of its cards, such as {ids[0]}; correct the topic')
        return
    if file.path.stem != topic:
        message = f'topic "{topic}" is in {file.path.name}; name the file {topic}.yaml'
        yield Finding(("topic",), message, error=bundled)
    for entry in cards:
        if entry.card["id"] in known.challenges:
            said = f'id "{entry.card["id"]}" is a challenge\'s, and both are kept in one log'
            yield Finding(("cards", entry.number, "id"), f"{said}; give this card another id")
    for key in ("title", "licence"):
        if bundled and key not in value:
            yield Finding((), f'missing "{key}": every topic of the bundled bank says its {key}')
    for entry in cards:
        way: Way = ("cards", entry.number)
        yield from _prefix_rules((*way, "id"), entry.card["id"], topic, known, bundled)
        if bundled:
            yield from _plan_rules(way, entry, known)


def _prefix_rules(way: Way, identity: str, topic: str, known: Known, bundled: bool) -> Iterator[Finding]:
    if not identity.startswith(f"{topic}-"):
        elsewhere = identity.rpartition("-")[0] in known.planned.topics
        message = f'id "{identity}" does not start with its topic; write {topic}-…'
        yield Finding(way, message, error=bundled or not elsewhere)


def _plan_rules(way: Way, entry: Readable, known: Known) -> Iterator[Finding]:
    planned = known.planned.cards.get(entry.card["id"])
    if planned is None:
        return
    for key, found, wanted in (
        ("kind", entry.card.get("kind"), planned.kind),
        ("level", entry.card.get("level"), planned.level),
        ("core", bool(entry.card.get("core")), planned.core),
    ):
        if found != wanted and key not in entry.faulty:
            said = f"{entry.card['id']} is planned as {key}: {str(wanted).lower()}, found {str(found).lower()}"
            yield Finding((*way, key), f"{said}; correct one of the two", at_key=True)


def compare_files(files: Sequence[Checked]) -> None:
    """Adds to each file what only shows beside the others: ids and questions that are used twice."""
    _repeated_ids(files)
    asked = [(file, entry) for file in files for entry in file.readable if entry.number not in file.repeated]
    asked = [(file, entry) for file, entry in asked if "question" in entry.card]
    told: set[int] = set()
    for lang in ("en", "zh"):
        for match in matches(entry.card["question"][lang] for _, entry in asked):
            if match.later not in told:
                told.add(match.later)
                file, entry = asked[match.later]
                earlier = asked[match.earlier][1].card.get("id", "an earlier card")
                said = "asks the same as" if match.same else "asks nearly the same as"
                message = f"the question {said} {earlier}; ask something else, or keep one"
                file.findings.append(Finding(("cards", entry.number, "question", lang), message))


def _repeated_ids(files: Sequence[Checked]) -> None:
    first: dict[str, Checked] = {}
    for file in files:
        own: set[str] = set()
        for number, card in file.cards:
            identity = card.get("id")
            if not isinstance(identity, str):
                continue
            if identity in own:
                file.repeated.add(number)  # told by the file's own rules
            own.add(identity)
            earlier = first.setdefault(identity, file)
            if earlier is not file:
                file.repeated.add(number)
                said = f"id {shown(identity, 60)} is already used in {shown_path(earlier.path)}"
                file.findings.append(Finding(("cards", number, "id"), f"{said}; give this card another id"))


def challenge_rules(file: Checked, known: Known) -> Iterator[Finding]:
    """A challenge has an id of its own, and its cards exist."""
    name = file.path.absolute().parent.name
    if name in known.cards:
        said = f'"{name}" is a card\'s id, and both are kept in one log'
        yield Finding((), f"{said}; give this challenge's folder another name")
    value = file.judged.value
    cards = [(("cards", number), card) for number, card in enumerate(value.get("cards") or ())]
    for way, card in (*cards, *follow_up_cards(value)):
        yield from (Finding(way, message) for message in card_faults(card, known))
