"""The pages in docs/ and at the root: line lengths, and the paths and sections they name."""

import re
from pathlib import Path

import pytest

from eyecast.model.program.file import _File, _Node, _Row

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LONGEST_LINE = 100
"""Characters of a text line at most; lines of tables are exempt."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lines_fit(page: Path) -> None:
    lines = [line for line in page.read_text().splitlines() if not line.startswith("|")]
    assert [line for line in lines if len(line) > LONGEST_LINE] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_are_where_a_page_says(page: Path) -> None:
    code = re.findall(r"`([^`\n]+)`", page.read_text())
    top = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"build"}
    paths = [text for text in code if text.split("/")[0] in top and "*" not in text]
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def entries() -> list[str]:
    """Return the entries of the glossary, with their lines."""
    text = (ROOT / "docs" / "words.md").read_text()
    return re.findall(r"^- (?:.*\n)(?:  .*\n)*", text, flags=re.MULTILINE)


def test_words_are_in_order_and_short() -> None:
    words = [re.findall(r"^- \*\*(.+?)\*\*: ", entry)[0] for entry in entries()]
    assert words == sorted(words, key=str.lower)
    assert [entry for entry in entries() if entry.count("\n") > 2] == []


def test_sections_of_the_contract_that_are_cited() -> None:
    contract = (ROOT / "docs" / "router.md").read_text()
    there = set(re.findall(r"^## (\d+)\.", contract, flags=re.MULTILINE))
    names = set(re.findall(r"^### (.+)$|^\*\*(.+?)\.\*\*", contract, flags=re.MULTILINE))
    names = {heading or opening for heading, opening in names}
    folders = [path for path in ROOT.iterdir() if path.name not in ("build", ".venv", ".git")]
    cited = {
        (path.relative_to(ROOT).as_posix(), numbers, name)
        for folder in folders
        for path in (folder.rglob("*") if folder.is_dir() else [folder])
        if path.suffix in {".py", ".md", ".v"}
        for numbers, name in re.findall(
            r'router\.md`?,?\s+(?:sections? )?(\d+(?:(?:, | and )\d+)*)(?:, "([^"]+)")?',
            path.read_text(),
        )
    }
    assert len(cited) > 30
    assert {each for each in cited if not set(re.findall(r"\d+", each[1])) <= there} == set()
    assert {each for each in cited if each[2] and each[2] not in names} == set()


def test_the_guide_names_every_key_of_a_program_file() -> None:
    text = (ROOT / "docs" / "guides" / "files.md").read_text()
    _, _, here = text.partition("## Program files")
    named = {*re.findall(r"`(\w+)`", here.partition("\n## ")[0])}
    keys = {*_Row.__struct_fields__, *_Node.__struct_fields__, *_File.__struct_fields__}
    assert keys <= named
