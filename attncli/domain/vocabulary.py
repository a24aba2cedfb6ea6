"""Names and numbers that cards, challenges, log, settings and queue share, and the rule for siblings that wait.

Shell prompts call `attn due`, which needs only this module: the classes of cards and challenges take longer to load.
Siblings (a card, its challenges, its follow-ups) give away each other's answers, so `waiting` keeps them apart. This
follows from the schedules and the day: nothing is stored, and no due date moves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, get_args

from attncli.i18n import Localised, _, pgettext, quoted

Kind = Literal["qa", "choice", "numeric", "cloze", "ordering", "debug"]
Level = Literal["screen", "onsite", "research"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LEVELS: tuple[Level, ...] = get_args(Level)
KIND_NAMES: dict[Kind, Localised] = {
    "qa": _("question"),
    "choice": _("choice"),
    "numeric": _("number"),
    "cloze": _("cloze"),
    "ordering": _("ordering"),
    "debug": _("debug"),
}
LEVEL_NAMES: dict[Level, Localised] = {
    "screen": _("screen"),
    "onsite": _("onsite"),
    "research": pgettext("position", "research"),
}
STREAMS = 2**31
"""The upper bound on seeds of gradings and repair rounds; the same seed gives the same inputs."""
SITTINGS = 1_000_000
"""The upper bound on seeds of quizzes and interviews, short enough to read out."""
APART_DAYS = 2
"""The number of days between siblings."""
LONGEST_WAIT_DAYS = 7
"""The number of days late from which a card no longer waits for a sibling.

Measured on the bundled bank: with 2 days every fiftieth card still meets a sibling, with 7 every thousandth. Either way
a card is a quarter of a day late on average.
"""

CaseRung = Literal["solved", "hardened"]
"""solved: right at the whiteboard; hardened: ready for production."""
Rung = Literal["none", "solved", "hardened"]
RUNGS: tuple[CaseRung, ...] = get_args(CaseRung)
Standing = Literal["new", "tried", "solved", "hardened"]
STANDING_NAMES: dict[Standing, Localised] = {
    "new": pgettext("challenge", "new"),
    "tried": _("tried"),
    "solved": _("solved"),
    "hardened": _("hardened"),
}

TRACKS: dict[str, Localised] = {
    "attention": _("attention"),
    "embeddings": _("embeddings"),
    "positions": _("positions"),
    "norms": _("norms"),
    "blocks": _("blocks"),
    "cache": _("cache"),
    "decoding": _("decoding"),
    "efficient": _("efficient"),
    "experts": _("experts"),
    "losses": _("losses"),
    "alignment": _("alignment"),
    "optimisers": _("optimisers"),
    "precision": _("precision"),
    "quantisation": _("quantisation"),
    "peft": _("fine-tuning"),
    "kernels": _("GPU kernels"),
    "parallel": _("parallelism"),
    "research": _("research"),
    "serving": _("serving"),
}
"""Tracks of challenges in reading order; a track is a folder of challenges. Other names come after these."""


class Limits:
    """Limits of a value in a bank file, named as in pydantic's schemas: `pattern`, `max_length`, `ge`, `strict`.

    Only pydantic calls the method below, so classes with limits do not need pydantic.
    """

    def __init__(self, **limits: Any) -> None:
        self.limits = limits

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        schema = handler(source)
        if schema["type"] == "tuple":  # count all entries of a list, wrong ones too
            schema = {"type": "list", "items_schema": schema["items_schema"][0]}
        return {**schema, **self.limits}


class WrittenAs:
    """The type of a field in a bank file, instead of its own. Without `form`, the bank's rules check the value, and
    `schema` is the JSON schema for editors.
    """

    def __init__(self, form: Any = None, schema: dict[str, Any] | None = None) -> None:
        self.form, self.schema = form, schema

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return handler.generate_schema(Any if self.schema else self.form)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        return self.schema or handler(schema)


class Meeting(NamedTuple):
    """A due review that meets a sibling. `comes`: the sibling was studied just now, or comes today in any case.

    Otherwise the sibling is a due review as well, and one of the two has to wait.
    """

    card: str
    topic: str
    days_late: int
    interval_days: float
    sibling: str
    comes: bool


def waiting(meetings: Iterable[Meeting]) -> dict[str, str]:
    """Return card → topic of the cards that wait today: of siblings due together, only the most overdue comes."""
    met: dict[str, list[Meeting]] = defaultdict(list)
    for meeting in meetings:
        met[meeting.card].append(meeting)
    coming, waits = set[str](), dict[str, str]()
    for card in sorted(met, key=lambda card: (-met[card][0].days_late, met[card][0].interval_days, card)):
        if any(meeting.comes or meeting.sibling in coming for meeting in met[card]):
            waits[card] = met[card][0].topic
        else:
            coming.add(card)
    return waits


def track_title(track: str) -> Localised:
    """Return the title of a track, or its folder if unknown."""
    return TRACKS.get(track) or quoted(track)


def reading_order(track: str) -> tuple[int, str]:
    """Return the sort key of a track: known ones in reading order, then others by name."""
    return (list(TRACKS).index(track) if track in TRACKS else len(TRACKS), track)
