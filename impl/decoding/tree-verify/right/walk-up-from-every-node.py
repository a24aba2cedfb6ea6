"""Walks from every node up to the root; keeps the longest walk on which all tokens agree."""
import torch


def ancestors(parents, i):
    up = []
    while i > 0:
        up.append(i)
        i = parents[i]
    return up


def tree_mask(parents, past):
    rows = [[True] * past + [j == 0 or j in ancestors(parents, i) for j in range(len(parents))] for i in range(len(parents))]
    return torch.tensor(rows, dtype=torch.bool)


def tree_positions(parents, past):
    return torch.LongTensor([past + len(ancestors(parents, i)) for i in range(len(parents))])


def verify_tree(parents, tokens, target_argmax):
    walks = [ancestors(parents, i) for i in range(len(parents))]
    sound = [w for w in walks if all(tokens[i] == target_argmax[parents[i]] for i in w)]
    path = sorted(sound, key=lambda w: -len(w))[0][::-1]
    return path, target_argmax[(path or [0])[-1]]
