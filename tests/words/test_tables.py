"""Every text of the app and the commands: whole in both languages, written once, and said somewhere."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from string import Formatter

import pytest

import attncli
from attncli.domain.checks import CHECK_NAMES
from attncli.domain.grade_report_text import STATUSES
from attncli.domain.vocabulary import KINDS, LEVELS, TRACKS
from attncli.i18n import Localised
from attncli.judge import growth, messages
from attncli.paths import bundled_impl
from attncli.words import app_texts

PACKAGE = Path(attncli.__file__).parent
WORDS = {
    path.stem: import_module(f"attncli.words.{path.stem}") for path in sorted((PACKAGE / "words").glob("[a-z]*.py"))
}
# The sandbox words its own English, which these take as it is.
OF_THE_SANDBOX = {
    "sentences SENTENCES more-memory",
    "sentences SENTENCES killed-loaded",
    "sentences SENTENCES killed-called",
}
# What English has one word for and Chinese two: a new card and a new challenge, due cards and due challenges, a limit
# of memory and its end.
HOMONYMS = {"ranoutofmemory", "home", "new", "hardened", "due", "research", "answer", "{}"}
CHINESE = re.compile("[\u4e00-\u9fff]")


def texts(modules: Mapping[str, object]) -> Iterator[tuple[str, Localised]]:
    for module, content in modules.items():
        for name, value in vars(content).items():
            if isinstance(value, Localised):
                yield f"{module} {name}", value
            elif isinstance(value, Mapping):
                yield from (
                    (f"{module} {name} {key}", text) for key, text in value.items() if isinstance(text, Localised)
                )
            elif isinstance(value, tuple):
                yield from (
                    (f"{module} {name} {number}", text)
                    for number, text in enumerate(value)
                    if isinstance(text, Localised)
                )


WRITTEN = dict(texts(WORDS))
ALL = WRITTEN | dict(texts({"sentences": messages, "growth_sentences": growth}))


def places(text: str) -> set[str]:
    return {name.partition(".")[0] for _, name, _, _ in Formatter().parse(text) if name}


def test_the_tables_are_found() -> None:
    assert {name.partition(" ")[0] for name in WRITTEN} == set(WORDS)


@pytest.mark.parametrize("name", sorted(ALL.keys() - OF_THE_SANDBOX))
def test_both_languages_say_it_with_the_same_places(name: str) -> None:
    text = ALL[name]
    assert places(text.en) == places(text.zh)
    assert not re.search("[A-Za-z]{2}", re.sub(r"\{.*?\}", "", text.en)) or text.zh.strip()


def test_chinese_is_punctuated_as_chinese() -> None:
    wrong = re.compile(r"[\u4e00-\u9fff][,;:?!]|[\u4e00-\u9fff]\.(?!\d)")
    assert [name for name, text in ALL.items() if wrong.search(text.zh)] == []


def bare(text: str) -> str:
    """A text without case, marks, punctuation and the names of its places."""
    text = re.sub(r"\{.*?\}", "{}", unicodedata.normalize("NFKC", text)).casefold()
    return "".join(sign for sign in text if sign.isalnum() or sign in "{}")


def test_one_english_text_has_one_chinese_text() -> None:
    told: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, text in ALL.items():
        if CHINESE.search(text.zh):
            told[bare(text.en)][bare(text.zh)].append(f"{name}: {text.zh}")
    several = {english: list(chinese.values()) for english, chinese in told.items() if len(chinese) > 1}
    assert {english: names for english, names in several.items() if english not in HOMONYMS} == {}
    assert set(several) == HOMONYMS


NAMES = {ast.Name: "id", ast.Attribute: "attr", ast.alias: "name"}


def spoken(path: Path) -> Iterator[str]:
    """The strings and names that a file uses, as patterns: what a composed string leaves open stands for any word."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tables = [node for node in ast.walk(tree) if isinstance(node, ast.Dict) and path.parent.name == "words"]
    keys = {id(key) for table in tables for key in table.keys}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in keys:
            yield re.escape(node.value)
        elif isinstance(node, ast.JoinedStr) and id(node) not in keys:
            yield "".join(
                re.escape(str(part.value)) if isinstance(part, ast.Constant) else "[a-z.-]+" for part in node.values
            )
        elif type(node) in NAMES and not isinstance(getattr(node, "ctx", None), ast.Store):
            yield getattr(node, NAMES[type(node)])


def test_every_text_is_said_somewhere() -> None:
    templates = " ".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.j2"))
    files = [*PACKAGE.rglob("*.py"), *(bundled_impl() / "ladder").glob("*.py")]
    used = {word for path in files for word in spoken(path) if re.search("[A-Za-z]{2}", word)}
    used |= set(re.findall(r"\w+", templates)) | set(TRACKS)
    pattern = re.compile("|".join(sorted(word for word in used if len(word) < 60)))
    unsaid = {
        name for name in ALL for word in name.split(" ")[1:] if not word.isdigit() and not pattern.fullmatch(word)
    }
    assert unsaid == set()


def test_no_text_of_the_app_takes_the_place_of_another() -> None:
    names: list[str] = []
    for path in (PACKAGE / "words").glob("*.py"):
        for table in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(table, ast.Dict):
                keys = [key.value for key in table.keys if isinstance(key, ast.Constant)]
                names += [name for name in keys if name in app_texts.TEXTS]
    assert [name for name, count in Counter(names).items() if "." in name and count > 1] == []


def test_whatever_is_composed_is_there() -> None:
    """The names of texts that are put together from the words of the domain."""
    composed = {
        *(f"review.kind-{kind}" for kind in KINDS),
        *(f"review.level-{level}" for level in LEVELS),
        *(f"check.{name}" for name in CHECK_NAMES),
        *(f"status.{status}" for status in STATUSES),
    }
    assert composed <= set(app_texts.TEXTS)


def test_every_text_of_the_app_that_the_code_names_is_in_its_table() -> None:
    groups = "|".join(sorted({name.partition(".")[0] for name in app_texts.TEXTS}))
    sources = " ".join(path.read_text(encoding="utf-8") for path in (PACKAGE / "tui").rglob("*.py"))
    named = set(re.findall(rf"[\"']((?:{groups})\.[a-z][a-z-]*)[\"']", sources))
    assert named - {name for name in named if name.endswith(".tcss")} <= set(app_texts.TEXTS)


def test_no_text_for_a_reader_stands_outside_its_room() -> None:
    elsewhere = ("words/", "judge/")
    sources = {str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    found = {name for name, source in sources.items() if re.search(r"Localised\(\s*f?\"", source)}
    assert {name for name in found if not name.startswith(elsewhere)} == {"domain/text.py"}


def test_an_unknown_text_is_an_error() -> None:
    with pytest.raises(KeyError):
        app_texts.say("no.such-text", "en")
