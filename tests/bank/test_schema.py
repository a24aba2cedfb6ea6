import json
import subprocess
import sys

from attncli.bank.schema import SHAPES, json_schema
from attncli.domain.vocabulary import KINDS
from attncli.paths import bundled_quizbank


def test_the_schema_file_is_what_the_command_prints() -> None:
    kept = json.loads((bundled_quizbank() / "schema.json").read_text(encoding="utf-8"))
    command = [sys.executable, "-m", "attncli.bank", "schema"]
    printed = subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout
    assert kept == json.loads(printed), "run python -m attncli.bank schema > quizbank/schema.json"


def test_every_kind_has_a_shape_and_every_reference_exists() -> None:
    schema = json_schema()
    assert tuple(SHAPES) == KINDS and len(schema["properties"]["cards"]["items"]["oneOf"]) == len(KINDS)
    names = {part.split('"')[0] for part in json.dumps(schema).split("#/$defs/")[1:]}
    assert names <= schema["$defs"].keys()
