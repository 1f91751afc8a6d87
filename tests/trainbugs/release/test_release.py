"""A release: tables that pandas, `datasets` and mlcroissant read alike,
and a description that holds of them.
"""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml
from support.paths import ROOT
from support.records import as_pinned

from evaluation.reading.load import folder_with
from evaluation.store.committed import CommittedChecks
from runner.bugs.catalog import Catalog
from runner.bugs.config import REWRITTEN
from runner.errors import UsageError
from runner.execution.key import read_scripts
from runner.session.promote import promote_runs
from trainbugs.release.about import About
from trainbugs.release.croissant import RESPONSIBLE
from trainbugs.release.tables import COLUMNS, OPTIONAL, ROWS, tables
from trainbugs.release.write import size_category, write

# Of rewritten programs there need not be any.
REWRITTEN_ONES = CommittedChecks(folder_with(ROOT, REWRITTEN)).rewritten
LEFT_OUT = () if REWRITTEN_ONES else OPTIONAL
NAMES = [name for name in COLUMNS if name not in LEFT_OUT]
ABOUT = About("A benchmark", "0.1.0", "2026-11-23", "urn:trainbugs", ["the authors"])


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release") / "release"
    problems = write(Catalog(ROOT), ABOUT, folder)
    assert not problems.problems
    assert set(problems.rows) == set(NAMES)
    return folder


def run(*command, cwd, home):
    env = {
        "HOME": str(home),
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "PATH": "/usr/bin:/bin",
    }
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, env=env, capture_output=True, text=True, check=True
    ).stdout


def test_words_about_columns_are_true(release):
    """The list of locations is whole, and the seconds of a case are the sum over its runs on a
    CPU.
    """
    frames = {
        name: pd.read_parquet(release / "data" / f"{name}.parquet")
        for name in ("bugs", "cases", "runs")
    }
    assert [
        place
        for place in sorted(set(frames["bugs"].location))
        if place not in COLUMNS["bugs"]["location"]
    ] == []
    assert "together" in COLUMNS["cases"]["seconds"]
    runs = frames["runs"]
    runs_by_case = runs[(runs.device == "cpu") & runs.variant.isin(["buggy", "fixed"])].groupby(
        ["bug", "case"]
    )
    sums = runs_by_case.wall_s.sum()
    cases = frames["cases"].set_index(["bug", "case"]).seconds.dropna()
    several = [case for case in cases.index if len(runs_by_case.get_group(case)) > 1]
    assert len(several) > 50
    for case in several:
        assert cases[case] == pytest.approx(sums[case]), case


@pytest.mark.parametrize("name", NAMES)
def test_both_forms_of_a_table_hold_the_same(release, name):
    parquet = pd.read_parquet(release / "data" / f"{name}.parquet")
    lines = pd.read_json(release / "data" / f"{name}.jsonl", lines=True, dtype=False)
    assert len(parquet) == len(lines) > 0
    assert list(parquet) == list(lines) == list(COLUMNS[name])
    pd.testing.assert_frame_equal(
        parquet.astype(object).where(parquet.notna(), None), lines.astype(object).where(lines.notna(), None),
        check_dtype=False, atol=1e-9,
    )  # fmt: skip


def test_tables_are_of_the_catalogue(release):
    catalog = Catalog(ROOT)
    frames = {name: pd.read_parquet(release / "data" / f"{name}.parquet") for name in NAMES}
    assert list(frames["bugs"].bug) == list(catalog.ids())
    cases = [case for name in catalog.ids() for case in catalog.bug(name).cases.values()]
    assert list(frames["cases"].bug + "/" + frames["cases"].case) == [case.id for case in cases]
    assert set(frames["runs"].bug) == set(catalog.ids())
    assert (frames["runs"].status == "ok").all()
    row = frames["scripts"].query("bug == 'Bolts-654' and variant == 'fixed' and main").iloc[0]
    text = (ROOT / "bugs" / "Bolts-654" / "fixed.py").read_text()
    assert (row.text, row.sha256) == (text, hashlib.sha256(text.encode()).hexdigest())
    variants = [(case, variant) for case in cases for variant in case.program.variants.values()]
    files = [
        name for case, variant in variants for name in read_scripts(catalog.bug(case.bug), variant)
    ]
    assert list(frames["scripts"].file) == files
    assert frames["scripts"].licences.notna().all()
    assert len(json.loads(frames["runs"].metrics[0])) == frames["runs"].records[0]


@pytest.mark.stress
def test_pandas_and_datasets_read_it_in_two_lines_without_a_network(release, tmp_path):
    card = (release / "README.md").read_text()
    code = card.partition("```python\n")[2].partition("```")[0]
    process = run(
        "-c", f"{code}\nprint(len(bugs), scripts.num_rows)", cwd=release.parent, home=tmp_path
    )
    sizes = [
        len(pd.read_parquet(release / "data" / f"{name}.parquet")) for name in ("bugs", "scripts")
    ]
    assert process.split() == [str(size) for size in sizes]


def test_the_hub_knows_the_words_of_its_card(release):
    """The lists of the hub are those that come with the package `datasets`."""
    from datasets.utils import metadata, resources

    folder = Path(resources.__file__).parent
    known_sizes = json.loads((folder / "size_categories.json").read_text())
    known_languages = json.loads((folder / "languages.json").read_text())
    card = yaml.safe_load((release / "README.md").read_text().split("---\n")[1])
    rows = sum(len(pd.read_parquet(path)) for path in (release / "data").glob("*.parquet"))
    assert card["size_categories"] == [size_category(rows)]
    assert set(card["size_categories"]) <= set(known_sizes)
    assert card["task_categories"] == ["other"]
    assert set(card["task_categories"]) <= set(metadata.known_task_ids)
    assert set(card["language"]) == {"en", "code"} <= set(known_languages)
    assert "pytorch" in card["tags"]
    assert all(re.fullmatch(r"[a-z-]+", tag) for tag in card["tags"])
    assert [config["config_name"] for config in card["configs"]] == NAMES


