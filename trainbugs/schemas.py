"""JSON schemas of the files that people write and programs read, for editors and the docs.

`python -m trainbugs.schemas` rewrites them in docs/schemas.
"""

from pathlib import Path

from evaluation.catalog.controls import Described
from evaluation.catalog.submissions import Submission
from evaluation.model import Description, OwnAnswer
from evaluation.records import CHECK_FORMAT, OverheadRecord
from evaluation.watching.baseline import Baseline
from evaluation.watching.document import WatchDocument
from runner.authoring.table_sources import Tables
from runner.bugs.config import Config
from runner.files.atomic import write_text
from runner.files.structs import schema, text_of
from runner.results.record import RUN_FORMAT, VerdictRecord
from runner.studies.definition import WrittenStudy

FOLDER = Path(__file__).parents[1] / "docs" / "schemas"
SCHEMAS = {
    "config": Config,
    "study": WrittenStudy,
    "tables": Tables,
    "run-record": RUN_FORMAT.flat,
    "verdict": VerdictRecord,
    "detector": Description,
    "controls": Described,
    "submission": Submission,
    "answer": OwnAnswer,
    "check-record": CHECK_FORMAT.flat,
    "overhead-record": OverheadRecord,
    "watch": WatchDocument,
    "baseline": Baseline,
}


def texts() -> dict[str, str]:
    """The text of each schema, by file name."""
    return {f"{name}.json": text_of(schema(kind)) for name, kind in SCHEMAS.items()}


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file, text in texts().items():
        write_text(FOLDER / file, text)
        print(FOLDER / file)
