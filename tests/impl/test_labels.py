"""Each edge case of a challenge has a label of its own: what is known of one must not be taken for another's."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from attncli.judge.challenge import Folder, edge_functions

FOLDERS = sorted(path.parent for path in (Path(__file__).parent.parent.parent / "impl").glob("*/*/inputs.py"))


@pytest.mark.parametrize("path", FOLDERS, ids=lambda path: path.name)
def test_labels_of_edge_cases_differ(path):
    labels = Counter(label for label, _, _ in edge_functions(Folder({"id": path.name}, path)))
    assert [label for label, count in labels.items() if count > 1] == []


@pytest.mark.parametrize("path", FOLDERS, ids=lambda path: path.name)
def test_every_edge_case_has_a_label_in_chinese_too(path):
    folder = Folder({"id": path.name}, path)
    chinese = folder.labels_in_chinese
    english = [label for label, _, _ in edge_functions(folder)]
    assert [label for label in english if not re.search("[\u4e00-\u9fff]", chinese.get(label, ""))] == []
    assert [label for label in english if re.search("[\u4e00-\u9fff]", label)] == []
    assert len(set(chinese.values())) == len(english), "each has one of its own"
