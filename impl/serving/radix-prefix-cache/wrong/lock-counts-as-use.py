"""Locking counts as a use.
lock 也算作使用。

symptom: What was locked counts as newer than what was used after it.
症状：被 lock 过的前缀，显得比后来用过的还新。

cards: kv-22
rung: solved
"""

class Node:
    def __init__(self, tokens, blocks, parent):
        self.tokens, self.blocks, self.parent = tokens, blocks, parent
        self.children = {}


class RadixCache:
    """Edges of many blocks, split where prefixes part; stamps and pins per block."""

    def __init__(self, block):
        self.block = block
        self.roots = {}
        self.clock = 0
        self.used = {}
        self.pins = {}

    def _split(self, ids):
        b = self.block
        return [tuple(ids[i : i + b]) for i in range(0, len(ids) // b * b, b)]

    def _walk(self, ids, key, cut=False):
        """The blocks on the way, the node where it ends and how far into it; cut=True splits that node."""
        pieces, node, found = self._split(ids), self.roots.get(key), []
        while node is not None and len(found) < len(pieces):
            child = node.children.get(pieces[len(found)])
            if child is None:
                break
            start, shared = len(found), 0
            while shared < len(child.tokens) and start + shared < len(pieces) and child.tokens[shared] == pieces[start + shared]:
                shared += 1
            found += child.blocks[:shared]
            if shared < len(child.tokens):
                if cut:
                    self._cut(child, shared)
                    node = node.children[pieces[start]]
                break
            node = child
        return found, node, pieces

    def _cut(self, child, shared):
        upper = Node(child.tokens[:shared], child.blocks[:shared], child.parent)
        child.parent.children[upper.tokens[0]] = upper
        upper.children[child.tokens[shared]] = child
        child.tokens, child.blocks, child.parent = child.tokens[shared:], child.blocks[shared:], upper

    def match(self, ids, key=None):
        self.clock += 1
        found = self._walk(ids, key)[0]
        for number in found:
            self.used[number] = self.clock
        return len(found) * self.block, list(found)

    def insert(self, ids, blocks, key=None):
        self.clock += 1
        if key not in self.roots:
            self.roots[key] = Node([], [], None)
        found, node, pieces = self._walk(ids, key, cut=True)
        new = list(blocks[len(found) : len(pieces)])
        if new:
            node.children[pieces[len(found)]] = Node(pieces[len(found) :], new, node)
        for number in found + new:
            self.used[number] = self.clock
            self.pins.setdefault(number, 0)
        return [given for given, held in zip(blocks, found) if given != held]

    def lock(self, ids, key=None):
        found = self._walk(ids, key)[0]
        for number in found:
            self.pins[number] += 1
            self.used[number] = self.clock + 0.5
        return len(found) * self.block

    def unlock(self, ids, key=None):
        for number in self._walk(ids, key)[0]:
            self.pins[number] -= 1

    def _leaves(self):
        todo = list(self.roots.values())
        while todo:
            node = todo.pop()
            todo += node.children.values()
            if node.parent is not None and not node.children and self.pins[node.blocks[-1]] == 0:
                yield node

    def evict(self, n):
        freed = []
        while len(freed) < n:
            leaf = min(self._leaves(), key=lambda node: self.used[node.blocks[-1]], default=None)
            if leaf is None:
                break
            first = leaf.tokens[0]
            leaf.tokens = leaf.tokens[:-1]
            freed.append(leaf.blocks[-1])
            leaf.blocks = leaf.blocks[:-1]
            if not leaf.blocks:
                del leaf.parent.children[first]
        return freed
