"""One round for the maxima, a second one for sums and outputs, places compared as numbers."""

import torch


def ring_attention(q_chunks, k_chunks, v_chunks, causal):
    starts = [0]
    for chunk in q_chunks:
        starts.append(starts[-1] + chunk.size(2))
    results = []
    for r, chunk in enumerate(q_chunks):
        kind = torch.promote_types(chunk.dtype, torch.float32)
        q = chunk.to(kind).mul(chunk.size(-1) ** -0.5)
        mine = torch.arange(starts[r], starts[r + 1], device=q.device)[:, None]
        senders = range(r + 1) if causal else range(len(q_chunks))

        def scores(s):
            found = torch.matmul(q, k_chunks[s].to(kind).transpose(2, 3))
            theirs = torch.arange(starts[s], starts[s + 1], device=q.device)
            return found.masked_fill(theirs > mine, float("-inf")) if causal else found

        top = None
        for s in senders:
            here = scores(s).detach().amax(-1, keepdim=True)
            top = here if top is None else torch.maximum(top, here)
        total, out = 0.0, 0.0
        for s in senders:
            e = torch.exp(scores(s) - top)
            total, out = total + e.sum(-1, keepdim=True), out + torch.matmul(e, v_chunks[s].to(kind))
        results.append((out / total).to(chunk.dtype))
    return results
