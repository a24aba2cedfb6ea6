"""`attn export anki`: the cards as notes of one type, in a deck with a subdeck for each topic.

A card's Markdown becomes HTML, with formulas for Anki's MathJax and code highlighted by tags. Schedules and reviews are
replayed from the log under the settings in force now.
"""

from __future__ import annotations

import html
import io
import json
import re
import sqlite3
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Operator

from attncli.anki.package import EPOCH, MILLISECOND, SUSPENDED, CardType, ReviewType, own_guid
from attncli.domain.card import FROM_ANKI, Card, FollowUp
from attncli.domain.log_row import LogRow, Rating, Schedule, State
from attncli.domain.parts import Arrange, Choose, Entry, Fill, FindLine, Part, Rows
from attncli.domain.text import printable
from attncli.errors import NotFound, NothingFound
from attncli.export.card_markdown import markdown
from attncli.export.render import card_parser, sanitised
from attncli.i18n import LANGS, Lang, Localised, _
from attncli.memory.replay import standing_reviews
from attncli.practice.workspace import Workspace

if TYPE_CHECKING:
    import genanki

DECK = "attn"
CORE = "core"

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NUMBERS = "①②③④⑤⑥⑦⑧"
_BLANK = re.compile(r"_{4,}")

QuestionOf = Callable[[str], Localised]


@dataclass(frozen=True, slots=True)
class DeckWritten:
    """Counts of a deck: its cards, the reviewed ones, their reviews, and cards left out because Anki has them."""

    cards: int
    reviewed: int
    reviews: int
    from_anki: int


def export_deck(
    workspace: Workspace, write: Callable[[bytes], object], topic: str | None, langs: Sequence[Lang]
) -> DeckWritten:
    """Pass the package with the cards (of one topic) to `write`, with texts in `langs`, the learner's language first.

    Cards that came from Anki are left out unless their topic is named. Raises NotFound for an unknown topic,
    NothingFound if there is no card.
    """
    cards = [workspace.library.card(summary.id) for summary in workspace.library.cards(topic=topic)]
    kept = [card for card in cards if topic is not None or FROM_ANKI not in card.tags]
    if not kept:
        raise NothingFound(_("there are no cards to export; run `attn bank check` to check the banks"))
    first = workspace.lang if workspace.lang in langs else langs[0]
    histories = {own_guid(card.id, card.formerly): _history(workspace, card.id) for card in kept}
    write(_package(workspace, _decks(workspace, kept, langs, first), histories))
    reviews = [len(history.reviews) for history in histories.values() if history.reviews]
    return DeckWritten(len(histories), len(reviews), sum(reviews), len(cards) - len(kept))


def _decks(workspace: Workspace, cards: Sequence[Card], langs: Sequence[Lang], first: Lang) -> list[genanki.Deck]:
    import genanki

    def question_of(id: str) -> Localised:
        return workspace.library.card(id).wording

    model, decks = _note_type(), dict[str, genanki.Deck]()
    titles = {topic.id: topic.title[first].strip() or topic.id for topic in workspace.library.topics()}
    for place, card in enumerate(cards, 1):
        if card.topic not in decks:
            name = titles.get(card.topic, card.topic).replace("::", ":")
            decks[card.topic] = genanki.Deck(_deck_number(card.topic), f"{DECK}::{name}")
        sides = [side(card, lang, question_of) if lang in langs else NoteSide() for lang in LANGS]
        about = plain(f"{card.id} · {card.topic} · {card.kind} · {card.level}")
        fields = [card.id, *(text for each in sides for text in each), about, sources(card), first]
        decks[card.topic].add_note(
            genanki.Note(model, fields, tags=_tags(card), guid=own_guid(card.id, card.formerly), due=place)
        )
    return list(decks.values())


def _deck_number(topic: str) -> int:
    """Return the id of the deck of `topic`, the same in every export."""
    return 1_700_000_000_000 + int.from_bytes(sha256(f"{DECK}:{topic}".encode()).digest()[:4], "big")


