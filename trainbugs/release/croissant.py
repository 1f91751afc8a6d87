"""croissant.json: the release in the words of Croissant 1.1, with the fields for responsible AI.

The terms are those of https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html and
croissant-rai-spec.html.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trainbugs.release.about import About
from trainbugs.release.tables import Table

Node = dict[str, Any]
# Terms of a document: the namespaces cr and rai, and what is written without a prefix.
CR = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject",
    "fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField",
    "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator",
    "source", "subField", "transform",
)  # fmt: skip
CONTEXT: Node = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{term: f"cr:{term}" for term in CR},
}
TYPES = {"string": "sc:Text", "Int64": "sc:Integer", "Float64": "sc:Float", "boolean": "sc:Boolean"}
RESPONSIBLE = {
    "dataCollection": (
        "Bugs were found in public issues, pull requests, forums and papers, and rebuilt as small "
        "programs. Records were made by running both variants of each in pinned environments."
    ),
    "dataCollectionType": ["Software Collection", "Experiments", "Secondary Data Analysis"],
    "dataCollectionRawData": "The linked reports; they are not part of the data set.",
    "dataPreprocessingProtocol": "None: records are as the programs wrote them.",
    "dataAnnotationProtocol": (
        "Location, cause, effect, stage, trigger and site of each fault were chosen once, with the "
        "help of large language models; a program checks trigger and site against scripts and "
        "records. No agreement between readers has been measured."
    ),
    "dataAnnotationPlatform": (
        "None: files in a version-controlled repository, reviewed as code is."
    ),
    "machineAnnotationTools": [
        "Programs, texts and labels were written with the help of large language models, and so "
        "were the readings and audits that checked them."
    ],
    "dataBiases": (
        "Bugs that happen on a CPU, most of them within a minute, that were reported in "
        "English and in public, and that somebody understood. How often a kind of bug is here "
        "says nothing of how often it is in the field."
    ),
    "dataUseCases": (
        "Evaluation of detectors of silent training bugs, fault localisation, teaching. Not for "
        "training a detector that is then evaluated on it."
    ),
    "dataLimitations": (
        "Small models and data. What a GPU alone shows is nearly absent. All programs are public: "
        "a detector may have been fitted to them."
    ),
    "dataSocialImpact": (
        "Detectors that are compared fairly waste less computation. No harm is known of."
    ),
    "personalSensitiveInformation": (
        "Public names of the authors of reports, as their licences and courtesy ask for; nothing "
        "else."
    ),
    "dataReleaseMaintenancePlan": (
        "Bugs are added and retired, never silently changed; the changelog says what. Records are "
        "made again where an environment changes."
    ),
}


@dataclass(frozen=True)
class File:
    """A file of the release: its place, its hash and size, and what kind it is."""

    place: str
    sha256: str
    size: int
    kind: str


def croissant(about: About, tables: Sequence[Table], files: Sequence[File]) -> Node:
    """The whole document; each table is read from its file of Parquet."""
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": "trainbugs",
        "description": (
            f"{about.title}. Programs in two variants, with oracle, ground truth, and records of "
            "all runs."
        ),
        "conformsTo": [
            "http://mlcommons.org/croissant/1.1",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "url": about.url,
        "version": about.version,
        "datePublished": about.day,
        "license": "https://spdx.org/licenses/MIT.html",
        "creator": [{"@type": "sc:Organization", "name": name} for name in about.authors],
        "keywords": ["silent bugs", "deep learning", "PyTorch", "benchmark", "fault detection"],
        "citeAs": f"{', '.join(about.authors)}: {about.title}, version {about.version}",
        "isLiveDataset": False,
        **{f"rai:{name}": value for name, value in RESPONSIBLE.items()},
        "distribution": [_file(file) for file in files],
        "recordSet": [_records(table) for table in tables],
    }


def _file(file: File) -> Node:
    return {
        "@type": "cr:FileObject",
        "@id": file.place,
        "name": file.place,
        "contentUrl": file.place,
        "contentSize": f"{file.size} B",
        "encodingFormat": file.kind,
        "sha256": file.sha256,
    }


def _records(table: Table) -> Node:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{table.name}/{name}",
            "name": name,
            "description": about,
            "dataType": TYPES[str(table.frame.dtypes[name])],
            "source": {
                "fileObject": {"@id": f"data/{table.name}.parquet"},
                "extract": {"column": name},
            },
        }
        for name, about in table.columns.items()
    ]
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.row,
        "field": fields,
    }
