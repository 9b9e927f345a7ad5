#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/child_process.h"
#include "cli/scratch_folder.h"
#include "ingot/tensor.h"

namespace ingot::cli {

// The same model and inputs in ONNX Runtime, in a Python process: $INGOT_PYTHON, else python3 on PATH.
class OnnxRuntimePeer {
 public:
  // Loads the model and runs it once. Throws Error(not_found) where there is no Python or no onnxruntime,
  // Error(unsupported) for inputs that are no tensors of NumPy's types and for what ONNX Runtime refuses.
  OnnxRuntimePeer(const std::string& model, const std::map<std::string, Datum>& inputs, int threads);

  const std::string& version() const { return version_; }
  double load_seconds() const { return load_seconds_; }
  double first_seconds() const { return first_seconds_; }
  // Of the outputs that are f32 tensors: L2 norm of the difference over that of ONNX Runtime's,
  // of the worst; infinite where shapes differ.
  double relative_error(const std::map<std::string, Datum>& ours) const;
  // Times of this many runs in seconds.
  std::vector<double> run(int64_t count);

 private:
  // Writes inputs and job into the folder; returns the path of the job.
  std::string write_job(const std::string& model, const std::map<std::string, Datum>& inputs, int threads);

  ScratchFolder folder_;
  std::unique_ptr<ChildProcess> process_;
  std::string version_;
  double load_seconds_ = 0, first_seconds_ = 0;
  std::map<std::string, std::string> files_;  // output -> .npy
};

}  // namespace ingot::cli
