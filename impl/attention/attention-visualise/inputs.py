"""Maps whose weights lie clear of the level boundaries, tokens of one and two columns, layers that do not sum to 1."""

from __future__ import annotations

import torch

AXES = {"weights": "T S", "return": "B T T", **{f"weights[{layer}]": "B H T T" for layer in range(8)}}
SIXTEEN_BITS = "native"
_TOKENS = ["the", "cat", "a", "注意力", "模型", "ｗide", "かな", "한국", "attention", "mat.", "x1", "力"]
HARDENED = {"edge_wide_characters_that_do_not_fit"}


_NARROW = [token for token in _TOKENS if token.isascii()]


def tokens(make, count, words=_TOKENS):
    return [make.pick(words) for _ in range(count)]


def grid(make, T, S):
    """Weights in the middle of their levels, a few below 0 and above 1."""
    level = torch.randint(0, 10, (T, S), generator=make.random).double()
    if make.flag():
        level = torch.randint(-2, 13, (T, S), generator=make.random).double()
    inside = 0.3 + 0.4 * torch.rand(T, S, generator=make.random, dtype=torch.float64)
    return make.keep((level + inside) / 10)


def layers(make, count, B, H, T):
    """Attention after dropout: rows that do not sum to 1."""
    return [make.uniform(B, H, T, T, low=0.05, high=1.0) for _ in range(count)]


def case(make):
    if make.profile in ("ordinary", "strided") and make.flag():
        T, S = make.size(1, 5), make.size(1, 6)
        weights = grid(make, T, S)
        if make.flag():
            columns = make.pick([1, 3, 4, 2])  # wide characters that have to be cut are an edge case
            keys = tokens(make, S, _NARROW if columns % 2 else _TOKENS)
            make.call("attention_to_text", weights, tokens(make, T), keys, columns)
        else:
            make.call("attention_to_text", weights, tokens(make, T), tokens(make, S))
        return
    count, B, H, T = make.size(1, 4), make.size(1, 3), make.size(1, 3), make.size(1, 5)
    style = make.pick(["default", "positional", "keyword"])
    if style == "default":
        make.call("attention_rollout", layers(make, count, B, H, T))
    elif style == "positional":
        make.call("attention_rollout", layers(make, count, B, H, T), make.pick([0.0, 0.25, 0.9, 1.0]))
    else:
        make.call("attention_rollout", layers(make, count, B, H, T), residual=make.pick([0.5, 0.1, 0.75]))


def edge_one_by_one(make):
    """one query, one key, one column

    一个 query，一个 key，一列
    """
    make.call("attention_to_text", make.keep(torch.tensor([[0.55]])), ["q"], ["k"], 1)
    make.call("attention_to_text", make.keep(torch.tensor([[0.55]])), ["q"], ["k"])


def edge_all_levels(make):
    """every level from blank to @, and what lies outside of 0 … 1

    从空格到 @ 的每一档，以及落在 0 … 1 之外的权重
    """
    weights = torch.tensor([[-0.35, 0.05, 0.15, 0.25, 0.35, 0.45], [0.55, 0.65, 0.75, 0.85, 0.95, 1.35]])
    make.call("attention_to_text", make.keep(weights), ["low", "high"], list("abcdef"))


def edge_rows_are_queries(make):
    """queries go down, keys across

    query 往下排，key 往右排
    """
    weights = torch.tensor([[0.95, 0.05, 0.05], [0.45, 0.45, 0.05]])
    make.call("attention_to_text", make.keep(weights), ["a", "bb"], ["x", "y", "z"], 3)
    square = torch.tensor([[0.95, 0.05, 0.05], [0.45, 0.45, 0.05], [0.35, 0.25, 0.35]])
    make.call("attention_to_text", make.keep(square), ["a", "b", "c"], ["a", "b", "c"])


def edge_chinese_labels(make):
    """Chinese tokens take two columns a character, as labels and above the columns

    中文 token 每个字占两列，作标签和在表头里都一样
    """
    weights = torch.tensor([[0.95, 0.05], [0.35, 0.65], [0.15, 0.85]])
    make.call("attention_to_text", make.keep(weights), ["注意力", "is", "all"], ["我", "需要"])
    make.call("attention_to_text", make.keep(weights), ["注意力", "is", "all"], ["我", "需要"], 4)


def edge_wide_characters_that_do_not_fit(make):
    """a wide character has no place in one column: it is left out and padded

    一列放不下宽字符：舍去，补空格
    """
    weights = torch.tensor([[0.95, 0.05], [0.35, 0.65]])
    make.call("attention_to_text", make.keep(weights), ["a", "한"], ["力", "b"], 1)
    make.call("attention_to_text", make.keep(weights), ["a", "b"], ["x力y", "ｗide"], 2)
    make.call("attention_to_text", make.keep(weights), ["a", "b"], ["x力y", "かな"], 3)


