"""The textbook form: gather the logits of the history, punish, scatter back."""
import torch


def repetition_penalty(logits, ids, penalty):
    score = torch.gather(logits, 1, ids)
    score = torch.where(score < 0, score * penalty, score / penalty)
    return logits.scatter(1, ids, score)
