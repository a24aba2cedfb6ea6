"""Without P: every choice (i, j) takes the mean probability of its expert; the mean of all of them is Σ f·P."""



def switch_aux_loss(probs, idx, alpha):
    p = probs.float() if probs.element_size() == 2 else probs
    mean = p.sum(dim=0, keepdim=True) / p.shape[0]
    taken = mean.expand_as(p).gather(1, idx)
    return (taken.mean() * (alpha * p.shape[1])).to(probs.dtype)
