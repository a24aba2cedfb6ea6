"""Compare the policy loss with a loop over single tokens, and check the identities between its options."""

from __future__ import annotations

import math
from itertools import product

import pytest
import torch

from tests.impl.conftest import IMPL, load

policy_loss = load(IMPL / "alignment/policy-loss/reference.py").policy_loss
SWITCHES = list(product(("token", "sequence"), ("token", "sequence", "const"), (False, True)))


def one_by_one(logp, old, adv, mask, ratio, agg, cispo, low=0.2, high=0.3):
    rows = []
    for n in range(len(logp)):
        places = [t for t in range(logp.shape[1]) if mask[n, t]]
        gaps = {t: float(logp[n, t] - old[n, t]) for t in places}
        gains = []
        for t in places:
            r = math.exp(gaps[t] if ratio == "token" else math.fsum(gaps.values()) / len(places))
            a = float(adv[n])
            clipped = min(max(r, 1 - low), 1 + high)
            gains.append(min(r, 1 + high) * a * float(logp[n, t]) if cispo else min(r * a, clipped * a))
        rows.append(gains)
    tokens = sum(map(len, rows))
    if agg == "token":
        return -math.fsum(map(math.fsum, rows)) / max(tokens, 1)
    if agg == "sequence":
        return -math.fsum(math.fsum(gains) / max(len(gains), 1) for gains in rows) / len(rows)
    return -math.fsum(map(math.fsum, rows)) / (len(rows) * logp.shape[1])


@pytest.mark.parametrize(("ratio", "agg", "cispo"), SWITCHES)
def test_each_token_gains_what_it_should(ratio, agg, cispo):
    logp, old = -torch.rand(5, 7, dtype=torch.float64), -torch.rand(5, 7, dtype=torch.float64)
    adv, mask = torch.randn(5, dtype=torch.float64), torch.rand(5, 7) < 0.6
    mask[1] = False
    got = policy_loss(logp, old, adv, mask, ratio, 0.2, 0.3, agg, cispo)
    assert float(got) == pytest.approx(one_by_one(logp, old, adv, mask, ratio, agg, cispo), rel=1e-12)


@pytest.mark.parametrize(("ratio", "agg", "cispo"), SWITCHES)
def test_gradients_at_the_old_policy_are_the_plain_policy_gradient(ratio, agg, cispo):
    old = -torch.rand(3, 4, dtype=torch.float64)
    logp, adv, mask = old.clone().requires_grad_(), torch.randn(3, dtype=torch.float64), torch.ones(3, 4).bool()
    (got,) = torch.autograd.grad(policy_loss(logp, old, adv, mask, ratio, 0.2, 0.3, agg, cispo), logp)
    assert torch.allclose(got, (-adv[:, None] / 12).expand(3, 4), rtol=1e-12)
