"""Texts in both languages. The code contains the English of a message, `locale/` its Chinese.

    _("Nothing is due.")                              a Message, rendered by _("…")["zh"]
    _("{card} is suspended", card=card.id)            placeholders; a value may be a message too
    ngettext("{count} card", "{count} cards", count)  a count
    pgettext("verb", "Answer")                        one English text with two Chinese ones

The first argument is a literal, never an f-string: `make messages` collects it into `attn.po`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

if TYPE_CHECKING:
    from gettext import NullTranslations

Lang = Literal["en", "zh"]
LANGS: tuple[Lang, ...] = ("en", "zh")
CATALOGUE = Path(__file__).parent / "locale" / "zh_CN" / "LC_MESSAGES" / "attn.mo"


class NotBlank:
    """Tell pydantic that a text of a bank file must not be blank."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        return {**handler(source), "pattern": r"\S"}


Text = Annotated[str, NotBlank()]


@dataclass(frozen=True, slots=True)
class Localised:
    """The same content, once for each language (Markdown, `$…$` inline and `$$…$$` display formulas)."""

    en: Text
    zh: Text

    __iter__ = None  # `in` and loops would otherwise call `__getitem__` without end
    __contains__ = None

    def __getitem__(self, lang: Lang) -> str:
        return self.zh if lang == "zh" else self.en

    def __str__(self) -> str:
        return self["en"]

    def __bool__(self) -> bool:
        return bool(self["en"])

    def __add__(self, other: Localised) -> Localised:
        return NOTHING.join([self, other])

    def format(self, **values: object) -> Localised:
        """Fill in the placeholders of both texts; a value may be in both languages too."""
        return Localised(_filled(self.en, values, "en"), _filled(self.zh, values, "zh"))

    def join(self, texts: Iterable[Localised]) -> Localised:
        """Join texts, with this text as the separator."""
        return _Joined(self, tuple(texts))

    @staticmethod
    def of(document: dict[str, str]) -> Localised:
        return Localised(en=document["en"], zh=document["zh"])


NOTHING = Localised("", "")


def quoted(text: str) -> Localised:
    """Return a text that is the same in both languages: a name, a number, output of the learner's code."""
    return Localised(text, text)


class _Rendered(Localised):
    """A text that is rendered when it is read. It is compared and pickled as its two renderings."""

    @property
    def en(self) -> str:
        return self["en"]

    @property
    def zh(self) -> str:
        return self["zh"]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Localised) and (self.en, self.zh) == (other.en, other.zh)

    def __hash__(self) -> int:
        return hash((self.en, self.zh))

    def __reduce__(self) -> tuple[type[Localised], tuple[str, str]]:
        return Localised, (self.en, self.zh)


class Message(_Rendered):
    """A message of the program: its English template, and the values of its placeholders."""

    template: str
    values: dict[str, object]
    context: str
    plural: str
    count: float

    def __init__(
        self, template: str, values: dict[str, object], context: str = "", plural: str = "", count: float = 1
    ) -> None:
        self.__dict__.update(template=template, values=values, context=context, plural=plural, count=count)

    def __getitem__(self, lang: Lang) -> str:
        if lang == "zh":
            template = self._in_chinese()
        else:
            template = self.plural if self.plural and self.count != 1 else self.template
        return _filled(template, self.values, lang) if self.values else template

    def format(self, **values: object) -> Localised:
        """Return the message with values for more placeholders."""
        return Message(self.template, {**self.values, **values}, self.context, self.plural, self.count)

    def _in_chinese(self) -> str:
        if not self.template:  # the catalogue has its own header under ""
            return ""
        if self.context:
            return _chinese().pgettext(self.context, self.template)
        if self.plural:
            return _chinese().ngettext(self.template, self.plural, 1 if self.count == 1 else 2)
        return _chinese().gettext(self.template)


class _Joined(_Rendered):
    """Texts joined by a separator."""

    separator: Localised
    texts: tuple[Localised, ...]

    def __init__(self, separator: Localised, texts: tuple[Localised, ...]) -> None:
        self.__dict__.update(separator=separator, texts=texts)

    def __getitem__(self, lang: Lang) -> str:
        return self.separator[lang].join(text[lang] for text in self.texts)


def _(template: str, /, **values: object) -> Message:
    """Return a message with these values for its placeholders."""
    return Message(template, values)


def N_(template: str) -> str:
    """Mark a string for the catalogue and return it unchanged; `_(text)[lang]` renders it later."""
    return template


def pgettext(context: str, template: str, /, **values: object) -> Message:
    """Return a message whose Chinese depends on the context."""
    return Message(template, values, context)


def ngettext(one: str, many: str, count: float, /, **values: object) -> Message:
    """Return a message that counts something; its placeholder for the number is `count`."""
    return Message(one, {"count": count, **values}, plural=many, count=count)


def _filled(template: str, values: dict[str, Any], lang: Lang) -> str:
    return template.format(
        **{name: value[lang] if isinstance(value, Localised) else value for name, value in values.items()}
    )


@cache
def _chinese() -> NullTranslations:
    """Return the Chinese catalogue, or one that leaves everything English if it was not compiled."""
    from gettext import GNUTranslations, NullTranslations

    try:
        with CATALOGUE.open("rb") as file:
            return GNUTranslations(file)
    except OSError:
        return NullTranslations()
