"""Uses nn.Embedding with padding_idx=0.
nn.Embedding 设了 padding_idx=0。

symptom: The table's first row never changes.
症状：表的第 0 行始终不变。

cards: pos-06
rung: solved
"""
import torch
from torch import nn


class LearnedPositional(nn.Module):
    def __init__(self, max_len, D):
        super().__init__()
        self.table = nn.Embedding(max_len, D, padding_idx=0)

    def forward(self, x, start=0):
        T = x.shape[1]
        if start < 0 or start + T > self.table.num_embeddings:
            raise ValueError("position out of range")
        return x + self.table(torch.arange(start, start + T, device=x.device)).to(x.dtype)
