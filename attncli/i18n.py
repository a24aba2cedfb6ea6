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
from struct import iter_unpack, unpack_from
from typing import Annotated, Any, Literal

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
        template = _chinese()[self] if lang == "zh" else self.english
        return _filled(template, self.values, lang) if self.values else template

    @property
    def english(self) -> str:
        """The English template for this count."""
        return self.plural if self.plural and self.count != 1 else self.template

    def format(self, **values: object) -> Localised:
        """Return the message with values for more placeholders."""
        return Message(self.template, {**self.values, **values}, self.context, self.plural, self.count)


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


class _Catalogue:
    """The Chinese of the messages in a `.mo` file (the format of GNU gettext); none if the file is not there.

    `gettext` is not used: importing it and decoding all messages took a tenth of the time of `attn due`.
    """

    def __init__(self, path: Path) -> None:
        self._bytes = path.read_bytes() if path.exists() else bytes(20)
        count, keys, self._texts = unpack_from("<3I", self._bytes, 8)
        self._place_of = {
            self._bytes[start : start + length]: place
            for place, (length, start) in enumerate(iter_unpack("<2I", self._bytes[keys : keys + 8 * count]))
        }
        self._place_of.pop(b"", None)  # the header

    def __getitem__(self, message: Message) -> str:
        """Return the Chinese template of a message, or its English one if the catalogue does not have it."""
        key = message.template
        if message.context:
            key = f"{message.context}\x04{key}"
        if message.plural:
            key = f"{key}\0{message.plural}"
        place = self._place_of.get(key.encode())
        if place is None:
            return message.english
        length, start = unpack_from("<2I", self._bytes, self._texts + 8 * place)
        return self._bytes[start : start + length].decode()


@cache
def _chinese() -> _Catalogue:
    return _Catalogue(CATALOGUE)
