"""Keeps the best continuation of each row only.
每一行只保留自己最好的续写。

symptom: Two good continuations of one prefix cannot both live.
症状：同一前缀的两个好续写不能同时留下。

cards: dec-04
rung: solved
"""

import math

import torch


def beam_search(step_fn, bos, eos, beam, max_len, alpha):
    live, finished = [([], 0.0)], []
    for _ in range(max_len):
        if not live:
            break
        logp = step_fn(torch.tensor([[bos, *ids] for ids, _ in live]))
        rows = [
            (score + step, row, token)
            for row, (_, score) in enumerate(live)
            for token, step in enumerate(logp[row].tolist())
            if step > -math.inf
        ]
        if len(live) > 1:
            rows = [max(r for r in rows if r[1] == k) for k in sorted({r[1] for r in rows})]
        rows.sort(key=lambda r: (-r[0], r[1], r[2]))
        rows = [([*live[row][0], token], total) for total, row, token in rows[: beam - len(finished)]]
        finished += [(ids, total) for ids, total in rows if ids[-1] == eos]
        live = [(ids, total) for ids, total in rows if ids[-1] != eos]
    done = [(ids, total / ((5 + len(ids)) / 6) ** alpha) for ids, total in finished + live]
    return sorted(done, key=lambda r: -r[1])
