"""The shape of the database, as the ordered steps that lead to it. A step that was released is never changed.

In a WITHOUT ROWID table the key comes first: the integrity check of SQLite 3.40 mistakes columns otherwise.
"""

from __future__ import annotations

from attncli.domain.log_row import RowKind
from attncli.errors import StoreError
from attncli.store.connection import APPLICATION_ID, Connection, damaged
from attncli.store.log import RowDamaged, checksum, row_of

NEVER_FITS = -1
FARTHEST_DAY = 3

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

# A row that cannot be read gets a checksum that never fits.
_CHECKSUMS = """
DROP TRIGGER log_is_never_changed;
DROP TRIGGER log_is_never_shortened;
ALTER TABLE log ADD COLUMN checksum INTEGER NOT NULL DEFAULT -1;
UPDATE log SET checksum = row_checksum(
    CAST(id AS BLOB), CAST(machine AS BLOB), CAST(kind AS BLOB), CAST(subject AS BLOB), at_us, day,
    CAST(payload AS BLOB)
);
CREATE TABLE set_aside (
    number INTEGER PRIMARY KEY,
    seq ANY, id ANY, machine ANY, kind ANY, subject ANY, at_us ANY, day ANY, payload ANY, checksum ANY
) STRICT;
CREATE TRIGGER log_is_never_changed BEFORE UPDATE ON log
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER log_is_never_shortened BEFORE DELETE ON log
WHEN NOT EXISTS (SELECT 1 FROM set_aside WHERE seq IS OLD.seq AND id IS OLD.id AND payload IS OLD.payload)
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""

# What is counted and summed over all cards or reviews stands in one narrow index or table.
_AGGREGATES = """
CREATE INDEX log_machine ON log (machine);
CREATE TABLE review_day (
    day INTEGER PRIMARY KEY,
    reviews INTEGER NOT NULL,
    recalled INTEGER NOT NULL,
    forgotten INTEGER NOT NULL
) STRICT;
INSERT INTO review_day
    SELECT day, count(*), coalesce(sum(before < day AND rating > 1), 0), coalesce(sum(before < day AND rating = 1), 0)
    FROM (
        SELECT day, json_extract(payload, '$.rating') AS rating,
               lag(day) OVER (PARTITION BY subject ORDER BY at_us, id) AS before
        FROM log WHERE kind = 'review' AND json_extract(payload, '$.rating') BETWEEN 1 AND 4
        AND NOT EXISTS (SELECT 1 FROM log u WHERE u.kind = 'undo' AND json_extract(u.payload, '$.row') = log.id)
    ) GROUP BY day;
ALTER TABLE queue ADD COLUMN stability_days REAL;
ALTER TABLE queue ADD COLUMN review_day INTEGER;
ALTER TABLE queue ADD COLUMN due_day INTEGER;
ALTER TABLE queue ADD COLUMN lapses INTEGER;
ALTER TABLE queue ADD COLUMN last_rating INTEGER;
ALTER TABLE queue ADD COLUMN last_correct INTEGER;
ALTER TABLE queue ADD COLUMN last_points TEXT;
UPDATE queue SET (stability_days, review_day, due_day, lapses, last_rating, last_correct, last_points) = (
    SELECT stability_days, review_day, review_day + CAST(round(interval_days) AS INTEGER), lapses,
           CASE WHEN json_valid(payload) AND json_type(payload, '$.rating') = 'integer'
           THEN json_extract(payload, '$.rating') END,
           CASE WHEN json_valid(payload) THEN
           CASE json_type(payload, '$.correct') WHEN 'true' THEN 1 WHEN 'false' THEN 0 END END,
           CASE WHEN json_valid(payload) AND json_type(payload, '$.points') = 'array'
           THEN json_extract(payload, '$.points') END
    FROM schedule LEFT JOIN log ON log.id = last_row WHERE schedule.subject = queue.id
);
CREATE INDEX queue_seen ON queue (topic, stability_days, review_day, due_day, lapses, state, suspended)
WHERE stability_days IS NOT NULL;
"""

# Cards and challenges that name one another, in both directions. It is filled with the queue, when the banks are read.
_SIBLINGS = """
CREATE TABLE sibling (
    subject TEXT NOT NULL,
    other TEXT NOT NULL,
    PRIMARY KEY (subject, other)
) STRICT, WITHOUT ROWID;
UPDATE bank_file SET mtime_ns = -1;
"""

STEPS: tuple[str, ...] = (_LOG + _DERIVED, _CHECKSUMS, _AGGREGATES, _SIBLINGS)
NEWEST = len(STEPS)


def migrate(connection: Connection) -> bool:
    """Brings the database to the newest shape; each step and its record are one transaction.

    Whether it was begun here: of several processes that start at once in a new folder, one begins it.
    """
    refuse_strangers(connection)
    connection.use_write_ahead_log()
    begun = False
    while (version := _version(connection)) < NEWEST:
        with connection.transaction():
            if _version(connection) == version:
                _apply(connection, version)
                begun = begun or version == 0
    return begun


def _apply(connection: Connection, version: int) -> None:
    connection.define("row_checksum", 7, checksum_if_readable)
    for statement in statements(STEPS[version]):
        connection.execute(statement)
    record_format(connection, version + 1)


def record_format(connection: Connection, format: int) -> None:
    """Writes the format where it is looked for, and once more in the content, which tells a damaged header."""
    connection.execute(f"PRAGMA user_version = {format}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('format', ?)", (str(format),))


def checksum_if_readable(
    id: bytes, machine: bytes, kind: bytes, subject: bytes, at_us: int, day: int, payload: bytes
) -> int:
    """The checksum of a row that was written without one; -1, which never fits, if it says nothing usable."""
    try:
        check = checksum(id, machine, kind, subject, at_us, day, payload)
        row = row_of((None, id, machine, kind, subject, at_us, day, payload, check))
    except (RowDamaged, TypeError):
        return NEVER_FITS
    values = row.payload if isinstance(row.payload, dict) else {}
    needed = {
        RowKind.REVIEW: values.get("rating") in (1, 2, 3, 4),
        RowKind.UNDO: isinstance(values.get("row"), str),
        RowKind.ATTEMPT: values.get("verdict") in ("accepted", "rejected"),
        RowKind.FIT: isinstance(values.get("parameters"), list),
    }
    near_its_day = abs(row.at.toordinal() - day) <= FARTHEST_DAY
    return check if isinstance(row.payload, dict) and near_its_day and needed.get(row.kind, True) else NEVER_FITS


def _version(connection: Connection) -> int:
    return int(connection.value("PRAGMA user_version"))


def refuse_strangers(connection: Connection) -> None:
    """Raises StoreError for what is not ours to touch, StoreCorrupt if the header contradicts the content."""
    with connection.snapshot():
        version, application = _version(connection), connection.value("PRAGMA application_id")
        tables = {name for (name,) in connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        if not tables and version == 0:
            return
        if application != APPLICATION_ID and not {"log", "meta"} <= tables:
            raise StoreError(
                f"{connection.path} is an SQLite database of something else; name another folder with --home"
            )
        recorded = recorded_format(connection)
    if application != APPLICATION_ID or version != recorded:
        raise damaged(connection.path, f"its header says format {version}, its content {recorded}")
    if version > NEWEST:
        raise StoreError(
            f"the database {connection.path} was written by a newer attn (format {version}, this one knows {NEWEST}); "
            "install the newer version, or name another folder with --home"
        )


def recorded_format(connection: Connection) -> int:
    """The format that the content names; the first format did not."""
    return int(connection.value("SELECT value FROM meta WHERE key = 'format'") or 1)


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