@pytest.mark.parametrize(
    "rows, category",
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (18_292, "10K<n<100K"), (10**7, "10M<n<100M")],
)
def test_a_size_is_the_category_of_so_many_rows(rows, category):
    assert size_category(rows) == category


def test_its_pages_link_to_nothing_that_it_lacks(release):
    for path in release.glob("*.md"):
        for target in re.findall(r"\]\(([^)]+)\)", path.read_text()):
            if not target.startswith(("http", "#")):
                assert (release / target.partition("#")[0]).is_file(), (path.name, target)
    licences = (release / "LICENSES.md").read_text()
    assert "Taxonomy (`docs/taxonomy.md` of the repository)" in licences
    assert "[LICENSE](LICENSE)" in licences


@pytest.mark.stress
def test_its_description_is_valid_and_reads_every_table(release, tmp_path):
    code = """
import mlcroissant, sys
found = mlcroissant.Dataset("croissant.json")
issues = found.metadata.ctx.issues
assert not issues.errors and not issues.warnings, issues.report()
for name in sys.argv[1:]:
    print(sum(1 for _ in found.records(name)))
"""
    process = run("-c", code, *NAMES, cwd=release, home=tmp_path)
    assert process.split() == [
        str(len(pd.read_parquet(release / "data" / f"{name}.parquet"))) for name in NAMES
    ]


@pytest.mark.stress
def test_a_description_that_is_wrong_is_found(release, tmp_path):
    document = json.loads((release / "croissant.json").read_text())
    document["recordSet"][0]["field"][0]["source"]["fileObject"] = {"@id": "data/gone.parquet"}
    (tmp_path / "croissant.json").write_text(json.dumps(document))
    with pytest.raises(subprocess.CalledProcessError):
        run(
            "-c",
            "import mlcroissant; mlcroissant.Dataset('croissant.json')",
            cwd=tmp_path,
            home=tmp_path,
        )


def test_it_says_what_responsible_use_asks_for(release):
    document = json.loads((release / "croissant.json").read_text())
    assert document["conformsTo"] == [
        "http://mlcommons.org/croissant/1.1",
        "http://mlcommons.org/croissant/RAI/1.0",
    ]
    assert all(document[f"rai:{name}"] for name in RESPONSIBLE)
    fields = {
        field["name"]: field["description"]
        for record_set in document["recordSet"]
        for field in record_set["field"]
    }
    assert all(fields.values())
    assert {record_set["description"] for record_set in document["recordSet"]} == {
        ROWS[name] for name in NAMES
    }


def test_every_file_has_its_sum(release):
    sums = dict(
        reversed(line.split("  ")) for line in (release / "SHA256SUMS").read_text().splitlines()
    )
    files = {
        path.relative_to(release).as_posix(): path for path in release.rglob("*") if path.is_file()
    }
    assert set(sums) == set(files) - {"SHA256SUMS"}
    assert all(
        hashlib.sha256(files[name].read_bytes()).hexdigest() == value
        for name, value in sums.items()
    )
    assert {"LICENSE", "LICENSES.md", "DATASHEET.md", "README.md"} <= set(sums)


def test_the_same_catalogue_gives_the_same_files(toy, tmp_path):
    promote_runs([as_pinned(toy.run())])
    sums = []
    for name in ("a", "b"):
        write(toy.catalog, ABOUT, tmp_path / name)
        sums.append((tmp_path / name / "SHA256SUMS").read_text())
    assert sums[0] == sums[1]
    write(toy.catalog, ABOUT, tmp_path / "a")


def test_what_has_no_value_is_empty(toy):
    release_tables, problems = tables(toy.catalog)
    frames = {table.name: table.frame for table in release_tables}
    assert not problems
    assert len(frames["bugs"]) == 1
    assert frames["runs"].empty
    assert frames["outcomes"].empty
    assert str(frames["bugs"].retired.dtype) == "string"
    assert frames["bugs"].retired.isna().all()


def test_it_replaces_a_release_and_nothing_else(cli, toy, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.txt").write_text("")
    status, _, err = cli("export", "--out", folder)
    assert (status, err) == (
        2,
        f"trainbugs: {folder} is there, and is no release; name a new folder by --out\n",
    )
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]
    with pytest.raises(UsageError, match="is no release"):
        write(toy.catalog, ABOUT, folder / "thesis.txt")


def test_the_command(cli, toy, tmp_path):
    promote_runs([as_pinned(toy.run())])
    status, out, _ = cli("export", "--out", tmp_path / "out", "--url", "https://example.org")
    assert status == 0
    assert out.startswith(f"release: {tmp_path / 'out'} (1 bugs, 1 cases,")
    document = json.loads((tmp_path / "out" / "croissant.json").read_text())
    assert document["url"] == "https://example.org"
    assert len(document["datePublished"]) == 10
    assert Path(tmp_path / "out" / "data" / "bugs.parquet").is_file()


def test_the_citation_is_one(tmp_path):
    code = "from cffconvert.cli.cli import cli; cli()"
    process = run(
        "-c", code, "--validate", "-i", str(ROOT / "CITATION.cff"), cwd=tmp_path, home=tmp_path
    )
    assert "valid" in process