def _tags(card: Card) -> list[str]:
    """Return tags nested under `attn`, which Anki's sidebar shows as a tree; a space would end a tag."""
    named = [f"topic::{card.topic}", f"kind::{card.kind}", f"level::{card.level}", *([CORE] if card.core else [])]
    return [f"{DECK}::{name}" for name in named] + ["-".join(tag.split()) for tag in card.tags]


# The note type

NOTE_TYPE = 1_795_020_117
"""Anki identifies the note type by this number: never change it."""
PARTS = ("Question", "Answer", "Why", "Points", "Pitfalls", "Follow-ups")
FIELDS = ("Id", *(f"{part} ({lang})" for lang in LANGS for part in PARTS), "About", "Sources", "First language")
_PART_HEADINGS = {"Why": _("Why"), "Points": _("Points"), "Pitfalls": _("Pitfalls"), "Follow-ups": _("Follow-ups")}


def _note_type() -> genanki.Model:
    """Return the note type. Its one card shows the question in each language of the note, then the answer."""
    import genanki

    question = _each_language(lambda lang: f"{{{{Question ({lang})}}}}")
    heading = " · ".join(_("Sources")[lang] for lang in LANGS)
    sources = f'<div class="sources">{heading}{{{{Sources}}}}</div>'
    template = {
        "name": "attn",
        "qfmt": f'<div class="about">{{{{About}}}}</div>{question}',
        "afmt": f'{{{{FrontSide}}}}<hr id="answer">{_each_language(_answer)}{_optional("Sources", sources)}',
    }
    css = files("attncli.export").joinpath("templates/anki.css").read_text(encoding="utf-8")
    return genanki.Model(NOTE_TYPE, "attn", [{"name": name} for name in FIELDS], [template], css)


def _each_language(shown: Callable[[Lang], str]) -> str:
    sections = "".join(
        _optional(f"Question ({lang})", f'<section class="{lang}">{shown(lang)}</section>') for lang in LANGS
    )
    return f'<div class="attn first-{{{{First language}}}}">{sections}</div>'


def _answer(lang: Lang) -> str:
    sections = "".join(
        _optional(f"{part} ({lang})", f"<h2>{heading[lang]}</h2>{{{{{part} ({lang})}}}}")
        for part, heading in _PART_HEADINGS.items()
    )
    return f"{{{{Answer ({lang})}}}}{sections}"


def _optional(field: str, shown: str) -> str:
    return f"{{{{#{field}}}}}{shown}{{{{/{field}}}}}"


# The fields of a note


class NoteSide(NamedTuple):
    """The fields of a note in one language, as HTML; empty if the card has none."""

    question: str = ""
    answer: str = ""
    why: str = ""
    points: str = ""
    pitfalls: str = ""
    follow_ups: str = ""


def side(card: Card, lang: Lang, question_of: QuestionOf) -> NoteSide:
    """Return the card in one language; `question_of` returns the question of a card that a follow-up names.

    Numbers and orders are drawn with the card's id as seed, so that they are the same in every export.
    """
    card = card.draw(Random(card.id))
    short = block(card.answer[lang]) if card.answer else ""
    return NoteSide(
        question=_question(card, lang),
        answer="".join(_part(part, lang) for part in card.solution()) + short,
        why=_why(card, lang),
        points=_listed([inline(point[lang]) for point in card.points], "ol"),
        pitfalls=_listed([inline(pitfall[lang]) for pitfall in card.pitfalls]),
        follow_ups="".join(_follow_up(follow_up, lang, question_of) for follow_up in card.follow_ups),
    )


def _question(card: Card, lang: Lang) -> str:
    match entry := card.entry():
        case FindLine():
            return block(card.wording[lang]) + code(entry.code, numbered=True)
        case Choose():
            several = _paragraph(_("Several options are right."), lang) if entry.several else ""
            return block(card.wording[lang]) + several + _listed(_texts(entry, lang), 'ol type="A"')
        case Arrange():
            return block(card.wording[lang]) + _paragraph(_("Put in order:"), lang) + _listed(_texts(entry, lang))
        case Fill(is_number=True) if entry.unit:
            return block(card.wording[lang]) + _paragraph(_("Answer in {unit}.", unit=plain(entry.unit)), lang)
        case Fill():
            numbers = iter(NUMBERS[: entry.fields] if entry.fields > 1 else "")
            return block(_BLANK.sub(lambda blank: next(numbers, "") + r"\_\_\_\_", card.wording[lang]))
    return block(card.wording[lang])


