"""One path for all modes: scores choose, potentials weigh."""
import torch


def route(x, wg, k, mode, bias=None):
    wide = torch.promote_types(x.dtype, torch.float32)
    logits = torch.matmul(x.to(wide), wg.to(wide))
    score = {"softmax_topk": torch.softmax, "topk_softmax": torch.softmax}.get(mode)
    if score is not None:
        probs, pull = score(logits, -1), 0.0
    elif mode == "sigmoid_bias":
        probs, pull = logits.sigmoid(), 0.0 if bias is None else bias.to(wide)
    else:
        raise ValueError("unknown mode")
    _, idx = torch.topk((probs if mode == "sigmoid_bias" else logits) + pull, k)
    hot = torch.zeros_like(probs).scatter(1, idx, 1.0)
    total = 1.0 if mode == "softmax_topk" else (probs * hot).sum(-1, keepdim=True)
    weights = torch.gather(probs / total, 1, idx)
    return weights.to(x.dtype), idx, probs.to(x.dtype)
