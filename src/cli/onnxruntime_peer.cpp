#include "cli/onnxruntime_peer.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "ingot/error.h"
#include "tensor_io/npy.h"
#include "tensor_io/tensor_file.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;

// Answers each line N with the times of N runs. Inputs and outputs are bound once, so that a run converts
// nothing.
constexpr const char* kScript = R"(
import json, os, sys, time
answer = lambda value: print(json.dumps(value), flush=True)
try:
    import numpy, onnxruntime
except ImportError as error:
    answer({"missing": str(error)})
    sys.exit(0)
with open(sys.argv[1]) as file:
    job = json.load(file)
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = job["threads"]
options.inter_op_num_threads = 1
options.log_severity_level = 3
try:
    start = time.perf_counter()
    session = onnxruntime.InferenceSession(job["model"], options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, path in job["inputs"].items():
        binding.bind_cpu_input(name, numpy.load(path))
    names = [port.name for port in session.get_outputs()]
    for name in names:
        binding.bind_output(name)
    loaded = time.perf_counter()
    session.run_with_iobinding(binding)
    first = time.perf_counter()
    outputs = {}
    for number, (name, value) in enumerate(zip(names, binding.get_outputs())):
        if value.is_tensor():
            outputs[name] = os.path.join(job["folder"], "out%d.npy" % number)
            numpy.save(outputs[name], value.numpy())
except Exception as error:
    answer({"refused": str(error)[:500]})
    sys.exit(0)
answer({"version": onnxruntime.__version__, "load": loaded - start, "first": first - loaded, "outputs": outputs})
for line in sys.stdin:
    times = []
    for _ in range(int(line)):
        start = time.perf_counter()
        session.run_with_iobinding(binding)
        times.append(time.perf_counter() - start)
    answer(times)
)";

std::string python() {
  const char* given = std::getenv("INGOT_PYTHON");
  return given && *given ? given : "python3";
}

[[noreturn]] void fail_missing(const std::string& observed) {
  throw Error({.code = ErrorCode::not_found,
               .object = "ONNX Runtime",
               .expected = "a Python with the package onnxruntime",
               .observed = observed,
               .remedy = "Run 'python3 -m pip install onnxruntime', or set INGOT_PYTHON to a Python that has "
                         "it; or leave --compare-onnxruntime out."});
}

// Norms over elements that differ in type at most in width.
double relative_error(const Tensor& ours, const Tensor& theirs) {
  if (ours.shape() != theirs.shape() || ours.dtype() != theirs.dtype())
    return std::numeric_limits<double>::infinity();
  if (ours.dtype() != DType::f32) return 0;
  const auto a = ours.data<float>(), b = theirs.data<float>();
  double difference = 0, norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    norm += double{b[i]} * b[i];
  }
  return std::sqrt(norm > 0 ? difference / norm : difference);
}

}  // namespace

OnnxRuntimePeer::OnnxRuntimePeer(const std::string& model, const std::map<std::string, Datum>& inputs,
                                 int threads) {
  const std::string job = write_job(model, inputs, threads);
  try {
    process_ = std::make_unique<ChildProcess>(std::vector<std::string>{python(), "-c", kScript, job});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::not_found) fail_missing(fmt::format("no program '{}'", python()));
    throw;
  }
  const Json answer = Json::parse(process_->read_line());
  if (answer.contains("missing")) fail_missing(answer["missing"]);
  if (answer.contains("refused"))
    throw Error({.code = ErrorCode::unsupported,
                 .object = "ONNX Runtime on",
                 .name = model,
                 .observed = answer["refused"],
                 .remedy = "Leave --compare-onnxruntime out."});
  version_ = answer["version"];
  load_seconds_ = answer["load"];
  first_seconds_ = answer["first"];
  for (const auto& [name, path] : answer["outputs"].items()) files_[name] = path;
}

std::string OnnxRuntimePeer::write_job(const std::string& model, const std::map<std::string, Datum>& inputs,
                                       int threads) {
  Json job = {
      {"model", model}, {"threads", threads}, {"folder", folder_.file("")}, {"inputs", Json::object()}};
  for (const auto& [name, value] : inputs) {
    if (!value.is_tensor())
      throw Error({.code = ErrorCode::unsupported,
                   .object = "input",
                   .name = name,
                   .expected = "a tensor, to hand it to ONNX Runtime",
                   .observed = "a value of another kind"});
    const std::string path = folder_.file(fmt::format("in{}.npy", job["inputs"].size()));
    write_npy(value.tensor(), path);
    job["inputs"][name] = path;
  }
  const std::string path = folder_.file("job.json");
  std::ofstream(path) << job;
  return path;
}

double OnnxRuntimePeer::relative_error(const std::map<std::string, Datum>& ours) const {
  double worst = 0;
  for (const auto& [name, path] : files_) {
    const auto found = ours.find(name);
    if (found == ours.end() || !found->second.is_tensor()) continue;
    const Tensor& tensor = found->second.tensor();
    const WantedDatum wanted{.name = name, .type = Type::unranked(tensor.dtype()), .shape = {}};
    worst = std::max(worst, cli::relative_error(tensor, read_datum_file(path, wanted).tensor()));
  }
  return worst;
}

std::vector<double> OnnxRuntimePeer::run(int64_t count) {
  process_->write_line(std::to_string(count));
  return Json::parse(process_->read_line()).get<std::vector<double>>();
}

}  // namespace ingot::cli
