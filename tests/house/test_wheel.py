"""The wheel is complete: it works in an empty environment, without a checkout."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from helpers.processes import run_program
from helpers.readme import ELSEWHERE, typed_lines

from eyecast.sim.cache import PACKAGE, cache_folder

pytestmark = pytest.mark.slow
pytest.importorskip("build", reason="build is not installed: pip install '.[checks]'")

CONTRACT = Path("docs/router.md")
"""The one page in the package: `eyecast ip` copies it beside the hardware."""


def tracked() -> list[Path]:
    """Return every file of the project, below its root, without generated files."""
    listed = run_program(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=PACKAGE,
        check=True,
    )
    names = filter(None, listed.stdout.split("\0"))
    return [Path(name) for name in names if (PACKAGE / name).is_file()]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the archive of the sources from the project's files alone."""
    folder = tmp_path_factory.mktemp("archive")
    for path in tracked():
        (folder / "source" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGE / path, folder / "source" / path)
    run(sys.executable, "-m", "build", "--sdist", "--outdir", folder, folder / "source")
    (made,) = folder.glob("*.tar.gz")
    return made


@pytest.fixture(scope="module")
def wheel(archive: Path) -> Path:
    """Build the wheel from that archive."""
    run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"),
        *("--wheel-dir", archive.parent, archive),
    )
    (made,) = archive.parent.glob("*.whl")
    return made


def run(*command: str | Path, **options: object) -> str:
    """Run a command to its end; return its output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    output: str = done.stdout
    return output


def packaged() -> set[str]:
    """Return the files of all packages, of any type, as a wheel names them."""
    settings = tomllib.loads((PACKAGE / "pyproject.toml").read_text())
    names = settings["tool"]["setuptools"]["packages"]
    folders = {Path(*name.split(".")[1:]) for name in names} - {Path()}
    inside = {path for path in tracked() if path.parent in folders or path.parent.parent in folders}
    roots = {Path("__init__.py"), Path("__main__.py"), Path("py.typed"), CONTRACT}
    return {f"eyecast/{path.as_posix()}" for path in inside | roots}


def test_a_wheel_has_every_file_of_the_packages_and_no_other(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    found = {name for name in names if not name.split("/")[0].endswith(".dist-info")}
    assert sorted(packaged() - found) == []
    assert sorted(found - packaged()) == []
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_an_archive_has_what_a_wheel_is_made_of(archive: Path) -> None:
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {name.partition("/")[2] for name in packaged()} <= names
    assert {"pyproject.toml", "README.md", "LICENSE"} <= names


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel in an environment; return the environment's programs."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment)
    # Modules are compiled when they are imported; to compile all of them takes ten seconds.
    install = ("--python", environment / "bin" / "python", "install", "--quiet", "--no-compile")
    run(sys.executable, "-m", "pip", *install, wheel)
    return environment / "bin"


def test_an_installed_wheel_does_what_the_tour_says(programs: Path, here: Path) -> None:
    """Run the tour in an empty folder; simulators cached by a checkout are not built again."""
    variables = {
        **os.environ,
        "EYECAST_CACHE": str(cache_folder()),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
    }
    variables.pop("PYTHONPATH", None)
    for line, files in typed_lines((PACKAGE / "docs" / "guides" / "tour.md").read_text()):
        for name, text in files.items():
            (here / name).write_text(text)
        if not any(word in line for word in ELSEWHERE):
            done = subprocess.run(
                ["bash", "-c", line], env=variables, capture_output=True, check=False
            )
            # The page shows this command's refusal.
            refused = "--torus 5x5 --vcs 1" in line
            assert done.returncode == (2 if refused else 0), f"{line}\n{done.stderr.decode()}"


def test_an_installed_wheel_does_the_demo(programs: Path, tmp_path: Path) -> None:
    here, cache = tmp_path / "here", tmp_path / "cache"
    here.mkdir()
    variables = {**os.environ, "EYECAST_CACHE": str(cache)}
    variables.pop("PYTHONPATH", None)
    alone = {"cwd": here, "env": variables}
    where = "import eyecast; print(eyecast.__file__)"
    assert str(programs.parent) in run(programs / "python", "-c", where, **alone)
    told = run(programs / "eyecast", "demo", "--mesh", "2x2", **alone)
    assert told.count("DIFFERS") == 0
    assert told.count("trace rows") == 2
    assert {path.name for path in here.iterdir()} == {
        *("corner", "eye", "corner.svg", "corner.png", "eye.svg", "eye.png")
    }
    found = json.loads(run(programs / "eyecast", "doctor", "--json", **alone))["result"]
    assert found["works"]
    assert found["cache"]["folder"] == str(cache)
    assert found["cache"]["entries"] >= 1
    missing = {part["name"] for part in found["parts"] if part["version"] is None}
    assert {"sphinx", "ortools"} <= missing
    # The command reads data files, too.
    boards = json.loads(run(programs / "eyecast", "boards", "--json", **alone))["result"]
    assert sum(len(board["networks"]) for board in boards["boards"]) > 3
