"""Every node followed back to the root, and what greedy decoding of the target would give."""

import torch
from hypothesis import given
from hypothesis import strategies as st

#        0
#      1   2
#     3 4   5
#     6
TREE = [-1, 0, 0, 1, 1, 2, 3]


@st.composite
def trees(draw):
    n = draw(st.integers(1, 12))
    return [-1, *(draw(st.integers(0, i - 1)) for i in range(1, n))]


def ancestors(parents, node):
    """Return the nodes from this one up to the root."""
    chain = [node]
    while parents[chain[-1]] >= 0:
        chain.append(parents[chain[-1]])
    return chain


def check_path(parents, tokens, target, path, bonus):
    """Check a path node by node, and that no deeper one matches."""
    depths = []
    for node in range(len(parents)):
        chain = ancestors(parents, node)
        if all(tokens[i] == target[parents[i]] for i in chain[:-1]):
            depths.append(len(chain) - 1)
    last = 0
    for node in path:
        assert parents[node] == last and tokens[node] == target[last]
        last = node
    assert len(path) == max(depths)
    assert bonus == target[last]


def test_a_node_sees_the_past_its_ancestors_and_itself(tree_mask):
    mask = tree_mask(TREE, 2)
    assert mask.dtype == torch.bool and mask.shape == (7, 9)
    seen = [row.nonzero().flatten().tolist() for row in mask]
    assert seen[0] == [0, 1, 2]
    assert seen[4] == [0, 1, 2, 3, 6]
    assert seen[6] == [0, 1, 2, 3, 5, 8]


@given(trees(), st.integers(0, 5))
def test_the_mask_of_any_tree(tree_mask, parents, past):
    mask = tree_mask(parents, past)
    assert mask.shape == (len(parents), past + len(parents)) and mask.dtype == torch.bool
    for node, row in enumerate(mask.tolist()):
        chain = ancestors(parents, node)
        assert row == [True] * past + [other in chain for other in range(len(parents))]


def test_positions_are_past_and_depth(tree_positions):
    positions = tree_positions(TREE, 10)
    assert positions.dtype == torch.int64
    assert positions.tolist() == [10, 11, 11, 12, 12, 12, 13]


@given(trees(), st.integers(0, 5))
def test_positions_of_any_tree(tree_positions, parents, past):
    depths = [len(ancestors(parents, node)) - 1 for node in range(len(parents))]
    positions = tree_positions(parents, past)
    assert positions.tolist() == [past + depth for depth in depths] and positions.dtype == torch.int64


def test_a_chain_sees_causally(tree_mask, tree_positions):
    chain = [-1, 0, 1, 2]
    assert torch.equal(tree_mask(chain, 3), torch.ones(4, 7, dtype=torch.bool).tril(3))
    assert tree_positions(chain, 3).tolist() == [3, 4, 5, 6]


def test_a_long_chain(tree_mask, tree_positions, verify_tree):
    n = 200
    chain = [i - 1 for i in range(n)]
    assert torch.equal(tree_mask(chain, 0), torch.ones(n, n, dtype=torch.bool).tril())
    assert tree_positions(chain, 0).tolist() == [*range(n)]
    assert verify_tree(chain, [7] * n, [7] * n) == ([*range(1, n)], 7)


def test_the_root_alone(tree_mask, tree_positions, verify_tree):
    assert tree_mask([-1], 0).tolist() == [[True]]
    assert tree_positions([-1], 0).tolist() == [0]
    assert verify_tree([-1], [5], [9]) == ([], 9)


def test_the_path_follows_the_target(verify_tree):
    tokens = [90, 10, 20, 30, 40, 50, 60]
    target = [10, 40, 99, 99, 77, 99, 99]  # after the root 10, after that 40
    assert verify_tree(TREE, tokens, target) == ([1, 4], 77)
    assert verify_tree(TREE, tokens, [11, *target[1:]]) == ([], 11)


def test_a_token_that_matches_below_a_wrong_one_is_no_match(verify_tree):
    tokens = [90, 10, 20, 30, 40, 50, 60]
    target = [20, 40, 99, 60, 99, 99, 99]  # 40 after 10 and 60 after 30 fit, but 10 is wrong
    assert verify_tree(TREE, tokens, target) == ([2], 99)


def test_the_token_of_the_root_is_not_compared(verify_tree):
    assert verify_tree([-1, 0], [5, 6], [6, 8]) == ([1], 8)
    assert verify_tree([-1, 0], [6, 5], [6, 8]) == ([], 6)


@given(trees(), st.data())
def test_any_tree(verify_tree, parents, data):
    # Two tokens only, so that much matches; siblings with equal tokens have equal targets, all the way down.
    target_of, tokens, names = {}, [0], [()]
    for parent in parents[1:]:
        tokens.append(data.draw(st.integers(0, 1)))
        names.append((*names[parent], tokens[-1]))
    for name in names:
        if name not in target_of:
            target_of[name] = data.draw(st.integers(0, 1))
    target = [target_of[name] for name in names]
    check_path(parents, tokens, target, *verify_tree(parents, tokens, target))


def test_the_tokens_are_those_of_greedy_decoding(verify_tree):
    # All continuations of three tokens, the target's being the sum of the last two modulo 3.
    parents, sequences = [-1], [(2, 1)]
    for node in range(13):
        for token in range(3):
            parents.append(node)
            sequences.append((*sequences[node], token))
    target = [sum(ids[-2:]) % 3 for ids in sequences]
    tokens = [ids[-1] for ids in sequences]
    path, bonus = verify_tree(parents, tokens, target)
    assert [tokens[i] for i in path] + [bonus] == [0, 1, 1, 2]


def test_the_arguments_stay_and_the_path_is_plain(tree_mask, tree_positions, verify_tree):
    parents, tokens, target = list(TREE), [1] * 7, [1] * 7
    tree_mask(parents, 1), tree_positions(parents, 1)
    path, bonus = verify_tree(parents, tokens, target)
    assert path == [1, 3, 6] and all(isinstance(node, int) for node in [*path, bonus])
    path.append(99)
    assert (parents, tokens, target) == (TREE, [1] * 7, [1] * 7)
    assert verify_tree(parents, tokens, target)[0] == [1, 3, 6]
