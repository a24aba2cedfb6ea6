"""Scores of either sign with many zeros, histories before the queries, rows with few entries or none."""

from __future__ import annotations

import torch

AXES = {
    "q_i": "B T Hi di",
    "k_i": "B S di",
    "w": "B T Hi",
    "index_topk.return": "B T k",
    "q": "B H T d",
    "kv": "B S d",
    "idx": "B T n",
    "sparse_mqa.return": "B H T d",
}
SIZES = {"B": (1, 2), "T": (1, 5, 70), "past": (0, 3), "Hi": (1, 3), "di": (1, 4), "H": (1, 3), "d": (1, 5, 70)}
SIZES |= {"k": (1, 6), "n": (1, 6)}
DERIVED = {"S": "T + past"}


def best_of(q_i, k_i, w, k):
    """Return a check that the choice is right: the best visible keys by their float64 scores, ties in any order."""
    q_i, k_i, w = (x.double() for x in (q_i, k_i, w))
    scores = torch.einsum("bth,bths->bts", w, torch.einsum("bthd,bsd->bths", q_i, k_i).relu())
    size = torch.einsum("bth,bths->bts", w.abs(), torch.einsum("bthd,bsd->bths", q_i.abs(), k_i.abs()))
    T, S = scores.shape[1:]

    def holds(idx):
        for b in range(len(idx)):
            for t in range(T):
                seen = min(k, t + 1 + S - T)
                row = idx[b, t][idx[b, t] >= 0].tolist()
                at = f"[{b}, {t}]"
                if idx[b, t].min() < -1 or len(row) != seen:
                    return (
                        f"row {at} must hold {seen} keys and −1 elsewhere",
                        f"第 {at} 行应有 {seen} 个 key，其余为 −1",
                    )
                if len(set(row)) < seen or max(row) > t + S - T:
                    return (
                        f"row {at} holds a key twice or one in the future: {row}",
                        f"第 {at} 行有重复或未来的 key：{row}",
                    )
                due = scores[b, t, : t + 1 + S - T].topk(seen).values
                got = scores[b, t, row].sort(descending=True).values
                if bool((got < due - 1e-5 * size[b, t].max() - 1e-12).any()):
                    return (
                        f"row {at} chose scores {got.tolist()}, the best are {due.tolist()}",
                        f"第 {at} 行选中的分数是 {got.tolist()}，最高的是 {due.tolist()}",
                    )
        return None

    return holds


def choose(make, k, *tensors):
    handle = make.call("index_topk", *tensors, k)
    make.judge(best_of(*tensors, k), handle)
    return handle


def entries(make, B, T, S, n):
    """Distinct entries in random places, −1 elsewhere; some rows have none."""
    idx = torch.full((B, T, n), -1)
    for row in idx.view(-1, n):
        most = min(n, S)
        count = int(torch.randint(most + 1, (), generator=make.random))
        places, keys = (torch.randperm(size, generator=make.random)[:count] for size in (n, S))
        row[places] = keys
    return idx


def case(make):
    if make.flag():
        return choose(make, make.size("k"), *(make.argument(name, scale=2.0) for name in ("q_i", "k_i", "w")))
    q, kv = make.arguments("q", "kv")
    return make.call("sparse_mqa", q, kv, entries(make, *make.sizes("B", "T", "S", "n")))


def edge_all_keys(make):
    """k ≥ S: chosen and attended, it is full causal attention; k > S pads with −1

    k ≥ S：选完再做注意力就等于完整的因果注意力；k > S 时补 −1
    """
    make.hold(B=2, T=4, past=2, H=2, d=3)
    for k in (6, 9):
        idx = choose(make, k, *make.arguments("q_i", "k_i", "w"))
        make.call("sparse_mqa", *make.arguments("q", "kv"), idx)


def edge_negative_weights(make):
    """negative weights veto: a key that no head matches beats one that a negative head matches

    负权重表示否决：没有头匹配的 key，也排在负权重的头匹配的 key 之前
    """
    q_i = make.keep(torch.tensor([[[[1.0, 0.0], [0.0, 1.0]]]]))
    k_i = make.keep(torch.tensor([[[2.0, 3.0], [-1.0, -1.0], [1.0, 0.5], [0.0, 4.0], [-3.0, 1.0]]]))
    for signs in ((1.0, -2.0), (-1.0, 1.0), (-1.0, -0.5), (0.5, 0.25)):
        for k in (1, 2, 3):
            choose(make, k, q_i, k_i, make.keep(torch.tensor([[signs]])))


def edge_the_first_queries(make):
    """with S = T the first query sees one key: one entry, the rest −1

    S = T 时第一个 query 只看得到一个 key：只有一项，其余为 −1
    """
    make.hold(B=1, T=4, past=0)
    choose(make, 3, *make.arguments("q_i", "k_i", "w"))


def edge_fewer_keys_than_queries(make):
    """S < T raises ValueError

    S < T 抛 ValueError
    """
    make.raises(ValueError, "index_topk", make.normal(1, 3, 2, 2), make.normal(1, 2, 2), make.normal(1, 3, 2), 1)


def edge_rows_without_entries(make):
    """no entry at all, one entry, −1 in front and between; key 0 and the last key chosen or not

    一项都没有；只有一项；−1 在前面或中间；选了或没选第 0 个和最后一个 key
    """
    q, kv = make.normal(1, 2, 5, 3), make.normal(1, 4, 3)
    idx = torch.tensor([[[-1, -1, -1], [-1, 2, -1], [3, -1, 1], [-1, -1, 0], [1, 2, -1]]])
    make.call("sparse_mqa", q, kv, idx)


def edge_scores_far_apart(make):
    """scores of ±57 and an entry hidden beside them

    分数达 ±57，旁边还有被挡住的项
    """
    q = make.keep(torch.tensor([[[[9.0, 0.0], [-9.0, 1.0]]]]), grad=True)
    kv = make.keep(torch.tensor([[[9.0, 1.0], [-9.0, 2.0], [8.0, 0.0]]]), grad=True)
    make.call("sparse_mqa", q, kv, torch.tensor([[[0, 1, 2, -1], [2, -1, 1, -1]]]))


def growing(axis):
    def record(make, size):
        make.hold(B=1, H=2, d=8, **({"T": 64, "past": size - 64} if axis == "S" else {"T": size, "past": 0}))
        q, kv = make.argument("q", grad=False), make.argument("kv", grad=False)
        T, S = make.sizes("T", "S")
        make.call("sparse_mqa", q, kv, torch.arange(4).expand(1, T, 4) * (S // 8))

    return record


_SAYS = {"en": "sparse_mqa reads all S keys for every query", "zh": "sparse_mqa 为每个 query 读了全部 S 个 key"}
# Converting all keys is sound; scoring one takes 4 · 2 · 64 · 8 operations, and gathering four a query 64 · T numbers.
CONTRACTS = [
    {
        "check": check,
        "measure": measure,
        "case": growing(axis),
        "sizes": sizes,
        "bound": bound,
        "growth_at_most": 1.0,
        "says": _SAYS,
    }
    for check, measure, axis, sizes, bound in (
        ("work", "flops", "S", (128, 512, 2048), lambda S: 64 * S),
        ("work", "flops", "T", (64, 128, 256), lambda T: 1500 * T),
        ("memory", "largest", "T", (64, 128, 256), lambda T: 100 * T),
    )
]
