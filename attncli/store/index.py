"""The bank files as last read (derived data), so that no YAML is parsed to show or find a card."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from attncli.i18n import Localised
from attncli.store.connection import Connection

Stamp = tuple[int, int]
"""Size in bytes and modification time in nanoseconds; a file with another stamp has changed."""


class BankFiles:
    """The files behind the index. Removing one removes its cards, topics and challenges."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def stamps(self) -> dict[str, Stamp]:
        rows = self._connection.rows("SELECT path, size, mtime_ns FROM bank_file")
        return {path: (size, mtime_ns) for path, size, mtime_ns in rows}

    def version(self) -> str:
        """Return a text that changes with any of the files."""
        sql = "SELECT count(*), sum(size), sum(mtime_ns % 1000000007) FROM bank_file"
        return " ".join(map(str, self._connection.row(sql)))

    def problems(self) -> list[Localised]:
        """Return the problems that the files had when they were read, file by file."""
        kept = self._connection.column("SELECT problems FROM bank_file WHERE problems <> '' ORDER BY path")
        return [Localised.of(problem) for problems in kept for problem in json.loads(problems)]

    def put(self, path: str, stamp: Stamp, problems: Sequence[Localised]) -> None:
        """Record that `path` was read, with its problems; all its earlier entries are removed."""
        self.remove(path)
        texts = [{"en": problem["en"], "zh": problem["zh"]} for problem in problems]
        stored = json.dumps(texts, ensure_ascii=False) if texts else ""
        self._connection.execute("INSERT INTO bank_file VALUES (?, ?, ?, ?)", (path, *stamp, stored))

    def remove(self, path: str) -> None:
        of_file = "SELECT number FROM card WHERE file = ?"
        self._connection.execute(f"DELETE FROM card_text WHERE rowid IN ({of_file})", (path,))
        self._connection.execute("DELETE FROM bank_file WHERE path = ?", (path,))


# Cards, topics and challenges


Document = dict[str, Any]
_SUMMARY = "card.id, topic, kind, level, core, must_know, question_en, question_zh"
_PLAINNESS = (
    "(1 + 0.25 * core) * (CASE level WHEN 'screen' THEN 1.3 WHEN 'onsite' THEN 1.1 ELSE 1 END)"
    " * (CASE kind WHEN 'qa' THEN 1.4 ELSE 1 END) / (1 + length(question_en) / 120.0)"
)
"""The weight that ranks one of two cards with the same words first: core, early level, short, a question."""
_NOT_A_CARD = "id NOT IN (SELECT id FROM card)"


class CardSummary(NamedTuple):
    """A card as lists show it."""

    id: str
    topic: str
    kind: str
    level: str
    core: bool
    must_know: bool
    question: Localised


