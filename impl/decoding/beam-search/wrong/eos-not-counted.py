"""Does not count eos in the length.
长度里没有算 eos。

symptom: Finished ones get lower scores than live ones of the same length.
症状：同样长度，完成的比没完成的得分低。

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
    done = [(ids, total / ((5 + len(ids) - (ids[-1] == eos)) / 6) ** alpha) for ids, total in finished + live]
    return sorted(done, key=lambda r: -r[1])
