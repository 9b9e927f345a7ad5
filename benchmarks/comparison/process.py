"""Processes that speak the protocol of worker.py and ingot_bench_runner."""
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

WORKER = Path(__file__).resolve().parent / "worker.py"


class WorkerError(Exception):
    pass


@dataclass(frozen=True)
class Job:
    """A case made ready on disk: what every implementation gets."""
    case: object
    model: Path
    inputs: Path  # .npz
    named_sizes: dict  # sizes of the model's named dimensions, where all engines are told
    work: Path  # for outputs and caches
    threads: int

    def folder(self, name):
        folder = self.work / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder


class Process:
    """One implementation of a job, started and run once when made."""

    def __init__(self, command, job, cache, scale=lambda answer: answer):
        self.scale = scale
        self.cpu_times = []  # of one run, by chunk
        self.log = job.folder("logs") / f"{Path(command[0]).name}.txt"
        environment = dict(os.environ, INGOT_CACHE=str(cache / "ingot"))  # made by Ingot, as it wants it
        cpus = sorted(os.sched_getaffinity(0))[:job.threads]
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=open(self.log, "w"), env=environment,
                                        preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        self.start = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            lines = self.log.read_text(errors="replace").strip().splitlines() or ["no message"]
            raise WorkerError(f"ended with {code}: {lines[-1][:300]}")
        return json.loads(line)

    def run(self, count):
        """Times of `count` runs in seconds, after one that does not count. Keeps the CPU time of each run."""
        self.process.stdin.write(f"{count + 1}\n")
        self.process.stdin.flush()
        answer = self.answer()
        self.cpu_times.append(answer["cpu"] / (count + 1))
        return [self.scale(time) for time in answer["times"][1:]]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Peer:
    """ONNX Runtime or OpenVINO, the latter with or without its cache of compiled models."""

    def __init__(self, name):
        self.name = name
        self.caches = name.endswith("-cache")

    def takes(self, case):
        return True

    def prepare(self, job):
        return {}

    def launch(self, job, cache):
        sizes = json.dumps(job.named_sizes) if job.case.static else ""
        command = [sys.executable, WORKER, self.name.removesuffix("-cache"), job.model, job.inputs,
                   job.folder(self.name), job.threads, "--static", sizes]
        return Process(command + (["--cache", cache] if self.caches else []), job, cache)


class Ingot:
    """The built program and runner, on one device."""
    caches = True

    def __init__(self, name, build, device):
        self.name, self.build, self.device = name, build, device

    def takes(self, case):
        return True

    def engine(self, job):
        return job.folder(self.name) / "model.ingot"

    def prepare(self, job):
        """Builds the engine; what `ingot compile` says about it."""
        command = [self.build / "src" / "cli" / "ingot", "compile", job.model, "-o", self.engine(job), "--json", "-q"]
        if job.case.static:
            for name, size in job.named_sizes.items():
                command += ["--dim", f"{name}={size}"]
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if result.returncode != 0:
            raise WorkerError(" ".join(result.stderr.split())[:300])
        return json.loads(result.stdout)

    def launch(self, job, cache):
        runner = self.build / "benchmarks" / "runner" / "ingot_bench_runner"
        return Process([runner, self.engine(job), job.inputs, job.folder(self.name), self.device, job.threads], job,
                       cache)


class MemoryStream:
    """Not an engine: how long reading the weights takes at the rate that memory allows at that moment."""
    name = "stream"

    def __init__(self, build):
        self.build = build

    def launch(self, job):
        return Process([self.build / "benchmarks" / "runner" / "ingot_bench_runner", "--stream", job.threads], job,
                       job.folder("cache"), scale=lambda rate: job.case.read_bytes / rate)


def clear(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
