"""Where in a file a value stands: a second pass over its events, for the few paths that a message needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import yaml

from attncli.bank.problems import Finding, Problem, Way, visible
from attncli.bank.yaml_reader import UnreadableYaml, events, inside

Place = tuple[int, int]


@dataclass(slots=True)
class _Wanted:
    """A tree of the paths that are looked for; `value` and `key` are filled in when they are met."""

    children: dict[str | int, _Wanted]
    value: Place | None = None
    key: Place | None = None

    def size(self) -> int:
        return 1 + sum(child.size() for child in self.children.values())


def located(name: str, text: str, findings: Iterable[Finding]) -> list[Problem]:
    """The findings as problems with line and column; a path that does not exist stands where its parent does."""
    findings = list(findings)
    root = _Wanted({})
    for finding in findings:
        _want(root, finding.path)
    if findings:
        _walk(name, text, root)
    return [inside(Problem(name, *_place(root, finding), visible(finding.message)), text) for finding in findings]


def _want(root: _Wanted, path: Way) -> None:
    for step in path:
        root = root.children.setdefault(step, _Wanted({}))


def _place(root: _Wanted, finding: Finding) -> Place:
    place = root.value or (1, 1)
    for step in finding.path:
        root = root.children[step]
        place = (root.key if finding.at_key else None) or root.value or place
    return place


def _walk(name: str, text: str, root: _Wanted) -> None:
    walker = _Walker(root)
    try:
        for event in events(name, text):
            walker.take(event)
            if not walker.left:
                return
    except UnreadableYaml:
        return  # what came before the fault has its places


@dataclass(slots=True)
class _Level:
    """An open list or mapping: `next` is the position or key of the value to come, None while a key is awaited."""

    wanted: _Wanted | None
    is_list: bool
    next: Any


class _Walker:
    def __init__(self, root: _Wanted) -> None:
        self.root = root
        self.left = root.size()
        self.levels: list[_Level] = []

    def take(self, event: Any) -> None:
        if isinstance(event, yaml.NodeEvent):
            self._node(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self.levels.pop()

    def _node(self, event: Any) -> None:
        level = self.levels[-1] if self.levels else None
        mark = event.start_mark
        place = (mark.line + 1, mark.column + 1)
        if level is not None and level.next is None:
            self._key(level, event, place)
            return
        wanted = self._met(level, place)
        if isinstance(event, yaml.CollectionStartEvent):
            is_list = isinstance(event, yaml.SequenceStartEvent)
            self.levels.append(_Level(wanted, is_list, 0 if is_list else None))

    def _key(self, level: _Level, event: Any, place: Place) -> None:
        level.next = event.value if isinstance(event, yaml.ScalarEvent) else f"*{getattr(event, 'anchor', '')}"
        found = level.wanted and level.wanted.children.get(level.next)
        if found and found.key is None:
            found.key = place

    def _met(self, level: _Level | None, place: Place) -> _Wanted | None:
        found: _Wanted | None
        if level is None:
            found = self.root
        else:
            found = level.wanted.children.get(level.next) if level.wanted else None
            level.next = level.next + 1 if level.is_list else None
        if found is None or found.value is not None:
            return None
        found.value = place
        self.left -= 1
        return found
