"""Adds the weights up one by one in the input's dtype.
按输入的 dtype 一个个累加。

symptom: In bfloat16 small weights vanish beside a large sum.
症状：bfloat16 里和一大，小权重就加不进去。

cards: prec-07
rung: hardened
"""

def induction_score(attn, period):
    T, total = attn.shape[-1], 0
    for i in range(period, T):
        total = total + attn[:, :, i, i - period + 1]
    return total / (T - period)
