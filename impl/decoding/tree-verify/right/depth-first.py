"""The textbook form: children lists, and a recursion that tries every matching child."""
import torch


def tree_mask(parents, past):
    mask = torch.zeros(len(parents), past + len(parents)).bool()
    for node in range(len(parents)):
        mask[node, :past] = True
        current = node
        while current != -1:
            mask[node, past + current] = True
            current = parents[current]
    return mask


def tree_positions(parents, past):
    def depth(node):
        return 0 if parents[node] == -1 else 1 + depth(parents[node])

    return torch.tensor([past + depth(i) for i in range(len(parents))], dtype=torch.long)


def verify_tree(parents, tokens, target_argmax):
    children = {i: [] for i in range(len(parents))}
    for i, p in enumerate(parents):
        if p >= 0:
            children[p].append(i)

    def longest(node):
        best = []
        for child in reversed(children[node]):
            if tokens[child] == target_argmax[node]:
                path = [child] + longest(child)
                if len(path) > len(best):
                    best = path
        return best

    path = longest(0)
    last = path[-1] if path else 0
    return path, target_argmax[last]
