"""Problems and findings: what is wrong, where, and what to do about it; pydantic's errors as findings.

A finding names a path; once its line and column are known it is a problem. Chinese translations look finished messages
up, so every change of one is needed there too.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import ValidationError

from attncli.domain.card import types_of
from attncli.domain.text import marked
from attncli.i18n import Localised, _

MAX_GUESSES = 5000
MAX_FINDINGS = 100
REPLACEMENT = "\ufffd"

Way = tuple[str | int, ...]
"""The path from the top of a file to a value: keys of mappings, 0-based positions in lists."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One line of `attn bank check`; `line` and `column` count from 1."""

    file: str
    line: int
    column: int
    message: Localised

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"

    def as_json(self) -> dict[str, str | int]:
        return {"file": self.file, "line": self.line, "column": self.column, "message": self.message}


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem whose place is still a path; `at_key` points at the key instead of its value.

    A note (`error` false) does not make a file invalid. `shape`: the value has the wrong shape, so no rule can look
    at it.
    """

    path: Way
    message: Localised
    at_key: bool = field(default=False, kw_only=True)
    error: bool = field(default=True, kw_only=True)
    shape: bool = field(default=False, kw_only=True)

    def below(self, way: Way) -> Finding:
        """Return the finding with `way` in front of its path."""
        return replace(self, path=(*way, *self.path))


def shown(value: object, limit: int = 60) -> str:
    """Quote a value for a message, on one line and not too long."""
    text = visible(" ".join(str(value).split()))
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    return f'"{text}"'


def shown_path(path: os.PathLike[str]) -> str:
    """Return a path for a message, whatever bytes it has; relative if below the working folder."""
    whole, here = Path(path), Path.cwd()
    return visible(str(whole.relative_to(here) if whole.is_relative_to(here) else whole))


def visible(text: str) -> str:
    """Return a text for one line of a terminal, with U+FFFD for every character that it would not simply show."""
    text = marked(text, REPLACEMENT)
    return text if text.isprintable() else "".join(char if char.isprintable() else REPLACEMENT for char in text)


def one_of(words: Iterable[str]) -> str:
    """Return `use one of a, b, c`."""
    return "use one of " + ", ".join(words)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `did you mean "level"?`, or nothing when no known word is close."""
    words = sorted(known)
    close = difflib.get_close_matches(word[:60], words, n=1, cutoff=0.7) if len(words) <= MAX_GUESSES else []
    return _('did you mean "{close}"?', close=close[0]) if close else ""


# pydantic's errors as findings

_TEXT_HINTS = {
    "id": _("give it a stable id such as id: att-02"),
    "kind": _("say kind: qa (or choice, numeric, cloze, ordering, debug)"),
    "level": _("say level: screen, onsite or research"),
    "en": _("write the English text as en: …"),
    "zh": _("write the Chinese text as zh: …"),
    "question": _("add the question as question: {en: …, zh: …}"),
    "short": _("add the 30-second answer as short: {en: …, zh: …}"),
    "explain": _("add the derivation, number or code as explain: {en: …, zh: …}"),
    "points": _("add three to seven things an interviewer ticks off as points: [{en: …, zh: …}, …]"),
    "options": _("add three to five options as options: [{text: {en: …, zh: …}, correct: true}, …]"),
    "text": _("write it as text: {en: …, zh: …}"),
    "compute": _("add the formula as compute: 2 * layers * …"),
    "unit": _("name the unit of the answer as unit: GiB (unit: '' for a plain number)"),
    "tolerance": _("say how far off an answer may be as tolerance: 2%"),
    "blanks": _("add one entry for each ____ as blanks: [{answer: …}]"),
    "answer": _("write it as answer: …"),
    "ask": _("write the next question as ask: {en: …, zh: …}"),
    "items": _("add what is to be ordered as items: [{key: …, text: {en: …, zh: …}}, …]"),
    "key": _("give the item a short name as key: …"),
    "before": _("say what must come first as before: [[first, second], …]"),
    "code": _("add at most 15 lines as code: |"),
    "lines": _("say which lines fail as lines: [4]"),
    "symptom": _("say what one would observe as symptom: {en: …, zh: …}"),
    "says": _("write what the text says as says: …"),
    "topic": _("name the topic as topic: att"),
    "cards": _("list the cards as cards: [...]"),
    "title": _("write it as title: {en: …, zh: …}"),
}
_EXPECTED = {
    "string_type": "text",
    "bool_type": _("true or false"),
    "int_type": _("a whole number"),
    "float_type": _("a number"),
    "list_type": _("a list"),
    "tuple_type": _("a list"),
    "dict_type": _("a mapping"),
    "dataclass_type": _("a mapping"),
}


