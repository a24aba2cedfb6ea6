"""Finding the card that is meant: by its id, its words in any order, other words for them, or a slip away from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from attncli.store.bank_index import BankIndex, CardSummary
from attncli.store.search_text import (
    any_of,
    beginning_with,
    every_of,
    in_question,
    parts_of_run,
    runs_of,
    starting_with,
)

_ID = re.compile(r"([a-z]+)[\s_-]*(\d{1,3})")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SMALL = frozenset(
    "a an and are as at be by can do does for from how in is it its many much of on or should so than that the there"
    " this to vs was what when where which who why will with you your".split()
)
LEAST_MENDED, MOST_NEAR, LEAST_FOR_ALL_BUT_ONE = 4, 6, 3


def find(index: BankIndex, query: str, topic: str | None) -> list[CardSummary]:
    """The cards that `query` means, the best first; those that say it in the question come before the others.

    Of three or more words a question may lack one, and of the parts of a Chinese run as well. Where nothing is found, a
    word that no card has is taken for a slip of one letter, and after that one of three or more may be missing from a
    card altogether.
    """
    runs = runs_of(query)
    if not runs:
        return index.containing_cards(query.strip(), topic)
    asked = [run for run in runs if run not in _SMALL] or runs
    for conditions in _attempts(index, asked):
        every, most = every_of(conditions), _all_but_one(conditions)
        looser = [in_question(condition) for condition in (most, _in_parts(asked)) if condition]
        wanted = " OR ".join([f"({every})", *looser])
        if found := index.matching_cards(wanted, [every, most or every], topic, meant_id(query)):
            return found
    return index.matching_cards(most, [most], topic) if most else []


def meant_id(query: str) -> str:
    """The card id that a query looks like, `kv-05` for `KV 5`; empty where it looks like none."""
    match = _ID.fullmatch(query.strip().lower())
    return f"{match[1]}-{int(match[2]):02d}" if match else ""


def _all_but_one(conditions: list[str]) -> str:
    if len(conditions) < LEAST_FOR_ALL_BUT_ONE:
        return ""
    return any_of(every_of(conditions[:left] + conditions[left + 1 :]) for left in range(len(conditions)))


def _in_parts(runs: list[str]) -> str:
    """The words with each run of Chinese in its parts, one of which may be missing: others may stand between them."""
    apart = [_all_but_one(parts_of_run(run)) for run in runs]
    return every_of(of or starting_with(run) for run, of in zip(runs, apart, strict=True)) if any(apart) else ""


def _attempts(index: BankIndex, runs: list[str]) -> Iterator[list[str]]:
    """The conditions for each word: as they are written, then with slips mended."""
    whole = [starting_with(run) if len(run) > 1 or len(runs) == 1 else f'"{run}"' for run in runs]
    yield whole
    words: frozenset[str] = frozenset()
    for number, run in enumerate(runs):
        if not index.has_text(beginning_with(run)):
            words = words or index.words()
            whole[number] = any_of([*_near(run, words), whole[number]])
    yield whole


def _near(run: str, words: frozenset[str]) -> Iterable[str]:
    """Conditions for what a run that no card has may have been meant to be."""
    if parts := parts_of_run(run):
        return parts
    if len(run) < LEAST_MENDED:
        return []
    slips = sorted(one_slip_away(run) & words, key=lambda word: (word[0] != run[0], word))
    return [starting_with(word) for word in slips[:MOST_NEAR]]


def one_slip_away(word: str) -> set[str]:
    """What a word becomes by leaving out, doubling, changing, adding or exchanging one letter."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    out = {head + tail[1:] for head, tail in cuts if tail}
    exchanged = {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    changed = {head + letter + tail[1:] for head, tail in cuts if tail for letter in _LETTERS}
    added = {head + letter + tail for head, tail in cuts for letter in _LETTERS}
    return (out | exchanged | changed | added) - {word}
