"""Accept correct code in the style of public repositories: float64 in, float32 inside, cast back."""

from pathlib import Path
from typing import Any

import yaml

from attncli.judge.challenge import Folder
from in_process import grade

from .conftest import IMPL, sampled

SOURCES = {
    "norms/rms-norm": """
import torch

def rms_norm(x, weight, eps=1e-6):
    y = x.float()
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + eps)
    return (y * weight.float()).to(x.dtype)
""",
    "attention/softmax-stable": """
import torch

def softmax(x, dim=-1):
    e = torch.exp(x.float() - x.float().amax(dim, keepdim=True).detach())
    return (e / e.sum(dim, keepdim=True)).to(x.dtype)
""",
    "positions/rope": """
import torch

def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    half = x.shape[-1] // 2
    inv_freq = 1.0 / base ** (torch.arange(half, device=x.device).float() * 2 / x.shape[-1])
    angles = positions.float()[..., None] * inv_freq
    cos, sin = (t if t.dim() == 2 else t[:, None] for t in (angles.cos(), angles.sin()))
    y = x.float()
    if layout == "half":
        a, b = y[..., :half], y[..., half:]
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1).to(x.dtype)
    a, b = y[..., 0::2], y[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2).to(x.dtype)
""",
    "peft/pissa-init": """
import torch

def pissa_init(W, r):
    weight = W.float()
    U, S, Vh = torch.linalg.svd(weight, full_matrices=False)
    A = S[:r].sqrt()[:, None] * Vh[:r]
    B = U[:, :r] * S[:r].sqrt()
    return A.to(W.dtype), B.to(W.dtype), (weight - B @ A).to(W.dtype)
""",
    "optimisers/clip-grad-norm": """
import torch

@torch.no_grad()
def clip_grad_norm(grads, max_norm):
    total = torch.stack([g.float().norm(2) for g in grads]).norm(2)
    factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
    return [(g.float() * factor).to(g.dtype) for g in grads], total
""",
    "losses/causal-lm-loss": """
import torch

def lm_loss(logits, ids, loss_mask=None, z_coef=0.0):
    z, labels = logits[:, :-1].float(), ids[:, 1:]
    mask = torch.ones_like(labels).float() if loss_mask is None else loss_mask[:, 1:].float()
    lse = z.logsumexp(-1)
    loss = lse - z.gather(-1, labels[..., None])[..., 0] + z_coef * lse ** 2
    return ((loss * mask).sum() / mask.sum().clamp(min=1)).to(logits.dtype)
""",
    "alignment/ppo-gae": """
import torch

@torch.no_grad()
def gae(rewards, values, dones, last_value, gamma, lam):
    r, v, alive = rewards.float(), values.float(), 1.0 - dones.float()
    running, following, rows = torch.zeros_like(r[:, 0]), last_value.float(), []
    for t in reversed(range(r.shape[1])):
        delta = r[:, t] + gamma * following * alive[:, t] - v[:, t]
        running = delta + gamma * lam * alive[:, t] * running
        following = v[:, t]
        rows.append(running)
    adv = torch.stack(rows[::-1], 1)
    return adv.to(rewards.dtype), (adv + v).to(rewards.dtype)
""",
    "experts/aux-free-balance": """
import torch

@torch.no_grad()
def update_bias(bias, counts, gamma):
    load = counts.float()
    return (bias.float() + gamma * torch.sign(load.mean() - load)).to(bias.dtype)
""",
}


def challenge(place: str) -> Folder:
    said = yaml.safe_load((IMPL / place / "challenge.yaml").read_text(encoding="utf-8"))
    listed: dict[str, Any] = {name: said.get(name, []) for name in ("entry", "required", "forbidden", "cards")}
    return Folder({"id": IMPL.joinpath(place).name, "version": said.get("version", 1), **listed}, IMPL / place)


@sampled((IMPL / place for place in SOURCES), 3)
def test_float32_inside_solves_it(path: Path) -> None:
    place = f"{path.parent.name}/{path.name}"
    report = grade(challenge(place), SOURCES[place], quick=True)
    failed = [
        (check["rung"], check["name"], check["message"]) for check in report["checks"] if check["status"] == "fail"
    ]
    assert report["rung"] != "none", failed
    assert {rung for rung, _, _ in failed} <= {"hardened"}
