#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/values.h"
#include "ingot/import.h"
#include "ingot/runtime.h"
#include "ingot/validity.h"
#include "ingot/weights.h"
#include "tensor_io/tensor_file.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;

class RefitCommand : public Command {
 public:
  ManualPage manual() const override {
    return {.name = "refit",
            .summary = "give an engine file other weights, or those that it was stripped of",
            .description =
                "Opens ENGINE, sets weights from a model, from another engine or one by one, and writes an "
                "engine with "
                "them: the same bytes that compiling the model with these weights gives, but for names. All "
                "weights are "
                "taken or none; those that are unknown, missing or of a wrong type are listed.\n\nWeights "
                "can be replaced in engines made with 'ingot compile --refit'; an engine made with "
                "--strip-weights takes back what it was made of in any case.",
            .example =
                "ingot refit detector.ingot --from retrained.onnx -o retrained.ingot\n"
                "ingot refit stripped.ingot --from detector.onnx -o detector.ingot\n"
                "ingot refit detector.ingot --list\n"
                "    Names and types of the weights that can be given."};
  }

  void declare(Arguments& a) override {
    a.positional("ENGINE", engine_, "The engine file; it stays as it is unless FILE is the same.");
    a.option("-o,--output", "FILE", output_, "The engine to write.");
    a.option("--from", "FILE", from_,
             "Take the weights of this ONNX model, which must not differ in more than "
             "weights, or those of this engine that have the same names.");
    a.repeated("--set", "NAME=FILE", single_, "Take one weight from an .npy, .npz, .pb or .raw file.");
    a.flag("--strip-weights,--stripWeights", strip_, "Write the engine without its weights.");
    a.flag("--list", list_, "Print which weights can be given, and change nothing.");
    a.flag("-q,--quiet", quiet_, "No summary.");
    a.flag("--json", json_, "Print JSON.");
  }

  // On the device that needs no kernels: the file is the same.
  int run(Logger&) override {
    if (list_ == !output_.empty()) throw UsageError("refit: give either --output or --list");
    StderrLogger logger(LogLevel::error);
    const Runtime runtime(
        logger, {.recorder = std::make_shared<ErrorRecorder>(), .device = "reference", .cache_folder = ""});
    const std::shared_ptr<const Engine> engine = runtime.open(engine_);
    if (!list_ && from_.empty() && single_.empty()) return save(*engine, 0);
    Refitter refitter(engine);
    if (list_) return show(refitter.weights());
    if (!from_.empty()) set_all(refitter);
    for (const std::string& text : single_) set_one(refitter, text);
    const size_t count = refitter.given();
    refitter.commit();
    return save(*engine, count);
  }

 private:
  void set_all(Refitter& refitter) const {
    const auto file = MappedFile::open(from_, "file of weights");
    if (check_engine_header(file->bytes()).has(EngineReason::malformed))
      refitter.set_from(import_onnx(from_));
    else
      refitter.set_from_engine(from_);
  }

  // The type of the weight decides what the file means.
  void set_one(Refitter& refitter, const std::string& text) const {
    const auto [name, path] = parse_assignment("--set", text);
    WantedDatum wanted{name, Type::unranked(DType::f32), std::nullopt};
    for (const WeightInfo& info : refitter.weights())
      if (info.name == name) wanted = {name, Type::tensor(info.dtype, dims_of(info.shape)), info.shape};
    refitter.set(name, read_datum_file(path, wanted).tensor());
  }

  static std::vector<Dim> dims_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

  int show(const std::vector<WeightInfo>& weights) const {
    Json all = Json::array();
    for (const WeightInfo& w : weights) {
      const std::string type = fmt::format("{}{}", to_string(w.dtype), to_string(w.shape));
      all.push_back({{"name", w.name},
                     {"type", type},
                     {"bytes", w.bytes},
                     {"missing", w.missing},
                     {"identical", w.identical},
                     {"sha256", w.sha256}});
      if (!json_)
        print_text(fmt::format("{}: {}{}{}\n", w.name, type, w.missing ? ", missing" : "",
                               w.identical ? ", takes only what it was built with" : ""));
    }
    if (json_) print_json({{"engine", engine_}, {"weights", all}});
    return kSuccess;
  }

  int save(const Engine& engine, size_t count) const {
    engine.save(output_, {.weights = !strip_});
    if (json_)
      print_json({{"engine", output_}, {"weights_given", count}, {"stripped", strip_}});
    else if (!quiet_)
      print_text(fmt::format("{}: {} weights given{}\n", output_, count, strip_ ? ", none kept" : ""));
    return kSuccess;
  }

  std::string engine_, output_, from_;
  std::vector<std::string> single_;
  bool strip_ = false, list_ = false, quiet_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> refit_command() { return std::make_unique<RefitCommand>(); }

}  // namespace ingot::cli
