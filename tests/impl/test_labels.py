"""Each edge case of a challenge has a label of its own: what is known of one must not be taken for another's."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from attncli.judge.folder import Folder
from attncli.judge.sampling import edge_functions

FOLDERS = sorted(path.parent for path in (Path(__file__).parent.parent.parent / "impl").glob("*/*/inputs.py"))


@pytest.mark.parametrize("path", FOLDERS, ids=lambda path: path.name)
def test_labels_of_edge_cases_differ(path):
    labels = Counter(label for label, _, _ in edge_functions(Folder({"id": path.name}, path)))
    assert [label for label, count in labels.items() if count > 1] == []
