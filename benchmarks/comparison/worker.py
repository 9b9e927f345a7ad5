"""One peer in a process of its own, with the protocol of ingot_bench_runner.

    worker.py IMPLEMENTATION MODEL INPUTS.npz OUTPUT-FOLDER THREADS [--static JSON] [--cache FOLDER]

Loads MODEL, runs it once, writes output number i to OUTPUT-FOLDER/i.npy and prints one line of JSON about the start.
Then every line N on standard input asks for N more runs; the answer is one line of JSON: their times in seconds, and
the CPU time of the process for all of them.
"""
import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np


def memory_of_process(field):
    """A field of /proc/self/status in bytes."""
    for line in open("/proc/self/status"):
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0


class OnnxRuntime:
    """Inputs are bound once, so that a run is a call without conversions of Python objects."""

    def __init__(self, arguments, feeds, flush_denormals):
        import onnxruntime
        self.module, self.arguments, self.feeds, self.flush = onnxruntime, arguments, feeds, flush_denormals

    def options(self):
        options = self.module.SessionOptions()
        options.intra_op_num_threads = self.arguments.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        if self.flush:
            options.add_session_config_entry("session.set_denormal_as_zero", "1")
        for name, size in self.named_sizes().items():
            options.add_free_dimension_override_by_name(name, size)
        return options

    def named_sizes(self):
        """The sizes of the named dimensions of the inputs, as the caller read them from the model."""
        return json.loads(self.arguments.static) if self.arguments.static else {}

    def load(self):
        self.session = self.module.InferenceSession(self.arguments.model, self.options(),
                                                    providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        for port in self.session.get_inputs():
            self.binding.bind_cpu_input(port.name, self.feeds[port.name])
        for port in self.session.get_outputs():
            self.binding.bind_output(port.name)

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def outputs(self):
        return self.binding.copy_outputs_to_cpu()


class OpenVino:
    """The LATENCY hint, one stream, fp32 arithmetic; static shapes are set before the model is compiled."""

    def __init__(self, arguments, feeds):
        import openvino
        self.module, self.arguments, self.feeds = openvino, arguments, feeds

    def load(self):
        core = self.module.Core()
        settings = {"PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1", "INFERENCE_PRECISION_HINT": "f32",
                    "INFERENCE_NUM_THREADS": str(self.arguments.threads)}
        if self.arguments.cache:
            settings["CACHE_DIR"] = self.arguments.cache
        model = self.arguments.model
        if self.arguments.static:
            model = core.read_model(model)
            model.reshape({name: list(self.feeds[name].shape) for name in map(self.name_of, model.inputs)})
        self.compiled = core.compile_model(model, "CPU", settings)
        self.request = self.compiled.create_infer_request()
        for port in self.compiled.inputs:
            self.request.set_tensor(port, self.module.Tensor(self.feeds[self.name_of(port)], shared_memory=True))

    def name_of(self, port):
        return next(name for name in port.get_names() if name in self.feeds)

    def run(self):
        self.request.start_async()
        self.request.wait()

    def outputs(self):
        return [self.request.get_tensor(port).data for port in self.compiled.outputs]


IMPLEMENTATIONS = {
    "onnxruntime": lambda arguments, feeds: OnnxRuntime(arguments, feeds, False),
    "onnxruntime-daz": lambda arguments, feeds: OnnxRuntime(arguments, feeds, True),
    "openvino": OpenVino,
}


def timed(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def start(implementation, folder):
    """Loads and runs once; what it took."""
    memory = memory_of_process("VmRSS")
    load, first = timed(implementation.load), timed(implementation.run)
    peak = memory_of_process("VmHWM")
    for number, array in enumerate(implementation.outputs()):
        np.save(Path(folder) / f"{number}.npy", np.asarray(array))
    return {"load": load, "first": first, "start_memory": memory, "peak_memory": peak}


def print_line(value):
    print(json.dumps(value), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("implementation", choices=IMPLEMENTATIONS)
    parser.add_argument("model")
    parser.add_argument("inputs")
    parser.add_argument("folder")
    parser.add_argument("threads", type=int)
    parser.add_argument("--static", default="", metavar="JSON", help="sizes of the named dimensions, fixed for good")
    parser.add_argument("--cache", default="", help="folder for compiled models, of implementations that have one")
    arguments = parser.parse_args()
    with np.load(arguments.inputs) as archive:
        feeds = {name: archive[name] for name in archive.files}
    implementation = IMPLEMENTATIONS[arguments.implementation](arguments, feeds)
    print_line(start(implementation, arguments.folder))
    for line in sys.stdin:
        cpu = time.process_time()
        times = [timed(implementation.run) for _ in range(int(line))]
        print_line({"times": times, "cpu": time.process_time() - cpu})
    return 0


if __name__ == "__main__":
    sys.exit(main())