class BankIndex:
    """The cards, topics and challenges of all files, each row owned by the file it came from."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add_topic(self, id: str, title_en: str, title_zh: str, file: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO topic VALUES (?, ?, ?, ?)", (id, file, title_en, title_zh))

    def add_card(self, document: Document, position: int, file: str, beside: Callable[[str], str]) -> None:
        """Index a validated card document whose id is not taken; `beside` gives other words for a line of text."""
        from hashlib import sha256

        from attncli.domain.text import example_labels, filled, searchable

        content = json.dumps(document, ensure_ascii=False, sort_keys=True)
        question, labels = document["question"], example_labels(document.get("parameters") or ())
        values = {key: document[key] for key in ("id", "topic", "kind", "level")} | {
            "core": int(bool(document.get("core"))),
            "must_know": int(bool(document.get("must_know"))),
            "question_en": filled(question["en"], labels),
            "question_zh": filled(question["zh"], labels),
            "document": json.dumps(document, ensure_ascii=False),
            "hash": sha256(content.encode()).hexdigest()[:16],
            "position": position,
            "file": file,
        }
        marks = ", ".join(f":{key}" for key in values)
        self._connection.execute(f"INSERT INTO card ({', '.join(values)}) VALUES ({marks})", values)
        lines = (searchable([document["id"], question]), searchable([document]))
        self._connection.execute(
            "INSERT INTO card_text (rowid, question, body) SELECT number, ?, ? FROM card WHERE id = ?",
            (*(f"{line} {beside(line)}".strip() for line in lines), document["id"]),
        )
        formerly = ((former, document["id"]) for former in document.get("formerly") or ())
        self._connection.execute_many("INSERT OR IGNORE INTO former (id, card) VALUES (?, ?)", formerly)

    def add_challenge(self, document: Document, file: str) -> None:
        text = json.dumps(document, ensure_ascii=False)
        values = (document["id"], document["track"], document["level"], text, file)
        self._connection.execute("INSERT INTO challenge VALUES (?, ?, ?, ?, ?)", values)

    def owner(self, card: str) -> str:
        """Return the file that a card came from, empty if there is no such card."""
        return self._connection.value("SELECT file FROM card WHERE id = ?", (card,)) or ""

    def cards_below(self, folder: str) -> list[str]:
        """Return the cards that came from files in this folder."""
        sql = "SELECT id FROM card WHERE substr(file, 1, length(?1)) = ?1 ORDER BY id"
        return [id for (id,) in self._connection.rows(sql, (folder,))]

    def topic_of(self, card: str) -> str:
        """Return the topic of a card, empty if there is no such card."""
        return self._connection.value("SELECT topic FROM card WHERE id = ?", (card,)) or ""

    def card_topics(self) -> dict[str, str]:
        """Map each card to its topic."""
        return dict(self._connection.rows("SELECT id, topic FROM card"))

    def challenge_owner(self, challenge: str) -> str:
        return self._connection.value("SELECT file FROM challenge WHERE id = ?", (challenge,)) or ""

    def card(self, id: str) -> Document | None:
        text = self._connection.value("SELECT document FROM card WHERE id = ?", (id,))
        return json.loads(text) if text else None

    def hash(self, id: str) -> str:
        """Return the hash of a card's content, empty if there is no such card."""
        return self._connection.value("SELECT hash FROM card WHERE id = ?", (id,)) or ""

    def names_of(self, card: str) -> list[str]:
        """Return the id of `card` and those it had before."""
        former = f"SELECT id FROM former WHERE card = ? AND {_NOT_A_CARD} ORDER BY id"
        return [card, *self._connection.column(former, (card,))]

    def renames(self) -> dict[str, str]:
        """Map each former id to the current one."""
        return dict(self._connection.rows(f"SELECT id, card FROM former WHERE {_NOT_A_CARD}"))

    def card_ids(self) -> list[str]:
        return self._connection.column("SELECT id FROM card ORDER BY topic, position")

    def must_know(self) -> tuple[list[str], list[str]]:
        """Return the cards and the challenges that nearly every interview asks."""
        challenges = "SELECT id FROM challenge WHERE json_extract(document, '$.must_know') ORDER BY id"
        cards = "SELECT id FROM card WHERE must_know ORDER BY topic, position"
        return self._connection.column(cards), self._connection.column(challenges)

    def introduction(self) -> list[tuple[str, str, bool, str, int, str]]:
        """Return (id, topic, core, level, position, kind) of every card, for the order of introduction."""
        return self._connection.rows("SELECT id, topic, core, level, position, kind FROM card")

    def topics(self, id: str | None = None) -> Sequence[tuple[str, str, str, int, int]]:
        """Return (id, English title, Chinese title, cards, asked) of each topic that has cards, or of this one if any.

        `asked` counts what interviews ask: core cards once, must-know cards four times.
        """
        one = "" if id is None else "WHERE topic = :id"
        return self._connection.rows(
            "SELECT held.topic, coalesce(max(title_en), held.topic), coalesce(max(title_zh), held.topic), held.cards,"
            f" asked FROM (SELECT topic, count(*) AS cards, sum(core + 4 * must_know) AS asked FROM card {one}"
            " GROUP BY topic) held"
            " LEFT JOIN topic ON topic.id = held.topic GROUP BY held.topic ORDER BY held.topic",
            {"id": id},
        )

    def challenge(self, id: str) -> Document | None:
        text = self._connection.value("SELECT document FROM challenge WHERE id = ?", (id,))
        return json.loads(text) if text else None

    def challenges(self) -> list[Document]:
        return list(
            map(json.loads, self._connection.column("SELECT document FROM challenge ORDER BY track, level, id"))
        )

    def challenge_ids(self) -> list[str]:
        return self._connection.column("SELECT id FROM challenge ORDER BY id")

    def list_cards(self, topic: str | None, most: int = -1) -> list[CardSummary]:
        """Return all cards, or those of one topic, in bank order, `most` at most (-1: all)."""
        sql = f"SELECT {_SUMMARY} FROM card WHERE ?1 IS NULL OR topic = ?1 ORDER BY topic, position LIMIT ?2"
        return self._summaries(sql, topic, most)

    def matching_cards(
        self, match: str, in_question: Sequence[str], topic: str | None, first: str = ""
    ) -> list[CardSummary]:
        """Return the cards whose text matches a full-text expression (see `domain/text.py`), the best first.

        Before all others comes the card with the id `first`, then those whose question matches each of `in_question`.
        """
        asked = [f"question : ({expression})" for expression in in_question]
        in_order = "".join(
            f" card.number IN (SELECT rowid FROM card_text WHERE card_text MATCH ?{number}) DESC,"
            for number in range(4, 4 + len(asked))
        )
        sql = f"""SELECT {_SUMMARY} FROM card_text JOIN card ON card.number = card_text.rowid
            WHERE card_text MATCH ?2 AND (?1 IS NULL OR topic = ?1)
            ORDER BY card.id = ?3 DESC,{in_order} bm25(card_text, 10.0, 1.0) * {_PLAINNESS}, card.id"""
        return self._summaries(sql, topic, match, first, *asked)

    def has_text(self, match: str) -> bool:
        """Return True if any card matches a full-text expression."""
        return bool(self._connection.value("SELECT 1 FROM card_text WHERE card_text MATCH ? LIMIT 1", (match,)))

    def known_words(self, words: Collection[str]) -> list[str]:
        """Return those of `words` that some card has."""
        found = "SELECT 1 FROM card_text WHERE card_text MATCH '\"' || value || '\"'"
        sql = f"SELECT value FROM json_each(?) WHERE EXISTS ({found})"
        return self._connection.column(sql, (json.dumps(sorted(words)),))

    def containing_cards(self, literal: str, topic: str | None) -> list[CardSummary]:
        """Return the cards whose document contains `literal` as it is: for signs that the tokenizer drops."""
        where = "instr(document, ?2) AND (?1 IS NULL OR topic = ?1)"
        return self._summaries(f"SELECT {_SUMMARY} FROM card WHERE {where} ORDER BY topic, position", topic, literal)

    def _summaries(self, sql: str, *values: Any) -> list[CardSummary]:
        return [
            CardSummary(id, topic, kind, level, bool(core), bool(must_know), Localised(en, zh))
            for id, topic, kind, level, core, must_know, en, zh in self._connection.rows(sql, values)
        ]
