"""Outputs of some 170 commands, kept and compared: the changes that a user sees.

    python bench/commands.py keep FOLDER          run the commands, keep their outputs and files
    python bench/commands.py compare OLD NEW      print every difference between two such folders

Each command has a folder with its output, its exit status, and its files. Times that depend on the
machine are replaced by a word.
"""

import difflib
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

COMMANDS = Path(__file__).with_suffix(".txt")
FIXTURES = "FIXTURES"
EYECAST = (sys.executable, "-m", "eyecast")
MACHINE = (
    (re.compile(r"^eyecast: (building|compiling) .*\n", re.MULTILINE), ""),
    (re.compile(r"\d+(\.\d+)? (s|seconds|minutes)\b"), "TIME"),
    (re.compile(r'"(seconds|cycles_per_second)": [\d.e+-]+'), r'"\1": TIME'),
)
"""Patterns of output that differs from run to run, and its replacements."""
FILE_DATES = re.compile(rb"<dc:date>.*?</dc:date>|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+")


def commands() -> list[str]:
    """Return the lines of ``commands.txt`` without comments."""
    lines = COMMANDS.read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def name_of(command: str) -> str:
    """Return the folder name of a command: its text, with ``_`` for special characters."""
    return re.sub(r"[^\w.,=-]+", "_", command).strip("_")


def run(command: str, home: Path) -> None:
    """Run one command in its own folder, and keep its output there as ``printed.txt``."""
    folder = home / name_of(command)
    folder.mkdir(parents=True)
    fixtures = home / FIXTURES
    if fixtures.exists():
        (folder / FIXTURES).symlink_to(fixtures.resolve(), target_is_directory=True)
    done = subprocess.run(
        [*EYECAST, *shlex.split(command)], cwd=folder, capture_output=True, text=True, check=False
    )
    (folder / FIXTURES).unlink(missing_ok=True)
    text = f"{done.stdout}--- stderr\n{done.stderr}--- status {done.returncode}\n"
    for pattern, word in MACHINE:
        text = pattern.sub(word, text)
    (folder / "printed.txt").write_text(text)


def make_fixtures(home: Path) -> None:
    """Write the files that other commands read, by running the commands with ``-o NAME.json``."""
    fixtures = home / FIXTURES
    fixtures.mkdir(parents=True)
    for command in commands():
        written = re.search(r"-o (\w+\.json)$", command)
        if written and FIXTURES not in command and not (fixtures / written[1]).exists():
            subprocess.run(
                [*EYECAST, *shlex.split(command)],
                cwd=fixtures,
                stdout=subprocess.DEVNULL,
                check=True,
            )


def differences(old: Path, new: Path) -> list[str]:
    """Return a line for each file that differs between two folders, then its differing lines."""
    names = {path.relative_to(root) for root in (old, new) for path in root.rglob("*")}
    told = []
    for name in sorted(names):
        before, after = old / name, new / name
        if before.is_dir() or after.is_dir():
            continue
        if not before.exists() or not after.exists():
            told.append(f"{name}: only in {new if after.exists() else old}")
            continue
        texts = [FILE_DATES.sub(b"DATE", path.read_bytes()) for path in (before, after)]
        if texts[0] != texts[1]:
            told.append(f"{name}: differs")
            if name.suffix in {".txt", ".json", ".csv", ".v"}:
                lines = [text.decode().splitlines() for text in texts]
                told.extend(list(difflib.unified_diff(*lines, lineterm="", n=0))[2:40])
    return told


@click.group()
def main() -> None:
    """Keep the outputs of the commands in commands.txt, and compare two such folders."""


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--processes", default=2, show_default=True)
def keep(folder: Path, processes: int) -> None:
    """Run all commands; empty FOLDER, and keep their outputs and files in it."""
    shutil.rmtree(folder, ignore_errors=True)
    make_fixtures(folder)
    with ThreadPoolExecutor(processes) as pool:
        list(pool.map(lambda command: run(command, folder), commands()))
    click.echo(f"{len(commands())} commands kept in {folder}")


@main.command()
@click.argument("old", type=click.Path(path_type=Path, exists=True))
@click.argument("new", type=click.Path(path_type=Path, exists=True))
def compare(old: Path, new: Path) -> None:
    """Print every difference between OLD and NEW; exit status 1 if there is one."""
    told = differences(old, new)
    for line in told:
        click.echo(line)
    sys.exit(bool(told))


if __name__ == "__main__":
    main()
