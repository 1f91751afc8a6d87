"""The committed JSON schemas are those of the structs."""

from trainbugs import schemas


def test_the_committed_schemas_are_those_of_the_structs():
    committed = {path.name: path.read_text() for path in schemas.FOLDER.glob("*.json")}
    assert committed == schemas.texts(), "run `python -m trainbugs.schemas`"