def _texts(entry: Entry, lang: Lang) -> list[str]:
    return [inline(row.text[lang]) for row in entry.rows]


def _part(part: Part, lang: Lang) -> str:
    """Return a part of a solution; options have the letters of the question."""
    if not isinstance(part, Rows):
        return block(markdown([part], lang))
    if part.rows[0].right is None:
        return _listed([inline(row.text[lang]) for row in part.rows], "ol" if part.ordered else "ul")
    lines = []
    for letter, row in zip(LETTERS, part.rows, strict=False):
        text, why = inline(row.text[lang]), f"<br>{inline(row.why[lang])}" if row.why else ""
        lines.append(f"✓ {letter}. <strong>{text}</strong>{why}" if row.right else f"✗ {letter}. {text}{why}")
    right = ", ".join(letter for letter, row in zip(LETTERS, part.rows, strict=False) if row.right)
    return f"<p><strong>{right}</strong></p>" + _listed(lines, 'ul class="marked"')


def _why(card: Card, lang: Lang) -> str:
    text = block(card.explain[lang]) if card.explain else ""
    notes = [_("Nobody has published this; it cannot be checked.")] if card.unverifiable else []
    notes += [_("As of {date}.", date=plain(card.as_of))] if card.as_of else []
    return text + "".join(f"<p><em>{note[lang]}</em></p>" for note in notes)


def _follow_up(follow_up: FollowUp, lang: Lang, question_of: QuestionOf) -> str:
    more = f" ({plain(follow_up.card)})" if follow_up.card else ""
    if follow_up.ask and follow_up.answer:
        return f"<p><strong>{inline(follow_up.ask[lang])}</strong></p>{block(follow_up.answer[lang])}"
    try:
        return f"<p>{inline(question_of(follow_up.card)[lang])}{more}</p>"
    except NotFound:
        return ""


def _paragraph(message: Localised, lang: Lang) -> str:
    return f"<p>{message[lang]}</p>"


def sources(card: Card) -> str:
    return _listed([plain(source.text) for source in card.sources])


def _listed(items: Iterable[str], tag: str = "ul") -> str:
    lines = "".join(f"<li>{item}</li>" for item in items)
    return f"<{tag}>{lines}</{tag.split()[0]}>" if lines else ""


# Markdown as HTML for Anki

_ANKI_TAG = re.compile(r"\[(?=(?:sound|anki|/?latex|/?\$\$?)[:\]])", re.IGNORECASE)


def block(text: str) -> str:
    """Return Markdown of paragraphs, lists, tables and code as HTML."""
    return _safe(_parser().render(text).strip())


def inline(text: str) -> str:
    """Return the Markdown of one line as HTML."""
    return _safe(_parser().renderInline(text.strip()))


def code(source: str, numbered: bool = False) -> str:
    """Return code as HTML with keywords and comments marked, and line numbers if `numbered`."""
    lines = _highlighted(source.rstrip()).split("\n")
    if numbered:
        lines = [f"{number:>2}  {line}" for number, line in enumerate(lines, 1)]
    return _safe("<pre><code>" + "\n".join(lines) + "</code></pre>")


def plain(text: str) -> str:
    """Return plain text as HTML."""
    return _safe(escape(text))


def _highlighted(source: str) -> str:
    """Return Python code as HTML, with `<strong>` for keywords and `<em>` for comments."""
    parts = list[str]()
    for kind, text in PythonLexer(stripnl=False, ensurenl=False).get_tokens(source):
        tag = "strong" if kind in Keyword or kind in Operator.Word else "em" if kind in Comment else ""
        parts.append(f"<{tag}>{escape(text)}</{tag}>" if tag else escape(text))
    return "".join(parts)


def _safe(text: str) -> str:
    """Return HTML without unsafe tags, hidden characters and the tags that Anki itself interprets."""
    return _ANKI_TAG.sub("&#91;", sanitised(printable(text)))


