"""Hostile Anki packages: small known ones, and any number of generated ones."""

import json
import random
import sqlite3
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

SCHEMA = """
CREATE TABLE col (id, crt, models, decks, conf);
CREATE TABLE notes (id, guid, mid, flds);
CREATE TABLE cards (id, nid, did, ord, mod, type, queue, odid);
CREATE TABLE revlog (id, cid, ease, ivl, lastIvl, factor, time, type);
"""
Row = Sequence[Any]


def model(question: str = "{{Front}}", answer: str = "{{Back}}", is_cloze: bool = False) -> str:
    """Return one note type with the fields Front, Back and Hint."""
    fields = [{"name": name, "ord": ord} for ord, name in enumerate(("Front", "Back", "Hint"))]
    return json.dumps(
        {"1": {"type": int(is_cloze), "flds": fields, "tmpls": [{"ord": 0, "qfmt": question, "afmt": answer}]}}
    )


def written(
    path: Path,
    notes: Sequence[Row] = ((1, "g", 1, "What is it?\x1fIt."),),
    cards: Sequence[Row] = ((1, 1, 1, 0, 0, 2, 2, 0),),
    models: str = model(),
    deck: str = "D",
    reviews: Sequence[Row] = (),
    conf: str = '{"schedVer": 2}',
) -> Path:
    """Write a package with these rows."""
    file = path.with_suffix(".db")
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as rows, rows:
        rows.executescript(SCHEMA)
        rows.execute("INSERT INTO col VALUES (1, 0, ?, ?, ?)", (models, json.dumps({"1": {"name": deck}}), conf))
        for table, content in (("notes", notes), ("cards", cards), ("revlog", reviews)):
            if content:
                marks = ", ".join("?" * len(content[0]))
                rows.executemany(f"INSERT INTO {table} VALUES ({marks})", content)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.write(file, "collection.anki2")
    file.unlink()
    return path


def _asked(text: str, **more: Any) -> dict[str, Any]:
    return {"notes": [(1, "g", 1, f"{text}\x1fIt.")], **more}


def _cards(count: int, same_id: bool = False, reviews: int = 0) -> dict[str, Any]:
    return {
        "notes": [(1 if same_id else n, f"g{n}", 1, "Why?\x1fSo.") for n in range(count)],
        "cards": [(1 if same_id else n, 1 if same_id else n, 1, 0, 0, 2, 2, 0) for n in range(count)],
        "reviews": [(1_700_000_000_000 + n, 1, 3, 1, 1, 2500, 900, 1) for n in range(reviews)],
    }


KINDS: dict[str, Callable[[], dict[str, Any]]] = {
    "sound": dict,
    "blanks in a template": lambda: {"models": model("{{Front}}{{" + " " * 6000)},
    "an endless tag": lambda: _asked("What " + "<a " * 80_000),
    "declarations": lambda: _asked("What " + "<!" * 120_000),
    "marked sections": lambda: _asked("What <![x[ is <![if y]> it " + "<![" * 80_000),
    "end tags": lambda: _asked("What " + "</" * 120_000),
    "formulas": lambda: _asked("What " + "\\(" * 120_000),
    "old formulas": lambda: _asked("What " + "[latex]" * 36_000 + "[$]" * 1000),
    "a deep formula": lambda: _asked("What is \\(" + "\\cfrac{1}{" * 24 + "a" + "}{b}" * 24 + "\\) here?"),
    "tags in a section": lambda: _asked("<" * 2**20, models=model("{{#Front}}What{{/Front}}")),
    "a template that grows": lambda: _asked("a" * 1_000_000, models=model("{{Front}}" * 100_000)),
    "cards of one id": lambda: _cards(2000, same_id=True, reviews=2000),
    "many cards": lambda: _cards(2000),
    "fields without names": lambda: {"models": '{"1":{"type":0,"flds":[' + "{}," * 30_000 + '{}],"tmpls":[]}}'},
    "a deck with controls": lambda: {"deck": "../../../..out/evil\u202e\x1b[31m::/etc/x"},
    "emphasis": lambda: _asked("What " + "<i>a " * 50_000),
    "gaps": lambda: _asked("{{c1::" * 40_000, models=model("{{cloze:Front}}", "{{cloze:Front}}", True)),
    "gap numbers": lambda: _asked("{{c" + "1," * 100_000, models=model("{{cloze:Front}}", "{{cloze:Front}}", True)),
    "brackets": lambda: _asked("What " + "[" * 200_000),
}

