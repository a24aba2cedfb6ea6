"""Who is who: topics and their files, ids, what is planned under an id, questions that are asked twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attncli.bank.duplicates import matches
from attncli.bank.links import Known
from attncli.bank.problems import Finding, Way, did_you_mean, shown, shown_path
from attncli.bank.selection import Checked

Entry = tuple[Checked, int, Mapping[str, Any]]


def topic_rules(file: Checked, known: Known, bundled: bool) -> Iterator[Finding]:
    """File name, topic and ids fit together; in the bundled bank they are as planned."""
    value = file.judged.value
    topic = value.get("topic") if isinstance(value, dict) else None
    if not isinstance(topic, str) or any(finding.path == ("topic",) for finding in file.judged.findings):
        return
    ids = [card["id"] for _, card in file.sound_cards]
    if len(ids) > 1 and not any(identity.startswith(f"{topic}-") for identity in ids):
        yield Finding(("topic",), f'topic "{topic}" fits none of its cards, such as {ids[0]}; correct the topic')
        return
    if file.path.stem != topic:
        message = f'topic "{topic}" is in {file.path.name}; name the file {topic}.yaml'
        yield Finding(("topic",), message, error=bundled)
    for key in ("title", "licence"):
        if bundled and key not in value:
            yield Finding((), f'missing "{key}": every topic of the bundled bank says its {key}')
    for number, card in file.sound_cards:
        yield from _prefix_rules(("cards", number, "id"), card["id"], topic, known, bundled)
        if bundled:
            yield from _plan_rules(("cards", number), card, known)


def _prefix_rules(way: Way, identity: str, topic: str, known: Known, bundled: bool) -> Iterator[Finding]:
    if not identity.startswith(f"{topic}-"):
        elsewhere = identity.rpartition("-")[0] in known.planned.topics
        message = f'id "{identity}" does not start with its topic; write {topic}-…'
        yield Finding(way, message, error=bundled or not elsewhere)


def _plan_rules(way: Way, card: Mapping[str, Any], known: Known) -> Iterator[Finding]:
    planned = known.planned.cards.get(card["id"])
    if planned is None:
        return
    for key, found, wanted in (
        ("kind", card["kind"], planned.kind),
        ("level", card["level"], planned.level),
        ("core", bool(card.get("core")), planned.core),
    ):
        if found != wanted:
            said = f"{card['id']} is planned as {key}: {str(wanted).lower()}, found {str(found).lower()}"
            yield Finding((*way, key), f"{said}; correct one of the two", at_key=True)


def compare_files(files: Sequence[Checked]) -> None:
    """Adds to each file what only shows beside the others: ids and questions that are used twice."""
    repeated = _repeated_ids([(file, number, card) for file in files for number, card in file.cards])
    sound = [(file, number, card) for file in files for number, card in file.sound_cards]
    unique = [entry for entry in sound if (id(entry[0]), entry[1]) not in repeated]
    told: set[int] = set()
    for lang in ("en", "zh"):
        for match in matches(card["question"][lang] for _, _, card in unique):
            if match.later not in told:
                told.add(match.later)
                file, number, _ = unique[match.later]
                said = "asks the same as" if match.same else "asks nearly the same as"
                message = f"the question {said} {unique[match.earlier][2]['id']}; ask something else, or keep one"
                file.findings.append(Finding(("cards", number, "question", lang), message))


def _repeated_ids(entries: Sequence[Entry]) -> set[tuple[int, int]]:
    first: dict[str, Checked] = {}
    repeated = set()
    for file, number, card in entries:
        identity = card.get("id")
        if not isinstance(identity, str):
            continue
        earlier = first.setdefault(identity, file)
        if earlier is not file:
            repeated.add((id(file), number))
            said = f"id {shown(identity, 60)} is already used in {shown_path(earlier.path)}"
            file.findings.append(Finding(("cards", number, "id"), f"{said}; give this card another id"))
    return repeated


def challenge_rules(file: Checked, known: Known) -> Iterator[Finding]:
    """A challenge lies where it says, its cards exist, and `mistakes` and the files of `wrong/` name each other."""
    value, folder = file.judged.value, file.path.absolute().parent
    for key, name in (("id", folder.name), ("track", folder.parent.name)):
        if value[key] != name:
            yield Finding((key,), f'{key} "{value[key]}" lies in the folder {shown(name, 60)}; name both the same')
    for number, card in enumerate(value.get("cards") or ()):
        yield from _card_exists(("cards", number), card, known)
    wrong = sorted(path.stem for path in (folder / "wrong").glob("*.py"))
    for name, mistake in value["mistakes"].items():
        if name not in wrong:
            guess = did_you_mean(name, wrong) or "write that file or remove the entry"
            yield Finding(("mistakes", name), f"there is no wrong/{name}.py; {guess}", at_key=True)
        for number, card in enumerate(mistake.get("cards") or ()):
            yield from _card_exists(("mistakes", name, "cards", number), card, known)
    for name in wrong:
        if name not in value["mistakes"]:
            yield Finding(("mistakes",), f"wrong/{name}.py has no entry; say what it gets wrong", at_key=True)


def _card_exists(way: Way, card: str, known: Known) -> Iterator[Finding]:
    if card not in known.cards and card not in known.planned.cards:
        guess = did_you_mean(card, {*known.cards, *known.planned.cards}) or "correct the id or remove it"
        yield Finding(way, f"there is no card {shown(card, 60)}; {guess}")
