"""Handle the workers of a fake cluster: lost, unfit or missing ones."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from attncli.cohort import ray_judges
from attncli.cohort.outcomes import stored_result, versions
from attncli.cohort.ray_judges import ClusterOptions, Fitness, GradingActor, grade_on_cluster
from attncli.errors import ClusterFailed, EnvironmentFailure, JudgeFailed, UsageError
from attncli.i18n import quoted
from attncli.sandbox.policy import LAYERS

from .conftest import DEADLY, report_on, task

OPTIONS = ClusterOptions(address="head:6379", memory_mib=256)


class RayError(Exception):
    pass


class RayActorError(RayError):
    actor_init_failed = False


class RayTaskError(RayError):
    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Cluster(ModuleType):
    """A fake `ray` module with a cluster of two cores; a call runs when its result is requested."""

    def __init__(self, actor: Callable[[], Any]) -> None:
        super().__init__("ray")
        self.exceptions = SimpleNamespace(RayError=RayError, RayActorError=RayActorError, RayTaskError=RayTaskError)
        self.actor = actor
        self.asked: dict[str, Any] = {}
        self.log: list[str] = []
        self.put = lambda value: self.log.append("put") or value
        self.kill = lambda actor: self.log.append("kill")
        self.shutdown = lambda: self.log.append("shutdown")
        self.get = lambda ref: ref()
        self.cluster_resources = lambda: {"CPU": 2.0}

    def init(self, **options: Any) -> None:
        print("ray says something")
        self.log.append(f"init {options['address']}")

    def remote(self, **resources: Any) -> Callable[[type], Any]:
        self.asked = resources
        return lambda kind: SimpleNamespace(remote=lambda: _Handle(self.actor()))

    def wait(self, refs: list[Any], num_returns: int, timeout: float | None) -> tuple[list[Any], list[Any]]:
        return refs[:num_returns], refs[num_returns:]


class _Handle:
    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._actor, name)
        return SimpleNamespace(remote=lambda *given: partial(method, *given))


class Actor:
    """An actor that grades at once; `losses` counts the actors that are lost before they answer."""

    losses = 0
    fit = Fitness(versions(), LAYERS)

    def fitness(self) -> Fitness:
        return self.fit

    def grade(self, fingerprint: str, files: Any, request: Any) -> Any:
        if request.source == DEADLY or type(self).losses > 0:
            type(self).losses -= 1
            raise RayActorError("the node died\nand more")
        return stored_result(report_on(request.source)), ""


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Cluster]:
    def install(actor: Callable[[], Any]) -> Cluster:
        cluster = Cluster(actor)
        monkeypatch.setitem(sys.modules, "ray", cluster)
        monkeypatch.setattr(ray_judges.socket, "create_connection", lambda place, timeout: SimpleNamespace(close=int))
        return cluster

    return install


def test_one_grading_is_one_call_with_a_core_and_the_memory_that_it_may_fill(play, capsys, monkeypatch) -> None:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")
    cluster = play(Actor)
    tasks = [task(f"p{number}", id) for number in range(3) for id in ("double", "triple")]
    outcomes = list(grade_on_cluster(tasks, OPTIONS))
    assert {outcome.task.pair for outcome in outcomes} == {each.pair for each in tasks} and len(outcomes) == 6
    assert cluster.asked == {"num_cpus": 1, "memory": 512 * 2**20, "max_restarts": 0}
    assert cluster.log.count("put") == 2 and (cluster.log[0], cluster.log[-1]) == ("init head:6379", "shutdown")
    assert capsys.readouterr().out == ""
    assert ray_judges.os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


def test_the_task_of_a_lost_worker_is_graded_by_another_and_given_up_after_three(play) -> None:
    class Unlucky(Actor):
        losses = 2

    play(Unlucky)
    outcomes = list(grade_on_cluster([task("a"), task("b")], OPTIONS))
    assert sorted(outcome.task.submission.learner for outcome in outcomes) == ["a", "b"]
    assert all(outcome.graded for outcome in outcomes)
    play(Actor)
    found = {o.task.submission.learner: o for o in grade_on_cluster([task("m", source=DEADLY), task("b")], OPTIONS)}
    assert found["m"].error == "its worker was lost 3 times (the node died)" and found["b"].graded


def test_a_worker_of_another_version_or_without_the_whole_sandbox_is_refused_unless_told(play) -> None:
    def install(*fit: Any) -> None:
        play(type("Unfit", (Actor,), {"fit": Fitness(*fit)}))

    install({**versions(), "attncli": "0.0.1"}, LAYERS)
    with pytest.raises(ClusterFailed, match=r"different versions \(attncli 0.0.1, here "):
        list(grade_on_cluster([task("a")], OPTIONS))
    install(versions(), ("process", "rlimits"))
    with pytest.raises(ClusterFailed, match=r"lacks sandbox layers \(landlock, seccomp, namespaces\)"):
        list(grade_on_cluster([task("a")], OPTIONS))
    weak = ClusterOptions(address="head:6379", memory_mib=256, weak_sandbox=True)
    assert len(list(grade_on_cluster([task("a")], weak))) == 1


def test_workers_that_cannot_grade_end_the_run(play) -> None:
    untorched = RayTaskError(JudgeFailed(quoted("grading needs PyTorch")))
    for error, at, kind, says in (
        (untorched, "fitness", JudgeFailed, "PyTorch"),
        (RayTaskError(KeyError("x")), "grade", ClusterFailed, "a worker failed"),
        (RayActorError("No module named 'attncli'"), "fitness", ClusterFailed, r"install attncli\[cluster\]"),
    ):
        play(type("Failing", (Actor,), {at: Mock(side_effect=error)}))
        with pytest.raises(kind, match=says):
            list(grade_on_cluster([task("a")], OPTIONS))


def test_an_address_without_a_cluster_and_a_missing_ray_are_said(play, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**options: Any) -> None:
        raise ConnectionError("refused\nlong story")

    def grade_at(address: str) -> None:
        list(grade_on_cluster([task("a")], ClusterOptions(address=address, memory_mib=256)))

    for address in ("", "local", "head", "head:", ":1", "head:x", "head:70000"):
        with pytest.raises(UsageError, match="is not a running cluster; give HOST:PORT"):
            grade_at(address)
    with pytest.raises(ClusterFailed, match=r"cannot reach a Ray cluster at 127.0.0.1:1 \("):
        grade_at("127.0.0.1:1")
    play(Actor).init = refuse
    with pytest.raises(ClusterFailed, match=r"cannot reach a Ray cluster at head:6379 \(refused\)"):
        grade_at("head:6379")
    play(Actor).wait = lambda refs, num_returns, timeout: ([], refs)
    with pytest.raises(ClusterFailed, match=r"no worker at .* has 1 CPU and 512 MiB free"):
        grade_at("head:6379")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(EnvironmentFailure, match=r"pip install 'attncli\[cluster\]'"):
        grade_at("head:6379")


def test_an_actor_grades_with_the_files_that_it_was_sent(small_impl) -> None:
    folder = small_impl / "basics" / "double"
    files = {"reference.py": (folder / "reference.py").read_bytes(), "wrong/squares.py": b""}
    actor = GradingActor()
    place = actor._folder("abc", files)
    assert {str(path.relative_to(place)) for path in place.rglob("*.py")} == set(files)
    assert actor._folder("abc", {}) == place
