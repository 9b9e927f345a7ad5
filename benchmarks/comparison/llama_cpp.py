"""llama.cpp on 4-bit decoders: built here from the sources that a Python package vendors, measured by its llama-bench."""
import json
import subprocess
import sys
import tarfile
from pathlib import Path

from .process import WorkerError

PACKAGE, VERSION = "llama-cpp-python", "0.3.36"
TOKENS = 16  # decoded by each run of llama-bench


def call(*words):
    """Runs a program; its output."""
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if result.returncode != 0:
        raise WorkerError(f"{Path(str(words[0])).name}: {(result.stderr or result.stdout).strip()[-300:]}")
    return result.stdout


def build(folder):
    """Downloads and builds llama-bench and llama-quantize for this processor; takes minutes."""
    if (folder / "build" / "bin" / "llama-bench").exists():
        return
    print(f"peers: building llama.cpp in {folder}", file=sys.stderr, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    call(*pip, "install", "scikit-build-core")  # the package's metadata asks for it
    call(*pip, "download", "--no-deps", "--no-build-isolation", "--no-binary", PACKAGE, "--dest", folder,
         f"{PACKAGE}=={VERSION}")
    name = f"{PACKAGE.replace('-', '_')}-{VERSION}"
    with tarfile.open(folder / f"{name}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    off = [f"-DLLAMA_{part}=OFF" for part in ("CURL", "OPENSSL", "BUILD_TESTS", "BUILD_EXAMPLES", "BUILD_SERVER")]
    call("cmake", "-S", folder / name / "vendor" / "llama.cpp", "-B", folder / "build", "-G", "Ninja",
         "-DCMAKE_BUILD_TYPE=Release", "-DGGML_NATIVE=ON", *off)
    call("cmake", "--build", folder / "build", "--target", "llama-bench", "llama-quantize")


def write_model(folder):
    """The 1.1B decoder in Q4_0."""
    model = folder / "llama_1b_q4_0.gguf"
    if not model.exists():
        from models import gguf_file, llama
        whole = folder / "llama_1b_f16.gguf"
        gguf_file.write(str(whole), "llama_1b", llama.LARGE)
        call(folder / "build" / "bin" / "llama-quantize", whole, model, "Q4_0")
        whole.unlink()
    return model


class Bench:
    """Looks like a process.Process; every chunk is a run of llama-bench."""

    def __init__(self, folder, model, job):
        case = job.case
        work = ["-p", "0", "-n", TOKENS, "-d", case.past] if case.length == 1 else ["-p", case.length, "-n", "0"]
        self.scale = TOKENS if case.length == 1 else 1
        self.command = [folder / "build" / "bin" / "llama-bench", "-m", model, "-t", job.threads, "-o", "json", *work]
        self.start = {}
        self.cpu_times = []

    def run(self, count):
        """Times of one token, or of a whole prompt; a run of llama-bench gives one for all its tokens."""
        repeats = max(1, count // self.scale)
        results = json.loads(call(*self.command, "-r", repeats))
        return [nanoseconds / 1e9 / self.scale for nanoseconds in results[0]["samples_ns"]]

    def close(self):
        pass


class LlamaCpp:
    name = "llama.cpp"
    caches = False

    def __init__(self, folder):
        self.folder = folder

    def takes(self, case):
        return case.file == "llama_1b_int4.onnx"

    def prepare(self, job):
        build(self.folder)
        self.model = write_model(self.folder)
        return {}

    def launch(self, job, cache):
        return Bench(self.folder, self.model, job)
