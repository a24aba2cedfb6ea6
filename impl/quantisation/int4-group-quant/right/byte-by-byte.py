"""Plain numbers, one byte after the other, by modulo 16."""

import torch


def quantize_int4(w, group):
    O, I = w.shape
    if I % 2 != 0 or I % group != 0:
        raise ValueError("the row is odd or no multiple of the group")
    wide = torch.promote_types(w.dtype, torch.float32)
    packed = torch.empty(O, I // 2, dtype=torch.uint8, device=w.device)
    scales = torch.empty(O, I // group, dtype=wide, device=w.device)
    for o, row in enumerate(w.double().tolist()):
        steps = [max(abs(x) for x in row[at : at + group]) / 7 for at in range(0, I, group)]
        codes = [round(x / (steps[i // group] or 1.0)) % 16 for i, x in enumerate(row)]
        packed[o] = torch.tensor([codes[2 * j] + 16 * codes[2 * j + 1] for j in range(I // 2)], dtype=torch.uint8)
        scales[o] = torch.tensor(steps, dtype=wide)
    return packed, scales
