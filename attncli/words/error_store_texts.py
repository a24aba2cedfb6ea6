"""What can be wrong with the database, its backups, merged logs and what Anki exports; see `error_texts`."""

from __future__ import annotations

from attncli.i18n import Localised, _

DATABASE: tuple[Localised, ...] = (
    _("cannot use {path} ({reason})"),
    _("{path} failed ({reason})"),
    _("{path} is damaged ({reason})"),
    _("try again: it is made anew from the history"),
    _("every other row counts, and `attn restore FILE` brings back a backup"),
    _("another attn is writing to it"),
    _("try again when that one is done"),
    _("no copy was kept in {folder}: only {free} MiB are free"),
    _("make its parent writable"),
    _("{file}:{line}: {reason}"),
    _("{path} lacks rows that it had"),
    _("row {number} and all after it are gone"),
    _("what was recorded is kept, but not shown yet: {reason}"),
    _("`attn restore FILE` brings back a backup"),
    _("it is no line of a history"),
    _("its checksum does not fit"),
    _("it has another form; a newer attn may have written it"),
    _("the byte after it is damaged"),
    _("its number {number} comes again"),
    _("row {number} is missing before it"),
    _("rows {first} to {last} are missing before it"),
)

BACKUPS: tuple[Localised, ...] = (
    _("a backup is a file"),
    _("name it with -o"),
    _("`attn backup` writes one"),
    _("name the one that `attn backup` wrote"),
    _("{path} is damaged, or no database of attn ({reason})"),
    _("give another file"),
    _("{path} has no table of rows"),
    _("the name of the file is empty"),
    _("name the file or folder to merge"),
    _("{path} holds no row that can be used"),
)

LOGS: tuple[Localised, ...] = (
    _("make the folder writable, or name another"),
    _("export the file again"),
    _("{place}: row {id} is here with another content"),
    _("one of the two logs is damaged or was changed by hand"),
    _("create it where your machines share files"),
    _("{path} is no file, and was left out"),
    _("remove it from the shared folder"),
    _("{place}: no line of a review log ({reason})"),
    _("{problem}; nothing was merged; export the file again"),
)

ANKI: tuple[Localised, ...] = (
    _("export it from Anki again (File → Export, an .apkg or .colpkg)"),
    _("{package} has {count} files inside, which no collection has"),
    _("{package} holds no Anki collection"),
    _("{package} is no Anki package, or a damaged one ({reason})"),
    _("{package} is a damaged Anki package ({reason})"),
    _("{package} unpacks to more than {most} MiB, which no collection does"),
    _("cannot unpack the collection ({reason})"),
    _("the collection in {package} is damaged"),
    _("let Anki check it (Tools), then export it from Anki again (File → Export, an .apkg or .colpkg)"),
    _("{package} has {count} rows in {table}, more than {most}"),
    _("export one deck at a time"),
    _("{package} has more than {most} MiB of text"),
    _("{package} takes more time or memory than any collection does"),
    _("cannot start what reads {package} ({python}: {reason})"),
    _("make it writable and import again: what is here already counts once"),
    _("the collection in {package} is not as Anki writes it ({reason})"),
    _("{package} holds no Anki collection that can be read (table {table})"),
    _("{path} does not end in a list of cards to add to"),
    _("move it away and import again"),
    _("{problem}; correct it first, then import again; nothing was imported"),
    _("there is no card to export"),
)
