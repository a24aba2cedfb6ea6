"""Stops as soon as one hypothesis has ended.
有一条结束就停止。

symptom: Defeats the point of a beam: better ones are cut off.
症状：更好的假设被截断，beam 就没意义了。

cards: dec-04
rung: solved
"""

import math

import torch


def beam_search(step_fn, bos, eos, beam, max_len, alpha):
    live, finished = [([], 0.0)], []
    for _ in range(max_len):
        if not live or finished:
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
    done = [(ids, total / ((5 + len(ids)) / 6) ** alpha) for ids, total in finished + live]
    return sorted(done, key=lambda r: -r[1])