_HTML = (
    '<b> </b> <i> </i> <sup> </sup> <sub> </sub> <a\thref="https://x.org/?a=b&amp;c"> </a> <p> </p> '
    "<div> </div> <br> <ul> <ol> <li> </ul> </ol> <pre> </pre> <code> </code> <table> <tr> <td> "
    "<img\tsrc=x> <details> <summary> </summary> </details> <script> </script> <style> <p\thidden> "
    '<div\tstyle="display:none"> <button> <!-- --> <![x]> <!x> <? \\( \\) \\[ \\] [$] [/$] [latex] '
    "[/latex] <anki-mathjax> </anki-mathjax> {{c1:: {{c2:: {{c1,2:: :: }} {{ [sound:a] &nbsp; &amp;lt; "
    "&lt; &#x202e; &#0; &#xe000; $ $$ ` ``` * ** _ ~~ # > - + = 1. | --- [a](b) ![ ]: \\ 中文 “ ” （ ） 。 🎉 "
    "👩\u200d💻 می\u200cخ \ue0000\ue001 \x1b[31m \x00 a word 12 \ud800 "
).split(" ")[:-1]
_TEMPLATES = (
    "{{Front}} {{Back}} {{Hint}} {{hint:Hint}} {{cloze:Front}} {{type:Back}} {{FrontSide}} {{#Front}} "
    "{{/Front}} {{^Hint}} {{/Hint}} {{#c1}} {{/c1}} {{tts en:Front}} {{ {{{ }} <hr id=answer> <b> "
    "{{furigana:Front}} {{Unknown}} {{/}} {{#}} text "
).split(" ")[:-1]
_CONFS = (*('{"schedVer": 2}', '{"schedVer": 1}', "{}", "") * 5, "[]", '{"schedVer": "x"}', '{"schedVer": null}')


def generated(rng: random.Random) -> dict[str, Any]:
    """Return a random package: texts, templates, decks, schedulers and logs, valid and impossible."""

    def text(pieces: list[str], most: int) -> str:
        chosen = rng.choices(pieces, k=rng.randrange(most)) * rng.choice((1, 1, 1, 1, 1, 40))
        return rng.choice(("", " ")).join(chosen).encode("utf-8", "replace").decode()

    def number(*usual: int) -> Any:
        return rng.choice((*usual * 80, 0, -1, 2**63 - 1, "x", None, 1.5))

    count = rng.randrange(1, 6)
    fields = ["\x1f".join(text(_HTML, 30) for _ in range(rng.randrange(1, 5))) for _ in range(count)]
    question, answer = (text(_TEMPLATES, 8) or "{{Front}}" for _ in range(2))
    moments = [1_500_000_000_000 + rng.randrange(10**11) for _ in range(rng.randrange(30))]
    return {
        "notes": [(n, rng.choice((f"g{n}", "attn:att-01", "g0")), 1, fields[n]) for n in range(count)],
        "cards": [
            (number(n), rng.randrange(count), number(1), number(0, 1), number(1_600_000_000), number(0, 1, 2, 3), 0, 0)
            for n in range(count)
        ],
        "models": model(question, answer, rng.random() < 0.4),
        "deck": text(_HTML, 4),
        "reviews": [
            (at, number(*range(count)), number(1, 2, 3, 4), 1, 1, number(2500), 9, number(0, 1, 2, 3, 4, 5))
            for at in moments
        ],
        "conf": rng.choice(_CONFS),
    }
