"""Require unique labels for the edge cases of a challenge, so that stored results are not mixed up."""

import re
from pathlib import Path

from attncli.judge.challenge import Folder, edge_functions

FOLDERS = sorted(path.parent for path in (Path(__file__).parent.parent.parent / "impl").glob("*/*/inputs.py"))
CHINESE = re.compile("[\u4e00-\u9fff]")


def test_each_edge_case_has_a_label_of_its_own_in_both_languages():
    for path in FOLDERS:
        folder = Folder({"id": path.name}, path)
        chinese, english = folder.labels_in_chinese, [label for label, _, _ in edge_functions(folder)]
        assert len(set(english)) == len(set(chinese.values())) == len(english), path.name
        assert all(CHINESE.search(chinese.get(label, "")) for label in english), path.name
        assert not any(map(CHINESE.search, english)), path.name
