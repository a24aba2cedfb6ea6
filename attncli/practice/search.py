"""Finding the card that is meant: by its id, its words in any order, other words for them, or a slip away from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from attncli.errors import Unfit
from attncli.store.bank_index import BankIndex, CardSummary
from attncli.store.search_text import (
    all_but_one,
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
LEAST_MENDED, LONGEST_MENDED, MOST_MENDED, MOST_NEAR, LEAST_FOR_ALL_BUT_ONE = 4, 24, 4, 6, 3
MOST_CHARACTERS = 200
MOST_SECONDS = 0.1


def find(index: BankIndex, query: str, topic: str | None, seconds: float = MOST_SECONDS) -> list[CardSummary]:
    """Return the cards that `query` means, the best first; a match in the question ranks before one in the text.

    A question may lack one of three or more words, and one of the parts of a Chinese run. If nothing is found, words
    that no card has are corrected by one letter; after that, a card may lack one of three or more words altogether.

    Raises Unfit for a query of more than `MOST_CHARACTERS`, or one that takes more than `seconds` of processor time.
    """
    require_length(query)
    with index.within(seconds):
        return _find(index, query, topic)


def require_length(query: str) -> None:
    """Raise Unfit for a query of more than `MOST_CHARACTERS`."""
    if len(query) > MOST_CHARACTERS:
        said = f"the search has {len(query)} characters; use at most {MOST_CHARACTERS}"
        raise Unfit(said, "search-length", count=f"{len(query)}", most=f"{MOST_CHARACTERS}")


def _find(index: BankIndex, query: str, topic: str | None) -> list[CardSummary]:
    runs = list(dict.fromkeys(runs_of(query)))
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
    return all_but_one(conditions) if len(conditions) >= LEAST_FOR_ALL_BUT_ONE else ""


def _in_parts(runs: list[str]) -> str:
    """The words with each run of Chinese in its parts, one of which may be missing: others may stand between them."""
    apart = [_all_but_one(parts_of_run(run)) for run in runs]
    return every_of(of or starting_with(run) for run, of in zip(runs, apart, strict=True)) if any(apart) else ""


def _attempts(index: BankIndex, runs: list[str]) -> Iterator[list[str]]:
    """Yield the conditions for each word: as they are written, then with slips corrected."""
    whole = [starting_with(run) if len(run) > 1 or len(runs) == 1 else f'"{run}"' for run in runs]
    yield whole
    unknown = [number for number, run in enumerate(runs) if not index.has_text(beginning_with(run))]
    for number in unknown[:MOST_MENDED]:
        whole[number] = any_of([*_near(index, runs[number]), whole[number]])
    yield whole


def _near(index: BankIndex, run: str) -> Iterable[str]:
    """Return conditions for what a run that no card has may have been meant to be."""
    if parts := parts_of_run(run):
        return parts
    if not LEAST_MENDED <= len(run) <= LONGEST_MENDED:
        return []
    slips = sorted(index.known_words(one_slip_away(run)), key=lambda word: (word[0] != run[0], word))
    return [starting_with(word) for word in slips[:MOST_NEAR]]


def one_slip_away(word: str) -> set[str]:
    """What a word becomes by leaving out, doubling, changing, adding or exchanging one letter."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    out = {head + tail[1:] for head, tail in cuts if tail}
    exchanged = {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    changed = {head + letter + tail[1:] for head, tail in cuts if tail for letter in _LETTERS}
    added = {head + letter + tail for head, tail in cuts for letter in _LETTERS}
    return (out | exchanged | changed | added) - {word}
