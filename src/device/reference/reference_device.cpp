#include "device/reference/reference_device.h"

#include "device/reference/evaluate.h"
#include "device/reference/give_outputs.h"

namespace ingot::reference {
namespace {

class ReferenceExecution : public Execution {
 public:
  explicit ReferenceExecution(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}

  void run(std::span<const Datum> inputs, OutputSink& sink) override {
    std::vector<Datum> outputs = evaluate(*graph_, inputs);
    std::vector<const Datum*> rest;
    for (const Datum& output : outputs) rest.push_back(&output);
    give_outputs(*graph_, inputs, rest, sink);
  }

 private:
  std::shared_ptr<const Graph> graph_;
};

class ReferenceProgram : public Program {
 public:
  explicit ReferenceProgram(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}
  std::unique_ptr<Execution> start() const override { return std::make_unique<ReferenceExecution>(graph_); }

 private:
  std::shared_ptr<const Graph> graph_;
};

class ReferenceDevice : public Device {
 public:
  std::string_view name() const override { return "reference"; }

  std::vector<IgnoredSetting> unused_settings() const override {
    std::vector<IgnoredSetting> settings = Device::unused_settings();
    for (const char* name : {"threads", "cpus"})
      settings.push_back({name, "it runs on the caller's thread alone"});
    settings.push_back({"isa", "it has one form of each op"});
    settings.push_back({"workspace_limit", "it plans no memory"});
    settings.push_back({"weight_streaming_budget", "it reads weights where they lie"});
    return settings;
  }

  std::shared_ptr<const Program> compile(std::shared_ptr<const Graph> graph,
                                         const CompileOptions&) const override {
    return std::make_shared<ReferenceProgram>(std::move(graph));
  }
};

}  // namespace

const Device& device() {
  static const ReferenceDevice device;
  return device;
}

}  // namespace ingot::reference