def kind_of_value(value: object) -> str:
    """Describe a value in words for a message."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _("the number {value}", value=shown(value, 30)[1:-1])
    if isinstance(value, str):
        return _("the text {value}", value=shown(value, 30)) if value.strip() else _("empty text")
    return _("a list") if isinstance(value, list) else _("a mapping")


def findings_of(error: ValidationError, model: type, base: Way) -> list[Finding]:
    """Turn every error of a validation into a finding; `base` is the path of what was validated.

    A key that is missing because it is misspelt is reported once, as misspelt.
    """
    every = error.errors(include_url=False)
    items = [{**item, "loc": _in_file(item["loc"])} for item in every[:MAX_FINDINGS]]
    misspelt = {_intended(item, model) for item in items if item["type"] == "unexpected_keyword_argument"}
    reported = [item for item in items if not (item["type"] == "missing" and item["loc"] in misspelt)]
    findings = [_finding(item, model, base) for item in reported]
    if len(every) > MAX_FINDINGS:
        message = _("{every} more problems of this kind; correct these first", every=len(every) - MAX_FINDINGS)
        findings.append(Finding((*base, *_in_file(every[MAX_FINDINGS]["loc"])), message, shape=True))
    return findings


def _in_file(loc: Way) -> Way:
    """Drop the tags of union members from a pydantic location."""
    return tuple(step for step in loc if step not in ("<id>", "<question>"))


def _intended(item: Mapping[str, Any], model: type) -> Way:
    """Return the path of the key that a misspelt one was intended to be."""
    loc: Way = item["loc"]
    guess = did_you_mean(str(loc[-1]), known_keys(model, loc[:-1]))
    return (*loc[:-1], guess.removeprefix('did you mean "').removesuffix('"?'))


def _finding(item: dict[str, Any], model: type, base: Way) -> Finding:
    loc: Way = tuple(item["loc"])
    kind = item["type"]
    is_key = loc[-1:] == ("[key]",)
    if is_key:
        loc = loc[:-1]
        message = _("{loc} is no name; {name_remedy}", loc=shown(loc[-1], 40), name_remedy=_NAME_REMEDY)
    else:
        message = _MESSAGES.get(kind, _other)(loc, item, model)
    return Finding(base + loc, message, at_key=is_key or kind == "unexpected_keyword_argument", shape=True)


def _name(loc: Way) -> str:
    """Name a value in a message: a key with the one above it, or an item of a list by its number."""
    if not loc:
        return "this"
    keys = [step for step in loc if isinstance(step, str)]
    if isinstance(loc[-1], int):
        return _('item {loc} of "{names}"', loc=loc[-1] + 1, names=".".join(keys[-2:]))
    return f'"{".".join(keys[-2:])}"'


def _missing(loc: Way, item: Mapping[str, Any], model: type) -> str:
    name = str(loc[-1])
    where = f" in {_name(loc[:-1])}" if loc[:-1] else ""
    return _(
        'missing "{name}"{where}: {name_2}', name=name, where=where, name_2=_TEXT_HINTS.get(name, f"add {name}: …")
    )


def _extra(loc: Way, item: Mapping[str, Any], model: type) -> str:
    known = known_keys(model, loc[:-1])
    guess = did_you_mean(str(loc[-1]), known) or (
        _("known are {names}", names=", ".join(known)) if known else _("remove it")
    )
    return _("key {loc} is not known here; {guess}", loc=shown(loc[-1], 40), guess=guess)


def _type(loc: Way, item: Mapping[str, Any], model: type) -> str:
    expected = _EXPECTED[item["type"]]
    value = item["input"]
    found = kind_of_value(value)
    if item["type"] == "string_type" and isinstance(value, bool | int | float):
        return _("{loc} must be text, found {found}; put it in quotes", loc=_name(loc), found=found)
    if item["type"] == "dataclass_type" and {"en", "zh"} <= set(known_keys(model, loc)):
        return _("{loc} must have both languages, found {found}; write {{en: …, zh: …}}", loc=_name(loc), found=found)
    hint = _TEXT_HINTS.get(str(loc[-1])) if loc else None
    return _(
        "{loc} must be {expected}, found {found}; {hint}",
        loc=_name(loc),
        expected=expected,
        found=found,
        hint=hint or f"write {expected} here",
    )


def _literal(loc: Way, item: Mapping[str, Any], model: type) -> str:
    words = [word.strip().strip("'") for word in item["ctx"]["expected"].replace(" or ", ", ").split(", ")]
    value = item["input"]
    if not isinstance(value, str):
        return _("{loc} is {value}; {words}", loc=_name(loc), value=kind_of_value(value), words=one_of(words))
    guess = did_you_mean(value, words)
    return f"{_name(loc)} {shown(value, 30)} is not known; {f'{guess} ' if guess else ''}{one_of(words)}"


_NAME_REMEDY = _("use letters, digits and _, and start with a letter")
_PATTERNS = {
    r"\S": "is empty; write its text",
    r"^\d{4}(-\d{2}(-\d{2})?)?$": "is no date; write 2017, 2017-06 or 2017-06-12 in quotes",
    r"^E\d{2,3}$": "is no errata id; write E01 … E113",
    r"^[A-Za-z_][A-Za-z0-9_]*$": f"is no name; {_NAME_REMEDY}",
    r"^[a-z0-9-]+/[a-z0-9_-]+$": "must name a challenge and one of its wrong files, such as sdpa/no-scale",
}


def _pattern(loc: Way, item: Mapping[str, Any], model: type) -> str:
    fault = _PATTERNS.get(item["ctx"]["pattern"], "is no id; use lower-case letters, digits and single hyphens")
    value = item["input"]
    return f"{_name(loc)} {shown(value, 40)} {fault}" if value.strip() else f"{_name(loc)} {fault}"


def _count(loc: Way, item: Mapping[str, Any], model: type) -> str:
    context = item["ctx"]
    least, most, actual = context.get("min_length"), context.get("max_length"), context["actual_length"]
    bound = f"at least {least}; add {least - actual} more" if least is not None else f"at most {most}; drop the rest"
    return f"{_name(loc)} has {actual} entries, must have {bound}"


def _too_long(loc: Way, item: Mapping[str, Any], model: type) -> str:
    return _("{loc} is longer than {item} characters; shorten it", loc=_name(loc), item=item["ctx"]["max_length"])


def _bound(loc: Way, item: Mapping[str, Any], model: type) -> str:
    context = item["ctx"]
    bound = f"at least {context['ge']}" if "ge" in context else f"at most {context['le']}"
    return f"{_name(loc)} is {item['input']}, must be {bound}; correct the number"


def _other(loc: Way, item: Mapping[str, Any], model: type) -> str:
    return _("{loc}: {item}; correct it", loc=_name(loc), item=item["msg"])


_MESSAGES: dict[str, Callable[[Way, Mapping[str, Any], type], str]] = {
    "missing": _missing,
    "unexpected_keyword_argument": _extra,
    "literal_error": _literal,
    "string_pattern_mismatch": _pattern,
    "string_too_long": _too_long,
    "too_short": _count,
    "too_long": _count,
    "greater_than_equal": _bound,
    "less_than_equal": _bound,
    **dict.fromkeys(_EXPECTED, _type),
}


def known_keys(model: type, loc: Way) -> list[str]:
    """Return the keys that `model` allows at `loc`; empty where any is allowed."""
    current: Any = model
    for step in loc:
        current = _inside(current, step)
    found = _dataclass_in(current)
    return list(types_of(found)) if found else []


def _inside(form: Any, step: str | int) -> Any:
    """Return the type of a key or an entry of a value of type `form`."""
    if found := _dataclass_in(form):
        return types_of(found).get(str(step))
    inner = [each for each in get_args(form) if each not in (NoneType, Ellipsis)]
    return inner[-1] if inner else None


def _dataclass_in(form: Any) -> type | None:
    """Return the dataclass that a type is, or that a mapping is read as if there is a choice."""
    forms = (form, *get_args(form)) if get_origin(form) in (Union, UnionType) else (form,)
    return next((each for each in forms if isinstance(each, type) and is_dataclass(each)), None)
