"""Weights clear of the level boundaries, tokens of one and two columns, layers that do not sum to 1."""

from __future__ import annotations

import torch

AXES = {"weights": "T S", "return": "B T T", **{f"weights[{layer}]": "B H T T" for layer in range(8)}}
SIZES = {"T": (1, 5, 17), "S": (1, 6, 11), "B": (1, 3), "H": (1, 3, 6), "layers": (1, 4, 8)}
SIXTEEN_BITS = "native"
HARDENED = {"edge_wide_characters_that_do_not_fit"}
_TOKENS = "the cat a 注意力 模型 ｗide かな 한국 attention mat. x1 力".split()
_NARROW = [token for token in _TOKENS if token.isascii()]


def draw(make, queries, keys, columns):
    """Weights in the middle of their levels, now and then below 0 or above 1."""
    T, S = len(queries), len(keys)
    level = torch.randint(*make.pick([(0, 10), (-2, 13)]), (T, S), generator=make.random)
    weights = (level + 0.3 + 0.4 * torch.rand(T, S, generator=make.random, dtype=torch.float64)) / 10
    make.call("attention_to_text", make.keep(weights), queries, keys, width=columns)


def case(make):
    text, columns, residual = make.flag(), make.pick([2, 1, 4, 3]), make.pick([0.5, 0.25, 0.9, 0.0, 1.0, 0.1])
    if text and make.profile in ("ordinary", "strided"):
        T, S = make.sizes("T", "S")
        among = _NARROW if columns % 2 else _TOKENS  # wide characters that are cut are an edge case
        keys, queries = ([make.pick(tokens) for _ in range(count)] for tokens, count in ((among, S), (_TOKENS, T)))
        draw(make, queries, keys, columns)
    else:
        count, *shape = make.sizes("layers", "B", "H", "T", "T")
        maps = [make.uniform(*shape, low=0.05) for _ in range(count)]  # as after dropout
        make.call("attention_rollout", maps, residual=residual)


def edge_all_levels(make):
    """every level from blank to @, and weights outside of 0 … 1

    从空格到 @ 的每一档，以及 0 … 1 之外的权重
    """
    weights = (torch.arange(12).reshape(2, 6) - 0.5) / 10
    weights[0, 0], weights[1, 5] = -0.35, 1.35
    make.call("attention_to_text", make.keep(weights), ["low", "high"], list("abcdef"))


def edge_labels(make):
    """Chinese tokens, Greek ones and arrows of one column, keys longer than any query, spaces at either end

    中文 token、只占一列的希腊字母和箭头、比所有 query 都长的 key、首尾的空格
    """
    for queries, keys, columns in (
        (["注意力", "is", "all"], ["我", "需要"], 2),
        (["a", "transformer"], ["a much longer key", "b"], 2),
        ([" the", "cat "], [" a", "b ", " 力"], 3),
        (["α→", "力①"], ["±…", "Ω"], 2),
        (["internationalisation", "注意力机制的可视化方法"], [*_TOKENS, "a token longer than all queries, 很长"], 7),
    ):
        draw(make, queries, keys, columns)


def edge_wide_characters_that_do_not_fit(make):
    """a wide character that does not fit is left out and padded

    放不下的宽字符：舍去，补空格
    """
    for keys, columns in ((["力", "b"], 1), (["x力y", "ｗide"], 2), (["x力y", "かな"], 3)):
        draw(make, ["a", "한"], keys, columns)


def rollout(make, residual, *layers):
    make.call("attention_rollout", [make.keep(torch.as_tensor(layer), grad=True) for layer in layers], residual)


def edge_order_of_layers(make):
    """the first layer is on the right of the product; residual 0 is the plain product, 1 the identity

    连乘时第一层在最右边；residual 为 0 就是直接连乘，为 1 就是单位阵
    """
    for residual in (0.2, 0.0, 1.0):
        rollout(make, residual, [[[[0.9, 0.1], [0.1, 0.9]]]], [[[[0.2, 0.8], [0.7, 0.3]]]])


def edge_row_sums(make):
    """rows that sum to 0.4, to 2, to 0.02 and to 10⁻⁷: each is divided by its sum, residual included

    行和为 0.4、2、0.02 和 10⁻⁷：每行除以自己的和，残差也算在内
    """
    rollout(make, 0.3, *[[[[[0.4, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.5, 0.1]]]]] * 2)
    for size in (1e-2, 1e-7):
        rollout(make, 0.0, *(make.uniform(2, 2, 3, 3, low=0.2, grad=False) * size for _ in range(3)))


def edge_rows_that_sum_to_one(make):
    """one layer of one head without residual, or one map for all layers: the result does not share memory

    一层、一个头、没有残差，或各层是同一张图：输出不得与输入共享内存
    """
    maps = make.keep(torch.tensor([[[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]]]), grad=True)
    for layers in ([maps], [make.keep(maps[:, :, :1, :1], grad=True)], [maps] * 3):
        make.call("attention_rollout", layers, 0.0)