@cache
def _parser() -> MarkdownIt:
    parser = card_parser(_formula)
    parser.add_render_rule("fence", _fence)
    return parser


def _formula(source: str, options: dict[str, bool]) -> str:
    """Return a formula between the delimiters of MathJax."""
    opened, closed = ("\\[", "\\]") if options.get("display_mode") else ("\\(", "\\)")
    return f"{opened}{escape(html.unescape(source).strip())}{closed}"


def _fence(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    shown = _highlighted(token.content.rstrip()) if token.info.startswith("python") else escape(token.content.rstrip())
    return f"<pre><code>{shown}</code></pre>\n"


# Schedules and reviews, replayed from the log under the settings in force now

SECONDS_A_DAY = 86_400
LONGEST_ANSWER_IN_ANKI_MS = 60_000
"""Anki counts no more for one answer."""
FIRST_EASE, LEAST_EASE = 2500, 1300
_EASE_STEPS = {Rating.AGAIN: -200, Rating.HARD: -150, Rating.GOOD: 0, Rating.EASY: 150}


class _Review(NamedTuple):
    """A row of `revlog`: an interval is in days or, if negative, in seconds; `ease` is in thousandths."""

    at: datetime
    rating: int
    interval: int
    last_interval: int
    ease: int
    elapsed_ms: int
    type: ReviewType


@dataclass(frozen=True, slots=True)
class _History:
    """The schedule of a card, None for a new one; its reviews, and the ease that SM-2 would give it."""

    suspended: bool
    schedule: Schedule | None
    reviews: tuple[_Review, ...] = ()
    ease: int = 0


def _history(workspace: Workspace, card: str) -> _History:
    store = workspace.store
    suspended, _ = store.schedules.hold(card)
    current = store.schedules.get(card)
    if current is None:
        return _History(suspended, None)
    scheduler, schedule = workspace.card_scheduler(card), None
    ease, last_interval, reviews = 0, 0, list[_Review]()
    for row in standing_reviews(store.log.of_subjects(store.index.names_of(card))):
        before = schedule.state if schedule else State.LEARNING
        schedule = scheduler.review(row.subject, schedule, row.rating, row.at, row.day)
        if before is State.REVIEW:
            ease = max(LEAST_EASE, ease + _EASE_STEPS[row.rating])
        elif schedule.state is State.REVIEW:
            ease = ease or FIRST_EASE
        interval, type = _interval(schedule), ReviewType[before.name]
        reviews.append(_Review(row.at, int(row.rating), interval, last_interval, ease, _elapsed_ms(row), type))
        last_interval = interval
    return _History(suspended, current, tuple(reviews), ease)


def _interval(schedule: Schedule) -> int:
    if schedule.state is State.REVIEW:
        return max(1, round(schedule.interval_days))
    return -max(1, round(schedule.interval_days * SECONDS_A_DAY))


def _elapsed_ms(row: LogRow) -> int:
    elapsed_ms = row.payload.get("elapsed_ms")
    return min(max(elapsed_ms, 0), LONGEST_ANSWER_IN_ANKI_MS) if type(elapsed_ms) is int else 0


# Writing the package: schema 11, which every Anki since 2.1 opens

MEMBER = "collection.anki2"
EARLIEST_IN_ZIP = 1980
_DAY_LEARNING_QUEUE = 3


def _package(workspace: Workspace, decks: Sequence[genanki.Deck], histories: Mapping[str, _History]) -> bytes:
    """Return the bytes of a package; `histories` are by the GUID of a note."""
    import genanki

    at = workspace.clock()
    with closing(sqlite3.connect(":memory:")) as connection:
        ids = count(round(at.timestamp() * 1000))
        genanki.Package(decks).write_to_db(connection.cursor(), at.timestamp(), ids)
        firsts = [history.reviews[0].at for history in histories.values() if history.reviews]
        first_day = _set_calendar(connection, workspace, min([*firsts, at]))
        taken = set[int]()
        cards = connection.execute("SELECT cards.id, guid FROM cards JOIN notes ON nid = notes.id").fetchall()
        for card, guid in cards:
            _write_card(connection, card, histories[guid], workspace, first_day, taken)
        connection.commit()
        database = connection.serialize()
    packed = io.BytesIO()
    stamp = at.timetuple()[:6] if at.year >= EARLIEST_IN_ZIP else (EARLIEST_IN_ZIP, 1, 1, 0, 0, 0)
    with zipfile.ZipFile(packed, "w") as package:
        for name, content in ((MEMBER, database), ("media", b"{}")):
            package.writestr(zipfile.ZipInfo(name, stamp), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _set_calendar(connection: sqlite3.Connection, workspace: Workspace, first: datetime) -> int:
    """Set the moment at which day 0 starts (`crt`), and in `conf` the local hour at which days start. Returns day 0.

    Day 0 is the study day before `first`, so that no day is negative.
    """
    calendar, now_ms = workspace.calendar, round(workspace.clock().timestamp() * 1000)
    first_day = calendar.day(first) - 1
    starts_at = calendar.starts_at(first_day)
    offset = starts_at.astimezone(UTC).astimezone(calendar.zone).utcoffset()
    (conf,) = connection.execute("SELECT conf FROM col").fetchone()
    values = {
        "schedVer": 2,
        "sched2021": True,
        "rollover": calendar.day_start.hour,
        "creationOffset": -round(offset.total_seconds() / 60) if offset else 0,
    }
    connection.execute(
        "UPDATE col SET crt = ?, mod = ?, scm = ?, conf = ?",
        (round(starts_at.timestamp()), now_ms, now_ms, json.dumps({**json.loads(conf), **values})),
    )
    return first_day


def _write_card(
    connection: sqlite3.Connection, card: int, history: _History, workspace: Workspace, first_day: int, taken: set[int]
) -> None:
    """Write the schedule of a card, and its reviews; the id of a review is its Unix time in milliseconds.

    `left` encodes the number of remaining steps n as n·1001, and `data` the state of FSRS as JSON.
    """
    schedule, policy = history.schedule, workspace.policy
    if schedule is None:
        connection.execute("UPDATE cards SET queue = ? WHERE id = ?", (SUSPENDED if history.suspended else 0, card))
        return
    number = 0
    for at, *values in history.reviews:
        number = next(id for id in count((at - EPOCH) // MILLISECOND) if id not in taken)
        taken.add(number)
        connection.execute(
            "INSERT INTO revlog (cid, usn, id, ease, ivl, lastIvl, factor, time, type)"
            " VALUES (?, -1, ?, ?, ?, ?, ?, ?, ?)",
            (card, number, *values),
        )
    queue, due = _queue(schedule, first_day)
    steps = {State.LEARNING: policy.learning_steps, State.RELEARNING: policy.relearning_steps}.get(schedule.state, ())
    data = {
        "s": schedule.stability_days and round(schedule.stability_days, 4),
        "d": schedule.difficulty and round(schedule.difficulty, 3),
        "dr": policy.desired_retention,
        "decay": policy.decay,
        "lrt": number // 1000 or None,
    }
    columns = {
        "type": CardType[schedule.state.name],
        "queue": SUSPENDED if history.suspended else queue,
        "due": due,
        "ivl": max(1, round(schedule.interval_days)) if schedule.state is not State.LEARNING else 0,
        "factor": history.ease,
        "reps": schedule.repetitions,
        "lapses": schedule.lapses,
        "left": (max(1, len(steps) - (schedule.step or 0)) if steps else 0) * 1001,
        "data": json.dumps({key: value for key, value in data.items() if value is not None}),
    }
    assignments = ", ".join(f"{name} = ?" for name in columns)
    connection.execute(f"UPDATE cards SET {assignments} WHERE id = ?", (*columns.values(), card))


def _queue(schedule: Schedule, first_day: int) -> tuple[int, int]:
    """Return the queue of a card, and its due date as that queue counts it: a day number or a Unix time."""
    day = schedule.due_day - first_day
    if schedule.state is State.REVIEW:
        return CardType.REVIEW, day
    if (schedule.due_at - schedule.reviewed_at).days >= 1:
        return _DAY_LEARNING_QUEUE, day
    return CardType.LEARNING, int(schedule.due_at.timestamp())
