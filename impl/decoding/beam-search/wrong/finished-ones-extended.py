"""Goes on extending hypotheses that have ended.
已经以 eos 结束的还继续扩展。

symptom: Text behind the end of the sentence.
症状：句子结束后还有文字。

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
        live = rows
    done = [(ids, total / ((5 + len(ids)) / 6) ** alpha) for ids, total in finished + live]
    return sorted(done, key=lambda r: -r[1])
