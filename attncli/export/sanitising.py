"""What of a card's Markdown may come into a page: lists of tags and attributes, held by nh3 (ammonia)."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nh3 import Cleaner

TEXT_TAGS = frozenset(
    "p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s a table thead tbody tr th td".split()
)
MATHML_TAGS = frozenset(
    "math mrow mi mo mn ms mtext mspace msup msub msubsup mover munder munderover mfrac msqrt mroot mtable mtr mtd "
    "mstyle mpadded mphantom menclose merror mmultiscripts mprescripts none semantics annotation".split()
)
MATHML_WORDS = frozenset({"mi", "mo", "mn", "ms", "mtext", "annotation"})
ATTRIBUTES: dict[str, frozenset[str]] = {
    "*": frozenset(),
    "a": frozenset({"href"}),
    "ol": frozenset({"start"}),
    "math": frozenset({"display"}),
    "mi": frozenset({"mathvariant"}),
    "mn": frozenset({"mathvariant"}),
    "mtext": frozenset({"mathvariant"}),
    "mo": frozenset("stretchy fence form separator accent largeop movablelimits minsize maxsize lspace rspace".split()),
    "mover": frozenset({"accent"}),
    "munder": frozenset({"accentunder"}),
    "munderover": frozenset({"accent", "accentunder"}),
    "mspace": frozenset({"width"}),
    "mfrac": frozenset({"linethickness"}),
    "mstyle": frozenset({"displaystyle", "scriptlevel", "mathcolor", "mathsize"}),
    "mtable": frozenset({"columnalign", "rowspacing", "columnspacing", "columnlines", "rowlines", "frame"}),
    "mtd": frozenset({"columnalign", "columnspan", "rowspan"}),
    "menclose": frozenset({"notation"}),
}
ALIGNMENTS = frozenset({"to-left", "to-center", "to-right"})
SCHEMES = frozenset({"http", "https"})

_LENGTH = r"-?0?\.\d{1,3}(?:em|ex)|\d{1,2}(?:\.\d{1,3})?(?:em|ex|pt|px|%)?"
_WORDS = r"[a-z-]{1,30}(?: [a-z-]{1,30}){0,9}"
_VALUE = re.compile(rf"#[0-9a-fA-F]{{3,6}}|{_WORDS}|(?:{_LENGTH})(?: (?:{_LENGTH})){{0,9}}")


def sanitised(html: str) -> str:
    """A fragment with nothing in it that acts, fetches or covers anything: the rest is dropped, its text stays."""
    return _cleaner().clean(html)


@cache
def _cleaner() -> Cleaner:
    from nh3 import Cleaner

    return Cleaner(
        tags=TEXT_TAGS | MATHML_TAGS,
        attributes=ATTRIBUTES,
        attribute_filter=_value,
        allowed_classes={"th": ALIGNMENTS, "td": ALIGNMENTS},
        url_schemes=SCHEMES,
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
    )


def _value(tag: str, attribute: str, value: str) -> str | None:
    """The value if it is a short word, number, length or colour, or the address of a link, which nh3 has checked."""
    if attribute in ("href", "class", "rel"):
        return value
    return value if _VALUE.fullmatch(value) else None
