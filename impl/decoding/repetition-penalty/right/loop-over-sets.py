"""Loops over rows and their sets of ids."""


def repetition_penalty(logits, ids, penalty):
    out = logits.clone()
    for row, history in zip(out, ids.tolist()):
        for token in set(history):
            row[token] = row[token] / penalty if row[token] > 0 else row[token] * penalty
    return out
