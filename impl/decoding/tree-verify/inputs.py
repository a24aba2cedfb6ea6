"""Random trees whose tokens often match; equal siblings, of which any deepest will do; chains, stars and lone roots."""

from __future__ import annotations

AXES = {"tree_mask.return": "n past+n", "tree_positions.return": "n"}
SIZES = {"n": (1, 9, 60), "past": (0, 6, 90)}
GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}


def mask_and_positions(make, parents, past):
    make.call("tree_mask", parents, past)
    make.call("tree_positions", parents, past)


def targets_of(parents, tokens, greedy):
    """The target's next token behind each node: a function of the tokens on the way to it."""
    states = [0]
    for parent, token in zip(parents[1:], tokens[1:], strict=True):
        states.append((3 * states[parent] + token + 1) % len(greedy))
    return [greedy[state] for state in states]


def drawn_tree(make, n, twins):
    """Each node continues a random earlier one, by the token that the target would say or by another; with `twins`
    siblings may hold equal tokens."""
    greedy, parents, tokens = make.integers(0, 5, 11).tolist(), [-1], [int(make.integers(0, 5, 1))]
    for i in range(1, n):
        parent = max(0, i - 1 - int(make.integers(0, 4, 1))) if make.real(0, 1) < 0.7 else int(make.integers(0, i, 1))
        taken = set() if twins else {t for p, t in zip(parents, tokens, strict=True) if p == parent}
        due = targets_of([*parents, parent], [*tokens, 0], greedy)[parent]
        others = [t for t in range(n + 5) if t not in taken and t != due]
        right = due not in taken and make.real(0, 1) < (0.8 if twins else 0.6)
        parents.append(parent)
        tokens.append(due if right else others[int(make.integers(0, 4, 1))])
    return parents, tokens, targets_of(parents, tokens, greedy)


def verify(make, parents, tokens, targets):
    """Any deepest match will do: siblings may hold equal tokens."""
    due, bonus = deepest(parents, tokens, targets)

    def holds(got):
        if not isinstance(got, tuple) or len(got) != 2 or type(got[0]) is not list or type(got[1]) is not int:
            return (
                "the result must be (path, bonus), a list and an int",
                "返回值应为 (path, bonus)：一个 list 和一个 int",
            )
        path = got[0]
        if not all(type(i) is int and 0 < i < len(parents) for i in path):
            return f"path {path} must hold nodes below the root", f"path {path} 里应是根以下的节点"
        for above, i in zip([0, *path], path, strict=False):
            if parents[i] != above or tokens[i] != targets[above]:
                return (
                    f"path {path}: node {i} must be a child of {above} with the token {targets[above]}",
                    f"path {path}：节点 {i} 应是 {above} 的子节点，且 token 为 {targets[above]}",
                )
        if len(path) != due:
            return (
                f"path {path} is not the deepest: {due} nodes match",
                f"path {path} 不是最深的：可以匹配 {due} 个节点",
            )
        if got[1] != bonus:
            return f"bonus {got[1]}, must be {bonus}", f"bonus 是 {got[1]}，应为 {bonus}"
        return None

    make.judge(holds, make.call("verify_tree", parents, tokens, targets))


def deepest(parents, tokens, targets):
    """Return the number of nodes of the deepest match, and its bonus."""
    depth = {0: 0}
    for i, p in enumerate(parents[1:], 1):
        if p in depth and tokens[i] == targets[p]:
            depth[i] = depth[p] + 1
    last = max(depth, key=depth.__getitem__)
    return depth[last], targets[last]


def case(make):
    n, past = make.sizes("n", "past")
    kind = make.pick(["verify", "verify twins", "mask"])
    parents, tokens, targets = drawn_tree(make, n, kind == "verify twins")
    if kind == "mask":
        mask_and_positions(make, parents, past)
    elif kind == "verify twins":
        verify(make, parents, tokens, targets)
    else:
        make.call("verify_tree", parents, tokens, targets)


def edge_chain_star_and_root(make):
    """a chain, a star, a root alone, two branches; with a past and without

    一条链、一个星形、只有根、两个分支；有历史和没有历史
    """
    for parents in ([-1, 0, 1, 2], [-1, 0, 0, 0], [-1], [-1, 0, 0, 1, 2, 2, 4], [-1, 0, 1, 0, 3, 3, 2]):
        for past in (0, 3):
            mask_and_positions(make, parents, past)


def edge_longer_branch_that_does_not_match(make):
    """a long branch whose first token is wrong, and all behind it right, beside a short one that matches; nothing matches

    一条长分支第一个 token 就错、后面全对，旁边一条短分支匹配；以及全都不匹配
    """
    parents, targets = [-1, 0, 1, 2, 3, 0, 5], [4, 6, 7, 8, 9, 2, 3]
    for tokens in ([1, 5, 6, 7, 8, 4, 2], [1, 5, 6, 7, 8, 4, 9], [1, 5, 6, 7, 8, 3, 2], [4, 4, 9, 7, 8, 5, 2]):
        make.call("verify_tree", parents, tokens, targets)
    make.call("verify_tree", [-1], [3], [8])


def edge_equal_siblings(make):
    """siblings with equal tokens: the second, or the third, leads deeper

    兄弟节点的 token 相同：第二个（或第三个）能走得更深
    """
    verify(make, [-1, 0, 0, 2, 3], [0, 5, 5, 6, 7], [5, 6, 6, 7, 8])
    verify(make, [-1, 0, 0, 0, 1, 3, 5], [0, 5, 5, 5, 9, 6, 7], [5, 6, 6, 6, 1, 7, 8])
    verify(make, [-1, 0, 0, 1, 2], [0, 5, 5, 6, 6], [5, 6, 6, 9, 9])


def edge_long_chain(make):
    """a chain of 300 nodes, accepted whole and up to the middle

    300 个节点的一条链：全部接受，以及接受到一半
    """
    parents, tokens = [*range(-1, 299)], [*range(300)]
    for targets in ([*range(1, 301)], [*range(1, 150), 0, *range(151, 301)]):
        make.call("verify_tree", parents, tokens, targets)
    make.call("tree_positions", parents, 7)
