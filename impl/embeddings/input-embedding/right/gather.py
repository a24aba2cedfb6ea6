"""gather along the vocabulary."""

import math


def embed_tokens(ids, table, scale=True):
    B, T = ids.shape
    D = table.shape[-1]
    where = ids.reshape(B * T, 1).expand(B * T, D)
    rows = table.gather(0, where).reshape(B, T, D)
    return rows.mul(math.sqrt(D)) if scale else rows
