"""A prefix cache for serving: a tree over blocks of tokens; each node stores the number of the block with its K and V.

Decisions:
- one node per whole block, keyed by its tokens: the path to it is its prefix, so nothing has to be split;
- a root for each key: equal tokens under another adapter or tenant have other K and V;
- a use stamps the whole path, so a node is never older than its extensions; only leaves are evicted, since the extensions of
  an evicted node could not be reached;
- pins are counted on every node of the path, one for each running request.

Zheng et al. 2024 (SGLang, RadixAttention), arXiv 2312.07104.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator


class _Node:
    def __init__(self, parent: _Node | None = None, tokens: tuple[int, ...] = (), number: int = -1) -> None:
        self.parent, self.tokens, self.number = parent, tokens, number
        self.children: dict[tuple[int, ...], _Node] = {}
        self.pins = self.used = 0


class RadixCache:
    def __init__(self, block: int) -> None:
        self.block, self.clock = block, 0
        self.roots: dict[Hashable, _Node] = {}

    def _pieces(self, ids: list[int]) -> list[tuple[int, ...]]:
        whole = len(ids) // self.block
        return [tuple(ids[i * self.block : (i + 1) * self.block]) for i in range(whole)]

    def _path(self, ids: list[int], key: Hashable) -> Iterator[_Node]:
        node = self.roots.get(key)
        for piece in self._pieces(ids):
            node = node and node.children.get(piece)
            if node is None:
                return
            yield node

    def match(self, ids: list[int], key: Hashable = None) -> tuple[int, list[int]]:
        self.clock += 1
        path = list(self._path(ids, key))
        for node in path:
            node.used = self.clock
        return len(path) * self.block, [node.number for node in path]

    def insert(self, ids: list[int], blocks: list[int], key: Hashable = None) -> list[int]:
        self.clock += 1
        node, spare = self.roots.setdefault(key, _Node()), []
        for piece, number in zip(self._pieces(ids), blocks, strict=True):
            child = node.children.setdefault(piece, _Node(node, piece, number))
            child.used = self.clock
            if child.number != number:
                spare.append(number)
            node = child
        return spare

    def lock(self, ids: list[int], key: Hashable = None) -> int:
        path = list(self._path(ids, key))
        for node in path:
            node.pins += 1
        return len(path) * self.block

    def unlock(self, ids: list[int], key: Hashable = None) -> None:
        for node in self._path(ids, key):
            node.pins -= 1

    def _leaves(self) -> Iterator[_Node]:
        todo = list(self.roots.values())
        while todo:
            node = todo.pop()
            todo.extend(node.children.values())
            if node.parent is not None and not node.children and not node.pins:
                yield node

    def evict(self, n: int) -> list[int]:
        freed: list[int] = []
        while len(freed) < n and (oldest := min(self._leaves(), key=lambda node: node.used, default=None)):
            del oldest.parent.children[oldest.tokens]  # type: ignore[union-attr]
            freed.append(oldest.number)
        return freed
