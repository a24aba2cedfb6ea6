"""Token by token, the best expert k times."""
import torch


def route(x, wg, k, mode, bias=None):
    if mode == "softmax_topk" or mode == "topk_softmax":
        bias = None
    elif mode != "sigmoid_bias":
        raise ValueError(f"no mode {mode}")
    wide = torch.promote_types(torch.float32, x.dtype)
    rows, picks, gates = [], [], []
    for token in x.to(wide).unbind(0):
        logits = token @ wg.to(wide)
        p = torch.sigmoid(logits) if mode == "sigmoid_bias" else torch.softmax(logits, 0)
        left = (p if mode == "sigmoid_bias" else logits).detach().clone()
        if bias is not None:
            left = left + bias.to(wide)
        chosen = []
        for _ in range(k):
            best = left.argmax()
            chosen.append(best)
            left = torch.where(torch.arange(len(left), device=left.device) == best, float("-inf"), left)
        pick = torch.stack(chosen)
        gate = p[pick]
        if mode == "topk_softmax":
            gate = torch.softmax(logits[pick], 0)
        elif mode == "sigmoid_bias":
            gate = gate / gate.sum()
        rows.append(p), picks.append(pick), gates.append(gate)
    return torch.stack(gates).to(x.dtype), torch.stack(picks), torch.stack(rows).to(x.dtype)
