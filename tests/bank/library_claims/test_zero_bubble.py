"""Simulate 1F1B and PyTorch's ZB-V schedule and compare them with the numbers of dist-19."""

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch

from .conftest import says


class Action(NamedTuple):
    """One operation: the chunk of layers it runs, its kind (F, I or W) and its micro-batch."""

    chunk: int
    computation_type: str
    microbatch_index: int


Order = list[list[Action]]
Times = dict[str, float]


def one_f_one_b(gpus: int, micro_batches: int) -> Order:
    """Return 1F1B's order for each GPU, the backward pass written as I and W in succession."""
    order = []
    for gpu in range(gpus):
        warm_up = gpus - gpu
        actions = [Action(gpu, "F", n) for n in range(warm_up)]
        for n in range(micro_batches):
            actions += [Action(gpu, "I", n), Action(gpu, "W", n)]
            actions += [Action(gpu, "F", n + warm_up)] if n + warm_up < micro_batches else []
        order.append(actions)
    return order


def zb_v(gpus: int, micro_batches: int) -> Order:
    """Return the order that PyTorch's `ScheduleZBVZeroBubble` computes for each GPU.

    The method is compiled alone from PyTorch's source, because importing the package takes seconds.
    """
    source = Path(torch.__file__).parent / "distributed" / "pipelining" / "schedules.py"
    classes = [node for node in ast.parse(source.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)]
    body = next(node.body for node in classes if node.name == "ScheduleZBVZeroBubble")
    name = "_calculate_single_rank_operations"
    methods: list[ast.stmt] = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]
    scope: dict[str, Any] = {"_Action": Action, "F": "F", "I": "I", "W": "W"}
    exec(compile(ast.Module(methods, []), str(source), "exec"), scope)
    schedule = SimpleNamespace(pp_group_size=gpus, num_stages=2 * gpus, _n_microbatches=micro_batches)
    return [[action for action in scope[name](schedule, gpu) if action] for gpu in range(gpus)]


def needed(action: Action, chunks: int) -> Action | None:
    """Return the action whose result this one waits for, or None for the first chunk's forward pass."""
    chunk, kind, micro_batch = action
    if kind == "F":
        return Action(chunk - 1, "F", micro_batch) if chunk else None
    if kind == "W":
        return Action(chunk, "I", micro_batch)
    return Action(chunk + 1, "I", micro_batch) if chunk < chunks - 1 else Action(chunk, "F", micro_batch)


def simulate(order: Order, times: Times) -> tuple[list[float], float]:
    """Return each GPU's idle time between its first and last action, and the time of the whole step."""
    chunks = 1 + max(action.chunk for actions in order for action in actions)
    ends: dict[Action, float] = {}
    position, clock, first, idle = ([0] * len(order), *([0.0] * len(order) for _ in range(3)))
    while any(at < len(actions) for at, actions in zip(position, order, strict=True)):
        before = sum(position)
        for gpu, actions in enumerate(order):
            while position[gpu] < len(actions):
                action = actions[position[gpu]]
                source = needed(action, chunks)
                if source is not None and source not in ends:
                    break
                start = max(clock[gpu], ends[source] if source else 0.0)
                if position[gpu] == 0:
                    first[gpu] = start
                clock[gpu] = ends[action] = start + times[action.computation_type]
                position[gpu] += 1
        assert sum(position) > before, "deadlock"
    for gpu, actions in enumerate(order):
        idle[gpu] = clock[gpu] - first[gpu] - sum(times[action.computation_type] for action in actions)
    return idle, max(clock)


def peaks(order: Order) -> list[int]:
    """Return the largest number of chunk activations that each GPU keeps from F until W."""
    result = []
    for actions in order:
        kept, most = 0, 0
        for action in actions:
            kept += {"F": 1, "I": 0, "W": -1}[action.computation_type]
            most = max(most, kept)
        result.append(most)
    return result


def messages(order: Order) -> int:
    """Return how many activations and gradients one micro-batch sends between GPUs."""
    gpu_of = {action.chunk: gpu for gpu, actions in enumerate(order) for action in actions}
    return 2 * sum(gpu_of[chunk] != gpu_of[chunk + 1] for chunk in range(len(gpu_of) - 1))


STAGE: Times = {"F": 2, "I": 2 + 2, "W": 0}
"""1F1B: a stage is two chunks, and its gradient is sent after the whole backward pass."""
EQUAL: Times = {"F": 1, "I": 1, "W": 1}


def test_dist_19_idle_time_step_and_peaks_of_8_gpus_and_32_micro_batches() -> None:
    says("dist-19", "| idle on GPU 1 | 42 (21.9 %) | 0 |", "| 1 号卡的空闲 | 42（21.9 %） | 0 |")
    says("dist-19", "if all wait at the optimiser | 234 | 199 |", "（优化器处全体等齐） | 234 | 199 |")
    idle, step = simulate(one_f_one_b(8, 32), STAGE)
    assert (idle[0], step) == (42, 234) and 100 * idle[0] / 192 == pytest.approx(21.9, abs=0.05)
    idle, step = simulate(zb_v(8, 32), EQUAL)
    assert (idle, step) == ([0] * 8, 199)
    says("dist-19", "in micro-batches of one stage | 8 / 4 / 1 | 8 / 8 / 8 |", "| 8 / 4 / 1 | 8 / 8 / 8 |")
    assert peaks(one_f_one_b(8, 32)) == [8, 7, 6, 5, 4, 3, 2, 1]
    assert peaks(zb_v(8, 32)) == [2 * 8] * 8
    says("dist-19", "With 1 : 1.4 : 0.6 instead of 1 : 1 : 1", "换成 1 : 1.4 : 0.6", "5.8 %")
    idle, _ = simulate(zb_v(8, 32), {"F": 1, "I": 1.4, "W": 0.6})
    assert 100 * idle[0] / 192 == pytest.approx(5.8, abs=0.05) and idle[0] == pytest.approx(11.2)


def test_dist_19_the_statements_hold_from_2p_minus_1_micro_batches_on() -> None:
    says("dist-19", "m ≥ 2p − 1", "the first GPU is idle for (p − 1)/m of its working time", "(p − 1)/m。")
    says("dist-19", "4(p − 1) messages instead of 2(p − 1)", "4(p − 1) 条消息，而 1F1B 是 2(p − 1) 条")
    for gpus, micro_batches in ((2, 3), (4, 7), (4, 12), (8, 15)):
        plain, v = one_f_one_b(gpus, micro_batches), zb_v(gpus, micro_batches)
        assert simulate(plain, STAGE)[0][0] == pytest.approx((gpus - 1) / micro_batches * 6 * micro_batches)
        assert simulate(v, EQUAL)[0] == [0] * gpus
        assert peaks(v) == [2 * gpus] * gpus and peaks(plain) == list(range(gpus, 0, -1))
        assert (messages(v), messages(plain)) == (4 * (gpus - 1), 2 * (gpus - 1))
