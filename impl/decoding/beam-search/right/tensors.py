"""The textbook form: ids and sums as tensors, topk over the flattened sums, index // V and index % V."""
import torch


def beam_search(step_fn, bos, eos, beam, max_len, alpha):
    ids, sums = torch.tensor([[bos]]), torch.zeros(1, dtype=torch.float64)
    results = []
    for _ in range(max_len):
        total = sums[:, None] + step_fn(ids).double()
        V = total.shape[1]
        width = min(beam - len(results), int(total.isfinite().sum()))
        order = torch.sort(total.view(-1), descending=True, stable=True)
        top, index = order.values[:width], order.indices[:width]
        ids = torch.cat([ids[index // V], (index % V)[:, None]], dim=1)
        ended = ids[:, -1] == eos
        results += [(row.tolist()[1:], value.item()) for row, value in zip(ids[ended], top[ended])]
        ids, sums = ids[~ended], top[~ended]
        if not len(ids):
            break
    results += [(row.tolist()[1:], value.item()) for row, value in zip(ids, sums)]
    penalised = [(row, value / ((5 + len(row)) / 6) ** alpha) for row, value in results]
    penalised.sort(key=lambda pair: pair[1], reverse=True)
    return penalised
