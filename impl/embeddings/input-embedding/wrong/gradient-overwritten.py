"""Its backward assigns where it should add.
反向时直接赋值，没有累加。

symptom: A repeated token gets the gradient of one of its places.
症状：重复的 token 只拿到其中一处的梯度。

cards: emb-07
rung: solved
"""

import math

import torch


class Lookup(torch.autograd.Function):
    @staticmethod
    def forward(ctx, ids, table):
        ctx.save_for_backward(ids)
        ctx.rows = table.shape[0]
        return table[ids]

    @staticmethod
    def backward(ctx, grad):
        (ids,) = ctx.saved_tensors
        into = grad.new_zeros(ctx.rows, grad.shape[-1])
        into[ids] = grad
        return None, into


def embed_tokens(ids, table, scale=True):
    rows = Lookup.apply(ids, table)
    return rows * math.sqrt(table.shape[1]) if scale else rows
