"""Problems and findings, each with its place, message and remedy; and pydantic's errors as findings.

A finding names a path; once its line and column are known it is a problem.
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
from attncli.domain.vocabulary import KINDS
from attncli.i18n import LANGS, NOTHING, Localised, _, ngettext, quoted

MAX_GUESSES = 5000
MAX_FINDINGS = 100
REPLACEMENT = "\ufffd"

Way = tuple[str | int, ...]
"""The path from the top of a file to a value: keys of mappings, 0-based positions in lists."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a file; `line` and `column` count from 1."""

    file: str
    line: int
    column: int
    message: Localised

    @property
    def text(self) -> Localised:
        """The problem on one line of a terminal, in both languages."""
        return Localised(*(f"{self.file}:{self.line}:{self.column}: {visible(self.message[lang])}" for lang in LANGS))

    def __str__(self) -> str:
        return self.text["en"]

    def as_json(self) -> dict[str, str | int]:
        message = visible(self.message["en"])
        return {"file": self.file, "line": self.line, "column": self.column, "message": message}


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return each problem once, ordered by place."""
    return tuple(sorted(set(problems), key=lambda each: (each.file, each.line, each.column, each.message["en"])))


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
    """Return a path for a message, with any bytes; relative if below the working folder."""
    whole, here = Path(path), Path.cwd()
    return visible(str(whole.relative_to(here) if whole.is_relative_to(here) else whole))


def visible(text: str) -> str:
    """Return a text for one line of a terminal, with U+FFFD for every character that is not printable."""
    text = marked(text, REPLACEMENT)
    return text if text.isprintable() else "".join(char if char.isprintable() else REPLACEMENT for char in text)


def one_of(words: Iterable[str]) -> Localised:
    """Return `use one of a, b, c`."""
    return _("use one of {words}", words=", ".join(words))


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word that is most like a word, empty if none is close."""
    words = sorted(known)
    close = difflib.get_close_matches(word[:60], words, n=1, cutoff=0.7) if len(words) <= MAX_GUESSES else []
    return close[0] if close else ""


def did_you_mean(word: str, known: Iterable[str], otherwise: Localised = NOTHING) -> Localised:
    """Return `did you mean "level"?`, or `otherwise` if no known word is close."""
    close = nearest(word, known)
    return _('did you mean "{close}"?', close=close) if close else otherwise


def unknown_value(name: Localised, value: object, known: Iterable[str]) -> Localised:
    """Return a message about a value that is not one of the known words."""
    words = list(known)
    if not isinstance(value, str):
        return _("{name} cannot be {value}; {remedy}", name=name, value=kind_of_value(value), remedy=one_of(words))
    if close := nearest(value, words):
        return _(
            '{name} cannot be {value}; did you mean "{close}"? {remedy}',
            name=name,
            value=shown(value, 30),
            close=close,
            remedy=one_of(words),
        )
    return _("{name} cannot be {value}; {remedy}", name=name, value=shown(value, 30), remedy=one_of(words))


# pydantic's errors as findings

KIND_HINT = _("write kind: qa (or {others})", others=_(", ").join(map(quoted, KINDS[1:])))
_TEXT_HINTS = {
    "id": _("give it a stable id, e.g. id: att-02"),
    "kind": KIND_HINT,
    "level": _("write level: screen, onsite or research"),
    "en": _("write the English text as en: …"),
    "zh": _("write the Chinese text as zh: …"),
    "question": _("add the question as question: {en: …, zh: …}"),
    "short": _("add the 30-second answer as short: {en: …, zh: …}"),
    "explain": _("add the derivation, number or code as explain: {en: …, zh: …}"),
    "points": _("list three to seven points an interviewer checks, as points: [{en: …, zh: …}, …]"),
    "options": _("add three to five options as options: [{text: {en: …, zh: …}, correct: true}, …]"),
    "text": _("write it as text: {en: …, zh: …}"),
    "compute": _("add the formula, e.g. compute: 2 * layers"),
    "unit": _("set the unit of the answer, e.g. unit: GiB (unit: '' for a plain number)"),
    "tolerance": _("set the allowed error, e.g. tolerance: 2%"),
    "blanks": _("add one entry for each ____ as blanks: [{answer: …}]"),
    "answer": _("write it as answer: …"),
    "ask": _("write the next question as ask: {en: …, zh: …}"),
    "items": _("list the items to order, as items: [{key: …, text: {en: …, zh: …}}, …]"),
    "key": _("give the item a short name as key: …"),
    "before": _("list each pair in order: before: [[first, second], …]"),
    "code": _("add at most 15 lines of code, as code: |"),
    "lines": _("list the failing lines, e.g. lines: [4]"),
    "symptom": _("describe the symptom as symptom: {en: …, zh: …}"),
    "says": _("copy the number from the text, as says: …"),
    "topic": _("name the topic, e.g. topic: att"),
    "cards": _("list the cards as cards: [...]"),
    "title": _("write it as title: {en: …, zh: …}"),
}
_EXPECTED = {
    "string_type": _("text"),
    "bool_type": _("true or false"),
    "int_type": _("a whole number"),
    "float_type": _("a number"),
    "list_type": _("a list"),
    "tuple_type": _("a list"),
    "dict_type": _("a mapping"),
    "dataclass_type": _("a mapping"),
}


