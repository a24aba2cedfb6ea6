"""A recursive step over (sum, ids), best first."""
import torch


def beam_search(step_fn, bos, eos, beam, max_len, alpha):
    def search(rows, over, left):
        if not rows or not left:
            return over + rows
        scores = step_fn(torch.tensor([ids for _, ids in rows], dtype=torch.int64))
        grown = []
        for (total, ids), row in zip(rows, scores):
            grown += [(total + float(row[v]), [*ids, v]) for v in row.isfinite().nonzero()[:, 0].tolist()]
        grown = sorted(grown, key=lambda g: g[0], reverse=True)[: beam - len(over)]
        return search([g for g in grown if g[1][-1] != eos], over + [g for g in grown if g[1][-1] == eos], left - 1)

    found = [(ids[1:], total / ((len(ids) + 4) / 6) ** alpha) for total, ids in search([(0.0, [bos])], [], max_len)]
    return sorted(found, key=lambda f: f[1], reverse=True)
