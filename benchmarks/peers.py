#!/usr/bin/env python3
"""Compares Ingot with ONNX Runtime and OpenVINO on this machine.

    benchmarks/peers.py                          all cases, 1 and 2 threads, at least 50 runs each
    benchmarks/peers.py --quick resnet50 minilm  cases whose names contain one of these words
    benchmarks/peers.py --mode start             first answer with an empty and a warm cache, and memory

The first run makes an environment with the pinned peers (requirements.txt) in build/benchmarks/venv and writes the
models there. Each implementation runs in a process of its own on the same CPUs with the same number of threads.
Outputs are compared with ONNX Runtime's (or, with --reference, with the reference device's, which sums in double)
before anything is timed; an ingot that is wrong is not timed. Then the processes take turns with short chunks of
runs, so that what disturbs the machine disturbs all of them. Results: a table on standard output and in
build/benchmarks/results, there also JSON and a chart.

Exit codes: 0 measured, 1 an implementation failed or was wrong, 2 usage.
"""
import argparse
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from comparison import environment  # noqa: E402  (the folder of this file is no package)

PEERS = ["onnxruntime", "onnxruntime-daz", "openvino"]
OTHERS = ["openvino-cache", "llama.cpp"]


def peer_names(text):
    names = text.split(",")
    if unknown := set(names) - set(PEERS + OTHERS):
        raise argparse.ArgumentTypeError(f"there is no peer {' '.join(sorted(unknown))}")
    return names


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    work = environment.WORK
    parser.add_argument("words", nargs="*", metavar="WORD", help="parts of the names of cases (default: all)")
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    parser.add_argument("--setup", action="store_true", help="make the environment and the models, and stop")
    parser.add_argument("--mode", choices=["steady", "start"], default="steady")
    parser.add_argument("--quick", action="store_true", help="15 runs or 6 s a case, 3 starts")
    parser.add_argument("--runs", type=int, default=50, help="runs of each implementation, at least (%(default)s)")
    parser.add_argument("--limit", type=float, default=120, metavar="SECONDS", help="for one case (%(default)s)")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[2, 1], metavar="N,N",
                        help="(2,1)")
    parser.add_argument("--device", default="cpu", help="of ingot (%(default)s)")
    parser.add_argument("--peers", type=peer_names, metavar="NAME,NAME",
                        help=f"of {', '.join(PEERS + OTHERS)}; by default without {' and '.join(OTHERS)}, which is "
                             "built on first use")
    parser.add_argument("--no-ingot", action="store_true", help="measure the peers alone")
    parser.add_argument("--reference", action="store_true", help="compare with the reference device; slow")
    parser.add_argument("--build", type=Path, default=environment.ROOT / "build" / "release")
    parser.add_argument("--venv", type=Path, default=work / "venv", help="environment to use or make (%(default)s)")
    parser.add_argument("--llama-cpp", type=Path, default=work / "llama.cpp", help="llama.cpp (%(default)s)")
    parser.add_argument("--models", type=Path, default=work / "models", help="written models (%(default)s)")
    parser.add_argument("--output", type=Path, default=work / "results", help="results (%(default)s)")
    return parser.parse_args()


def chosen_cases(words):
    from models.cases import CASES
    return [case for case in CASES if not words or any(word in case.name for word in words)]


def model_folders(written):
    """Where the models of each origin are; the same places as for the tests."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ingot" / "models"
    from models.cases import FETCHED, GENERATED, SHARED
    return {GENERATED: written, FETCHED: Path(os.environ.get("INGOT_MODELS") or cache),
            SHARED: Path(os.environ.get("INGOT_SHARED_MODELS") or environment.ROOT.parent / "shared" / "models")}


def write_models(cases, folder):
    from models.cases import GENERATED
    names = sorted({Path(case.file).stem for case in cases if case.origin == GENERATED})
    if any(not (folder / f"{name}.onnx").exists() for name in names):
        subprocess.run([sys.executable, environment.BENCHMARKS / "make_models.py", folder, "--only", *names], check=True)


def implementations_of(arguments):
    from comparison.llama_cpp import LlamaCpp
    from comparison.process import Ingot, Peer
    peers = PEERS if arguments.peers is None else arguments.peers
    if arguments.mode == "start" and arguments.peers is None:
        peers = ["onnxruntime", "openvino", "openvino-cache"]
    found = [LlamaCpp(arguments.llama_cpp) if name == "llama.cpp" else Peer(name) for name in peers]
    if arguments.reference:
        found.append(Ingot("reference", arguments.build, "reference"))
    if not arguments.no_ingot:
        found.append(Ingot(f"ingot-{arguments.device}", arguments.build, arguments.device))
    return found


def measure_case(case, model, threads, arguments):
    from comparison import measure
    from comparison.process import MemoryStream
    from models.cases import feeds_of
    job = measure.make_job(case, model, feeds_of(case), environment.WORK / "work" / case.name, threads)
    implementations = implementations_of(arguments)
    if arguments.mode == "start":
        row = measure.measure_start(job, implementations, 3 if arguments.quick else 5)
    else:
        runs, limit = (15, 6) if arguments.quick else (arguments.runs, arguments.limit)
        oracle = "reference" if arguments.reference else "onnxruntime"
        stream = None if arguments.no_ingot else MemoryStream(arguments.build)
        row = measure.measure(job, implementations, oracle, runs, limit, stream)
    row.model_bytes = model.stat().st_size
    return row


def measure_all(cases, arguments):
    folders = model_folders(arguments.models)
    rows = []
    for case in cases:
        model = folders[case.origin] / case.file
        if not model.exists():
            print(f"peers: skipped {case.name}: {model} is missing", file=sys.stderr)
            continue
        for threads in arguments.threads:
            print(f"peers: {case.name}, {threads} threads", file=sys.stderr, flush=True)
            rows.append(measure_case(case, model, threads, arguments))
            write_reports(rows, arguments)  # so that an interrupted run leaves what it has
    return rows


def revision():
    result = subprocess.run(["git", "-C", environment.ROOT, "describe", "--always", "--dirty"], capture_output=True,
                            text=True)
    return result.stdout.strip() or "unknown"


def write_reports(rows, arguments):
    from comparison import report
    head = report.header(revision())
    names = list(dict.fromkeys(name for row in rows for name in row.times))
    text = report.start_text(head, rows) if arguments.mode == "start" else report.warm_text(head, rows, names)
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / f"{arguments.mode}.txt").write_text(text)
    report.write_json(arguments.output / f"{arguments.mode}.json", head, rows)
    report.write_chart(arguments.output / f"{arguments.mode}.png", head, rows)
    return text


def main():
    arguments = parse_arguments()
    environment.enter(arguments.venv)
    cases = chosen_cases(arguments.words)
    if not cases:
        print(f"peers: no case has one of {' '.join(arguments.words)} in its name; see --list", file=sys.stderr)
        return 2
    if arguments.list:
        print("\n".join(f"{case.name}: {case.origin} {case.file}, ratio to reach {case.ratio}" for case in cases))
        return 0
    write_models(cases, arguments.models)
    if arguments.setup:
        return 0
    rows = measure_all(cases, arguments)
    print(write_reports(rows, arguments), end="")
    return 1 if any(row.failures for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