def kind_of_value(value: object) -> Localised:
    """Describe a value in words for a message."""
    if value is None:
        return _("nothing")
    if isinstance(value, bool):
        return quoted("true" if value else "false")
    if isinstance(value, int | float):
        return _("the number {value}", value=shown(value, 30)[1:-1])
    if isinstance(value, str):
        return _("the text {value}", value=shown(value, 30)) if value.strip() else _("empty text")
    return _("a list") if isinstance(value, list) else _("a mapping")


def findings_of(error: ValidationError, model: type, base: Way) -> list[Finding]:
    """Turn every error of a validation into a finding; `base` is the path of the validated value.

    A key that is missing because it is misspelt is reported once, as misspelt.
    """
    every = error.errors(include_url=False)
    items = [{**item, "loc": _in_file(item["loc"])} for item in every[:MAX_FINDINGS]]
    misspelt = {_intended(item, model) for item in items if item["type"] == "unexpected_keyword_argument"}
    reported = [item for item in items if not (item["type"] == "missing" and item["loc"] in misspelt)]
    findings = [_finding(item, model, base) for item in reported]
    if len(every) > MAX_FINDINGS:
        message = ngettext(
            "{count} more problem of this kind; correct these first",
            "{count} more problems of this kind; correct these first",
            len(every) - MAX_FINDINGS,
        )
        findings.append(Finding((*base, *_in_file(every[MAX_FINDINGS]["loc"])), message, shape=True))
    return findings


def _in_file(loc: Way) -> Way:
    """Drop the tags of union members from a pydantic location."""
    return tuple(step for step in loc if step not in ("<id>", "<question>"))


def _intended(item: Mapping[str, Any], model: type) -> Way:
    """Return the path of the key that a misspelt key most likely means."""
    loc: Way = item["loc"]
    return (*loc[:-1], nearest(str(loc[-1]), known_keys(model, loc[:-1])))


def _finding(item: dict[str, Any], model: type, base: Way) -> Finding:
    loc: Way = tuple(item["loc"])
    kind = item["type"]
    is_key = loc[-1:] == ("[key]",)
    if is_key:
        loc = loc[:-1]
        message = _PATTERNS[_NAME].format(value=shown(loc[-1], 40))
    else:
        message = _MESSAGES.get(kind, _other)(loc, item, model)
    return Finding(base + loc, message, at_key=is_key or kind == "unexpected_keyword_argument", shape=True)


def _name(loc: Way) -> Localised:
    """Name a value in a message: a key with the one above it, or an item of a list by its number."""
    if not loc:
        return _("this")
    names = ".".join([step for step in loc if isinstance(step, str)][-2:])
    if isinstance(loc[-1], int):
        return _('item {number} of "{names}"', number=loc[-1] + 1, names=names)
    return quoted(f'"{names}"')


def _missing(loc: Way, item: Mapping[str, Any], model: type) -> Localised:
    key = str(loc[-1])
    remedy = _TEXT_HINTS.get(key) or _("add {key}: …", key=key)
    if loc[:-1]:
        return _('missing "{key}" in {name}: {remedy}', key=key, name=_name(loc[:-1]), remedy=remedy)
    return _('missing "{key}": {remedy}', key=key, remedy=remedy)


