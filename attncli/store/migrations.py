"""The shape of the database, as the ordered steps that lead to it. A step that was released is never changed.

In a WITHOUT ROWID table the key comes first: the integrity check of SQLite 3.40 mistakes columns otherwise.
"""

from __future__ import annotations

from attncli.errors import StoreError
from attncli.store.connection import Connection

APPLICATION_ID = 0x6174746E  # "attn"

_LOG = """
CREATE TABLE log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    machine TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    at_us INTEGER NOT NULL,
    day INTEGER NOT NULL,
    payload TEXT NOT NULL CHECK (json_valid(payload))
) STRICT;
CREATE INDEX log_subject ON log (subject, at_us, id);
CREATE INDEX log_kind_day ON log (kind, day);
CREATE INDEX log_undone ON log (json_extract(payload, '$.row')) WHERE kind = 'undo';
CREATE TRIGGER log_is_never_changed BEFORE UPDATE ON log
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER log_is_never_shortened BEFORE DELETE ON log
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('machine', lower(hex(randomblob(4))));
"""

_DERIVED = """
CREATE TABLE schedule (
    subject TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    stability_days REAL NOT NULL,
    difficulty REAL NOT NULL,
    step INTEGER,
    reviewed_at_us INTEGER NOT NULL,
    review_day INTEGER NOT NULL,
    due_at_us INTEGER NOT NULL,
    interval_days REAL NOT NULL,
    repetitions INTEGER NOT NULL,
    lapses INTEGER NOT NULL,
    introduced_day INTEGER NOT NULL,
    last_row TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX schedule_introduced ON schedule (introduced_day);
CREATE TABLE hold (
    subject TEXT PRIMARY KEY,
    suspended INTEGER NOT NULL,
    buried_day INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE bank_file (
    path TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    problems TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE topic (
    id TEXT NOT NULL,
    file TEXT NOT NULL REFERENCES bank_file (path) ON DELETE CASCADE,
    title_en TEXT NOT NULL,
    title_zh TEXT NOT NULL,
    PRIMARY KEY (id, file)
) STRICT, WITHOUT ROWID;
CREATE TABLE card (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    topic TEXT NOT NULL,
    kind TEXT NOT NULL,
    level TEXT NOT NULL,
    core INTEGER NOT NULL,
    question_en TEXT NOT NULL,
    question_zh TEXT NOT NULL,
    document TEXT NOT NULL,
    hash TEXT NOT NULL,
    position INTEGER NOT NULL,
    file TEXT NOT NULL REFERENCES bank_file (path) ON DELETE CASCADE
) STRICT;
CREATE INDEX card_topic ON card (topic);
CREATE INDEX card_file ON card (file);
CREATE TABLE former (
    id TEXT PRIMARY KEY,
    card TEXT NOT NULL REFERENCES card (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX former_card ON former (card);
CREATE VIRTUAL TABLE card_text USING fts5 (question, body, tokenize = "unicode61 remove_diacritics 2");
CREATE TABLE challenge (
    id TEXT PRIMARY KEY,
    track TEXT NOT NULL,
    level INTEGER NOT NULL,
    document TEXT NOT NULL,
    file TEXT NOT NULL REFERENCES bank_file (path) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE queue (
    id TEXT PRIMARY KEY,
    topic TEXT NOT NULL,
    rank INTEGER NOT NULL,
    state TEXT NOT NULL,
    due_at_us INTEGER NOT NULL,
    suspended INTEGER NOT NULL,
    buried_day INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX queue_due ON queue (suspended, state, due_at_us, topic, buried_day);
CREATE INDEX queue_new ON queue (suspended, state, rank, topic, buried_day);
"""

STEPS: tuple[str, ...] = (_LOG + _DERIVED,)
NEWEST = len(STEPS)


def migrate(connection: Connection) -> None:
    """Brings the database to the newest shape; each step and its record are one transaction."""
    _refuse_strangers(connection)
    while (version := _version(connection)) < NEWEST:
        with connection.transaction():
            if _version(connection) == version:
                _apply(connection, version)


def _apply(connection: Connection, version: int) -> None:
    for statement in statements(STEPS[version]):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {version + 1}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _version(connection: Connection) -> int:
    return int(connection.value("PRAGMA user_version"))


def _refuse_strangers(connection: Connection) -> None:
    version = _version(connection)
    if version > NEWEST:
        raise StoreError(
            f"the database {connection.path} was written by a newer attn (format {version}, this one knows {NEWEST}); "
            "install the newer version, or name another folder with --home"
        )
    tables = connection.value("SELECT count(*) FROM sqlite_schema")
    if version == 0 and tables:
        raise StoreError(f"{connection.path} is an SQLite database of something else; name another folder with --home")


def statements(script: str) -> list[str]:
    """The single statements of a script; a trigger's body stays in one piece."""
    found, current = [], ""
    for line in script.strip().splitlines():
        current += line + "\n"
        inside_trigger = "CREATE TRIGGER" in current and not current.rstrip().endswith("END;")
        if current.rstrip().endswith(";") and not inside_trigger:
            found.append(current.strip())
            current = ""
    return found