def edge_long_and_short_labels(make):
    """the label column is as wide as the widest query token; key tokens do not matter for it

    标签列宽等于最宽的 query token，与 key token 无关
    """
    weights = torch.tensor([[0.95, 0.05], [0.35, 0.65]])
    make.call("attention_to_text", make.keep(weights), ["a", "transformer"], ["a much longer key", "b"])


def edge_one_layer(make):
    """one layer: the averaged map mixed with the identity, its rows divided by their sums

    只有一层：各头平均后与单位阵混合，每行再除以自己的和
    """
    make.call("attention_rollout", layers(make, 1, 2, 3, 4))
    make.call("attention_rollout", layers(make, 1, 1, 1, 3), 0.0)


def edge_one_token_rollout(make):
    """a single position stays itself

    只有一个位置：结果还是它自己
    """
    make.call("attention_rollout", layers(make, 3, 2, 2, 1))


def edge_residual_only(make):
    """residual = 1 gives the identity

    residual = 1：结果就是单位阵
    """
    make.call("attention_rollout", layers(make, 2, 1, 2, 3), 1.0)


def edge_no_residual(make):
    """residual = 0 is the plain product of the layers

    residual = 0：就是各层直接连乘
    """
    make.call("attention_rollout", layers(make, 3, 1, 2, 3), residual=0.0)


def edge_order_of_layers(make):
    """the first layer stands on the right of the product

    连乘时第一层在最右边
    """
    first = torch.tensor([[[[0.9, 0.1], [0.1, 0.9]]]])
    last = torch.tensor([[[[0.2, 0.8], [0.7, 0.3]]]])
    make.call("attention_rollout", [make.keep(first, grad=True), make.keep(last, grad=True)], 0.2)


def edge_after_dropout(make):
    """rows that sum to 0.4 and to 2: each is divided by its sum, residual included

    行和为 0.4 和 2：每行除以自己的和，残差也算在内
    """
    a = torch.tensor([[[[0.4, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.5, 0.1]]]])
    make.call("attention_rollout", [make.keep(a, grad=True), make.keep(a, grad=True)], 0.3)


def edge_spaces_in_tokens(make):
    """tokens that begin or end with a space keep it, as byte-pair tokens do

    token 首尾的空格要保留，BPE token 就是这样
    """
    weights = torch.tensor([[0.95, 0.05, 0.35], [0.35, 0.65, 0.15]])
    make.call("attention_to_text", make.keep(weights), [" the", "cat "], [" a", "b ", " 力"], 3)


def edge_long_lines(make):
    """labels of more than twenty columns, eleven keys longer than any query, seven columns a cell

    标签超过二十列，十一个 key，有的比哪个 query 都长，每格七列
    """
    weights = grid(make, 2, 11)
    keys = [*_TOKENS[:10], "a token that is longer than the queries, 很长很长的一个"]
    make.call("attention_to_text", weights, ["internationalisation", "注意力机制的可视化方法"], keys, 7)
    make.call("attention_to_text", weights, ["a", "b"], keys)


def edge_rows_that_sum_to_one(make):
    """one layer of one head without residual: its rows sum to 1, and the result is memory of its own all the same

    一层、一个头、没有残差：行和本来就是 1，输出照样要有自己的内存
    """
    maps = torch.tensor([[[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]]])
    make.call("attention_rollout", [make.keep(maps, grad=True)], 0.0)
    make.call("attention_rollout", [make.keep(maps[:, :, :1, :1], grad=True)], 0.0)
    make.call("attention_rollout", [make.keep(maps, grad=True)] * 3)


def edge_many_layers(make):
    """eight layers of six heads, twice the same list; 17 tokens

    八层、每层六个头，同一个列表传两次；另有 17 个 token 的
    """
    maps = layers(make, 8, 2, 6, 3)
    make.call("attention_rollout", maps)
    make.call("attention_rollout", maps, 0.1)
    make.call("attention_rollout", layers(make, 2, 1, 2, 17), residual=0.2)


def edge_rows_nearly_empty(make):
    """rows that sum to 0.02 are divided by just that

    行和只有 0.02，也照样除以它
    """
    maps = [layer * 0.01 for layer in (make.uniform(2, 2, 3, 3, low=0.2) for _ in range(3))]
    make.call("attention_rollout", [make.keep(layer, grad=True) for layer in maps], 0.0)


def edge_two_calls(make):
    """a list that is passed twice is the same list afterwards

    同一个列表传两次，之后列表保持原样
    """
    maps = layers(make, 3, 1, 2, 3)
    make.call("attention_rollout", maps)
    make.call("attention_rollout", maps, 0.2)
    make.call("attention_rollout", maps)