def _extra(loc: Way, item: Mapping[str, Any], model: type) -> Localised:
    known = known_keys(model, loc[:-1])
    otherwise = _("known keys: {names}", names=", ".join(known)) if known else _("remove it")
    guess = did_you_mean(str(loc[-1]), known, otherwise)
    return _("unknown key {key}; {guess}", key=shown(loc[-1], 40), guess=guess)


def _type(loc: Way, item: Mapping[str, Any], model: type) -> Localised:
    expected = _EXPECTED[item["type"]]
    value = item["input"]
    name, found = _name(loc), kind_of_value(value)
    if item["type"] == "string_type" and isinstance(value, bool | int | float):
        return _("{name} must be text, found {found}; put it in quotes", name=name, found=found)
    if item["type"] == "dataclass_type" and {"en", "zh"} <= set(known_keys(model, loc)):
        return _("{name} must have both languages, found {found}; write {{en: …, zh: …}}", name=name, found=found)
    if hint := _TEXT_HINTS.get(str(loc[-1])) if loc else None:
        return _(
            "{name} must be {expected}, found {found}; {hint}", name=name, expected=expected, found=found, hint=hint
        )
    return _(
        "{name} must be {expected}, found {found}; write {expected} here", name=name, expected=expected, found=found
    )


def _literal(loc: Way, item: Mapping[str, Any], model: type) -> Localised:
    words = [word.strip().strip("'") for word in item["ctx"]["expected"].replace(" or ", ", ").split(", ")]
    return unknown_value(_name(loc), item["input"], words)


_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
_PATTERNS = {
    r"^\d{4}(-\d{2}(-\d{2})?)?$": _("{value} is not a date; write 2017, 2017-06 or 2017-06-12 in quotes"),
    r"^E\d{2,3}$": _("{value} is not an errata id; write E01 … E113"),
    _NAME: _("{value} is not a valid name; use letters, digits and _, starting with a letter"),
    r"^[a-z0-9-]+/[a-z0-9_-]+$": _("{value} must name a challenge and one of its wrong files, e.g. sdpa/no-scale"),
}
_NO_ID = _("{value} is not a valid id; use lower-case letters, digits and single hyphens")


def _pattern(loc: Way, item: Mapping[str, Any], model: type) -> Localised:
    if not item["input"].strip():
        return _("{name} is empty; write its text", name=_name(loc))
    value = quoted(" ").join([_name(loc), quoted(shown(item["input"], 40))])
    return _PATTERNS.get(item["ctx"]["pattern"], _NO_ID).format(value=value)


def _count(loc: Way, item: Mapping[str, Any], model: type) -> Localised:
    context = item["ctx"]
    least, most, actual = context.get("min_length"), context.get("max_length"), context["actual_length"]
    if least is not None:
        return _(
            "{name} needs at least {least} entries, found {actual}; add {more} more",
            name=_name(loc),
            least=least,
            actual=actual,
            more=least - actual,
        )
    return _(
        "{name} takes at most {most} entries, found {actual}; remove the rest",
        name=_name(loc),
        most=most,
        actual=actual,
    )


def _too_long(loc: Way, item: Mapping[str, Any], model: type) -> Localised:
    return _("{name} is longer than {most} characters; shorten it", name=_name(loc), most=item["ctx"]["max_length"])


def _bound(loc: Way, item: Mapping[str, Any], model: type) -> Localised:
    name, context, value = _name(loc), item["ctx"], item["input"]
    if "ge" in context:
        return _(
            "{name} must be at least {least}, found {value}; correct it", name=name, least=context["ge"], value=value
        )
    return _("{name} must be at most {most}, found {value}; correct it", name=name, most=context["le"], value=value)


def _other(loc: Way, item: Mapping[str, Any], model: type) -> Localised:
    return _("{name}: {reason}; correct it", name=_name(loc), reason=item["msg"])


_MESSAGES: dict[str, Callable[[Way, Mapping[str, Any], type], Localised]] = {
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
    """Return the dataclass in a type: the type itself, or the first dataclass of a union; None if it has none."""
    forms = (form, *get_args(form)) if get_origin(form) in (Union, UnionType) else (form,)
    return next((each for each in forms if isinstance(each, type) and is_dataclass(each)), None)
