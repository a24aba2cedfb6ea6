"""heapq.nsmallest over negated sums; one list of hypotheses, finished or not."""
import heapq
import math

import torch


def beam_search(step_fn, bos, eos, beam, max_len, alpha):
    def ended(h):
        return len(h[1]) > 1 and h[1][-1] == eos

    hypotheses = [(0.0, (bos,))]
    for _ in range(max_len):
        going = [h for h in hypotheses if not ended(h)]
        if not going:
            break
        over = [h for h in hypotheses if ended(h)]
        table = step_fn(torch.tensor([h[1] for h in going])).tolist()
        candidates = (
            (cost - step, row, token)
            for row, (cost, _) in enumerate(going)
            for token, step in enumerate(table[row])
            if step != -math.inf
        )
        chosen = heapq.nsmallest(beam - len(over), candidates)
        hypotheses = over + [(cost, (*going[row][1], token)) for cost, row, token in chosen]
    out = [(list(ids[1:]), -cost * (6 / (4 + len(ids))) ** alpha) for cost, ids in hypotheses]
    return sorted(out, key=lambda pair: pair[1])[::-1]
