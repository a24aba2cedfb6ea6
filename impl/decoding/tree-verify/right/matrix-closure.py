"""Ancestors as powers of the parent matrix; depth as a row sum; the path read off the mask."""
import torch


def closure(parents):
    n = len(parents)
    step = torch.zeros(n, n)
    for i, p in enumerate(parents[1:], 1):
        step[i, p] = 1.0
    reach = torch.eye(n) + step
    for _ in range(n.bit_length()):
        reach = (reach @ reach).clamp(max=1.0)
    return reach.bool()


def tree_mask(parents, past):
    seen = closure(parents)
    return torch.nn.functional.pad(seen, (past, 0), value=True)


def tree_positions(parents, past):
    return closure(parents).sum(1) - 1 + past


def verify_tree(parents, tokens, target_argmax):
    due = torch.tensor([tokens[0], *(target_argmax[p] for p in parents[1:])])
    good = torch.tensor(tokens) == due
    reach = closure(parents)
    depth = reach.sum(1) * (good | ~reach).all(1)
    node = len(parents) - 1 - int(depth.flip(0).argmax())
    path = reach[node].nonzero()[1:, 0].tolist()
    return path, target_argmax[node]
