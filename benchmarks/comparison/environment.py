"""A virtual environment with the pinned peers, made on first use. Imports nothing that it installs."""
import os
import subprocess
import sys
import venv
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent.parent
ROOT = BENCHMARKS.parent
REQUIREMENTS = BENCHMARKS / "requirements.txt"
WORK = ROOT / "build" / "benchmarks"


def python_of(folder):
    return folder / "bin" / "python"


def is_complete(folder):
    stamp = folder / "requirements.txt"
    return stamp.exists() and stamp.read_text() == REQUIREMENTS.read_text()


def set_up(folder):
    """Makes or completes the environment; a changed list of requirements is installed anew."""
    if is_complete(folder):
        return
    print(f"peers: installing {REQUIREMENTS.name} into {folder}", file=sys.stderr, flush=True)
    venv.create(folder, with_pip=True)
    subprocess.run([python_of(folder), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                    "-r", REQUIREMENTS], check=True)
    (folder / "requirements.txt").write_text(REQUIREMENTS.read_text())


def enter(folder):
    """Replaces this process by the same command under the environment's Python, unless it runs there already."""
    set_up(folder)
    if Path(sys.prefix).resolve() != folder.resolve():
        python = str(python_of(folder))
        os.execv(python, [python, *sys.argv])
