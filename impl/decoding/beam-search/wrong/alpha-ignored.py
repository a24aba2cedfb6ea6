"""Ignores alpha.
没有理会 alpha。

symptom: Short outputs win.
症状：短输出总是赢。

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
        rows.sort(key=lambda r: (-r[0], r[1], r[2]))
        rows = [([*live[row][0], token], total) for total, row, token in rows[: beam - len(finished)]]
        finished += [(ids, total) for ids, total in rows if ids[-1] == eos]
        live = [(ids, total) for ids, total in rows if ids[-1] != eos]
    done = [(ids, total / ((5 + len(ids)) / 6) ** 0) for ids, total in finished + live]
    return sorted(done, key=lambda r: -r[1])
