"""Takes index // beam for the row.
行号用了 index // beam。

symptom: Continues prefixes that had nothing to do with the token.
症状：把 token 接到不相干的前缀后面。

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
        V = logp.shape[1]
        rows = [
            ([*live[min((row * V + token) // beam, len(live) - 1)][0], token], total)
            for total, row, token in rows[: beam - len(finished)]
        ]
        finished += [(ids, total) for ids, total in rows if ids[-1] == eos]
        live = [(ids, total) for ids, total in rows if ids[-1] != eos]
    done = [(ids, total / ((5 + len(ids)) / 6) ** alpha) for ids, total in finished + live]
    return sorted(done, key=lambda r: -r[1])
