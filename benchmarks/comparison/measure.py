"""Measures the cases: correctness first, then the implementations in turn, in chunks of runs."""
import statistics
import time
from pathlib import Path

import numpy as np
import onnx

from .process import Job, WorkerError, clear

SETTLE_SECONDS = 0.1  # threads of the one before it may still spin for work
CHUNK_SECONDS = 0.3  # a chunk is short against what neighbours do to the machine, long against its own warm-up


def named_sizes(model, feeds):
    """{name: size} of the named dimensions of the inputs, with these feeds."""
    sizes = {}
    for port in onnx.load(model, load_external_data=False).graph.input:
        for dim, size in zip(port.type.tensor_type.shape.dim, getattr(feeds.get(port.name), "shape", ())):
            if dim.dim_param:
                sizes[dim.dim_param] = size
    return sizes


def make_job(case, model, feeds, work, threads):
    work.mkdir(parents=True, exist_ok=True)
    inputs = work / "inputs.npz"
    np.savez(inputs, **feeds)
    return Job(case, model, inputs, named_sizes(model, feeds) if case.static else {}, work, threads)


def outputs_of(folder):
    return {path.name: np.load(path) for path in sorted(Path(folder).glob("*.npy"))}


def relative_error(ours, theirs):
    """L2 norm of the difference over that of the expected values, of the worst output; infinite where shapes or the
    places of NaN differ."""
    worst = 0.0
    for name, expected in theirs.items():
        actual = ours.get(name)
        if actual is None or actual.shape != expected.shape:
            return float("inf")
        wide, target = actual.astype(np.float64), expected.astype(np.float64)
        scale = np.linalg.norm(target)
        error = np.linalg.norm(wide - target) / scale if scale > 0 else np.linalg.norm(wide)
        if not np.isfinite(error):
            return float("inf")
        worst = max(worst, float(error))
    return worst


class Row:
    """The results of one case with one number of threads."""

    def __init__(self, case, threads):
        self.case, self.threads = case, threads
        self.times, self.cpu_times = {}, {}  # by implementation: of runs, and of chunks
        self.errors, self.failures, self.starts, self.builds = {}, {}, {}, {}

    def median(self, name):
        return statistics.median(self.times[name])

    def peers(self):
        return [name for name in self.times if not name.startswith("ingot") and name != "stream"]

    def ratio(self, name, of=statistics.median):
        """Time of the fastest peer over that of `name`; above 1 is faster than all of them."""
        return min(of(self.times[peer]) for peer in self.peers()) / of(self.times[name])

    def cpu_ratio(self, name):
        """The same of CPU time, which leaves out what other processes did; nothing where it is not known of all."""
        medians = {other: statistics.median(self.cpu_times.get(other) or [0]) for other in [*self.peers(), name]}
        return min(medians[peer] for peer in self.peers()) / medians[name] if all(medians.values()) else None

    def ours(self):
        return [name for name in self.times if name.startswith("ingot")] if self.peers() else []

    def as_json(self):
        results = {}
        for name, times in self.times.items():
            if name == "stream":
                results[name] = {"median": self.median(name), "min": min(times), "runs": len(times)}
                continue
            results[name] = {"median": self.median(name), "min": min(times), "runs": len(times),
                             "p90": float(np.percentile(times, 90)),
                             "cpu": statistics.median(self.cpu_times.get(name) or [0]), "relative_error": self.errors.get(name),
                             "start": self.starts[name], "build_seconds": self.builds[name].get("seconds")}
        return {"case": self.case.name, "threads": self.threads, "wanted_ratio": self.case.ratio, "results": results,
                "failures": self.failures, "ratios": {name: self.ratio(name) for name in self.ours()},
                "cpu_ratios": {name: self.cpu_ratio(name) for name in self.ours()}}


def launch_all(row, job, implementations):
    """Builds, starts and checks every implementation; those that fail are noted and left out."""
    processes = {}
    for implementation in implementations:
        name = implementation.name
        if not implementation.takes(job.case):
            continue
        try:
            clear(job.folder(name))
            row.builds[name] = implementation.prepare(job)
            processes[name] = implementation.launch(job, job.folder("cache"))
            row.starts[name] = processes[name].start
        except WorkerError as error:
            row.failures[name] = str(error)
    return processes


def check(row, job, processes, oracle):
    """Fills in errors against the oracle; who is wrong is not measured."""
    expected = outputs_of(job.folder(oracle))
    for name in list(processes):
        if name == oracle or name == "llama.cpp":  # which has random weights of its own
            continue
        row.errors[name] = relative_error(outputs_of(job.folder(name)), expected)
        if not row.errors[name] <= row.case.tolerance and name.startswith("ingot"):
            row.failures[name] = f"relative error {row.errors[name]:.1e}, allowed {row.case.tolerance:.0e}"
            processes.pop(name).close()


def alternate(row, processes, runs, limit):
    """Gives each process a chunk in turn until all have enough runs or the time is up."""
    counts = {name: 2 for name in processes}
    row.times = {name: [] for name in processes}
    end = time.monotonic() + limit
    while any(len(times) < runs for times in row.times.values()) and (time.monotonic() < end or not all(row.times.values())):
        for name, process in processes.items():
            time.sleep(SETTLE_SECONDS)
            process.run(2)  # not counted: finds the caches of the processor as others left them
            times = process.run(counts[name])
            row.times[name] += times
            row.cpu_times[name] = process.cpu_times
            counts[name] = max(2, min(runs, int(CHUNK_SECONDS / statistics.median(times))))


def measure(job, implementations, oracle, runs, limit, stream=None):
    """`stream` is the pace of memory, measured along where the case reads much of it."""
    row = Row(job.case, job.threads)
    processes = launch_all(row, job, implementations)
    try:
        if oracle in processes:
            check(row, job, processes, oracle)
        measured = {name: process for name, process in processes.items() if name != "reference"}
        if stream and job.case.read_bytes:
            processes["stream"] = measured["stream"] = stream.launch(job)
        alternate(row, measured, runs, limit)
    except WorkerError as error:
        row.failures["measurement"] = str(error)
    finally:
        for process in processes.values():
            process.close()
    return row


def measure_start(job, implementations, repeats):
    """First answers in fresh processes: with an empty cache each time, and with the cache of the run before."""
    row = Row(job.case, job.threads)
    for implementation in implementations:
        if not implementation.takes(job.case):
            continue
        try:
            clear(job.folder(implementation.name))
            row.builds[implementation.name] = implementation.prepare(job)
            for kind in ("cold", "warm") if implementation.caches else ("cold",):
                row.starts[f"{implementation.name} {kind}"] = starts(job, implementation, kind, repeats)
        except WorkerError as error:
            row.failures[implementation.name] = str(error)
    return row


def starts(job, implementation, kind, repeats):
    """Medians of load and first run in seconds and of the peak memory in bytes."""
    cache = job.folder("cache")
    results = []
    for _ in range(repeats):
        if kind == "cold":
            clear(cache)
        process = implementation.launch(job, cache)
        process.close()
        results.append(process.start)
    return {key: statistics.median(result[key] for result in results) for key in results[0]}
