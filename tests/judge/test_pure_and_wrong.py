"""Code without state is never reported as stateful, however wrong its values are."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from attncli.judge.challenge import Folder
from in_process import check, grade

pytestmark = pytest.mark.usefixtures("one_thread")

IMPL = Path(__file__).parents[2] / "impl"
WRONG = [
    "attention/sdpa/no-scale",
    "attention/sdpa/divides-by-d",
    "attention/sdpa/mask-inverted",
    "attention/sdpa/mask-after-softmax",
    "attention/sdpa/softmax-over-queries",
    "attention/sdpa/nan-rows",
    "attention/softmax-stable/always-last-dim",
    "attention/softmax-stable/global-max",
    "attention/softmax-stable/sum-over-everything",
    "cache/gqa/wrong-order-of-heads",
    "cache/gqa/no-scale",
    "cache/gqa/top-left-mask",
    "norms/layer-norm/unbiased-variance",
    "norms/layer-norm/statistics-over-tokens",
]


@pytest.mark.parametrize("place", WRONG)
def test_wrong_values_are_not_called_impure(place: str) -> None:
    path, name = IMPL / Path(place).parent, Path(place).name
    said = yaml.safe_load((path / "challenge.yaml").read_text(encoding="utf-8"))
    required = ["loads", "matches-reference", "edge-cases", "stable", "pure"]
    spec = {"id": path.name, "entry": said["entry"], "required": required}
    report = grade(Folder(spec, path), (path / "wrong" / f"{name}.py").read_text(encoding="utf-8"))
    failed = [item for item in report["checks"] if item["status"] == "fail"]
    pure = check(report, "pure")
    assert pure["status"] in ("pass", "skipped"), pure["message"]
    assert failed and all(item["reason"] in ("values", "not-finite", "exception") for item in failed)


@pytest.mark.parametrize("place", ["attention/softmax-stable/reused-buffer", "attention/sdpa/scales-query-in-place"])
def test_what_is_kept_is_still_found(place: str) -> None:
    path, name = IMPL / Path(place).parent, Path(place).name
    said = yaml.safe_load((path / "challenge.yaml").read_text(encoding="utf-8"))
    spec = {"id": path.name, "entry": said["entry"], "required": ["loads", "pure"]}
    report = grade(Folder(spec, path), (path / "wrong" / f"{name}.py").read_text(encoding="utf-8"))
    assert check(report, "pure")["status"] == "fail"
