#include "base/mapped_file.h"
#include "base/reported.h"
#include "engine/refit_table.h"
#include "ingot/error.h"
#include "ingot/weights.h"
#include "ir/replace_constants.h"
#include "runtime/engine_state.h"

namespace ingot {
namespace {

constexpr std::string_view kObject = "engine file";
constexpr size_t kMostListed = 20;  // of one kind of mistake

std::string type_text(DType dtype, const Shape& shape) {
  return fmt::format("{}{}", to_string(dtype), to_string(shape));
}

// What commit() objects to, collected.
class Mistakes {
 public:
  void add(const std::string& kind, std::string what) { by_kind_[kind].push_back(std::move(what)); }
  bool empty() const { return by_kind_.empty(); }

  std::string text() const {
    std::vector<std::string> parts;
    for (const auto& [kind, all] : by_kind_) {
      const auto shown = std::span(all).first(std::min(all.size(), kMostListed));
      const std::string more =
          all.size() > shown.size() ? fmt::format(" and {} more", all.size() - shown.size()) : "";
      parts.push_back(fmt::format("{} {}: {}{}", all.size(), kind, fmt::join(shown, ", "), more));
    }
    return fmt::format("{}", fmt::join(parts, "; "));
  }

 private:
  std::map<std::string, std::vector<std::string>> by_kind_;
};

// The constants of a model, by name and by content.
class Offer {
 public:
  explicit Offer(const Graph& graph) { collect(graph); }

  const Tensor* by_name(const std::string& name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? nullptr : found->second;
  }

  const Tensor* by_content(uint64_t bytes, const std::string& sha256) {
    const auto [first, last] = sizes_.equal_range(bytes);
    for (auto it = first; it != last; ++it)
      if (digest(*it->second) == sha256) return it->second;
    return nullptr;
  }

 private:
  void collect(const Graph& graph) {
    for (const Node& node : graph.nodes()) {
      for (const GraphPtr& body : node.subgraphs) collect(*body);
      if (node.op != Op::Constant) continue;
      const Tensor& value = node.as<ConstantAttrs>().value;
      if (value.is_string()) continue;
      names_.emplace(node.origin, &value);
      sizes_.emplace(value.bytes().size(), &value);
    }
  }

  const std::string& digest(const Tensor& value) {
    std::string& digest = digests_[value.bytes().data()];
    if (digest.empty()) digest = to_hex(sha256(value.bytes()));
    return digest;
  }

  std::map<std::string, const Tensor*> names_;
  std::multimap<uint64_t, const Tensor*> sizes_;
  std::map<const std::byte*, std::string> digests_;
};

void require_refittable(const Engine::State& engine) {
  engine.require_weights();
  if (engine.weights.content.refit == RefitMode::none && engine.weights.content.missing.empty())
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "engine",
                 .name = engine.name,
                 .expected = "weights that can be replaced, or that are missing",
                 .observed = "an engine that was built without a refit mode",
                 .remedy = "Build it with BuilderConfig::refit, or 'ingot compile --refit whole'."});
}

// Throws unless the model is the one that the engine was built from, but for its weights.
void require_structure(const Engine::State& engine, const Graph& model) {
  const EngineContent& content = engine.weights.content;
  WeightNames names;
  for (const RefitWeight& weight : content.weights) names.insert(weight.name);
  std::string observed = "another structure";
  try {
    const auto weights = find_weights(model, content.refit, names);
    if (structure_of(hide_weights(model, weights)) == content.structure) return;
  } catch (const Error& e) {
    observed = e.what();
  }
  throw Error({.code = ErrorCode::incompatible,
               .object = "model to refit from",
               .name = model.name(),
               .expected = fmt::format("the model of engine '{}' with other weights", engine.name),
               .observed = observed,
               .remedy = "Build an engine from this model, or set single weights by name."});
}

// A view of a tensor as the type of a constant of as many bytes.
Tensor as_type_of(const Tensor& old, const Tensor& value) {
  return Tensor::share(old.dtype(), old.shape(), value.bytes(), std::make_shared<const Tensor>(value));
}

Graph with_constants(const Graph& graph, const NewConstants& with) {
  return replace_constants(graph, [&](int32_t node, const Tensor& old) -> std::optional<Tensor> {
    if (const auto found = with.by_node.find(node); found != with.by_node.end()) return found->second;
    if (old.is_string()) return std::nullopt;
    if (const auto found = with.by_blob.find(old.bytes().data()); found != with.by_blob.end())
      return as_type_of(old, found->second);
    return std::nullopt;
  });
}

}  // namespace

struct Refitter::State {
  std::shared_ptr<const Engine> owner;
  Engine::State& engine;
  std::vector<WeightInfo> infos;
  std::map<std::string, Tensor> given;

  void list_weights(const std::vector<WeightSlot>& slots) {
    infos.clear();
    for (const WeightSlot& slot : slots) infos.push_back(slot.info);
  }

  void take(const Graph& model) {
    Offer offer(model);
    for (const WeightInfo& info : infos) {
      const bool by_content = info.identical && !info.sha256.empty();
      const Tensor* found = by_content ? offer.by_content(info.bytes, info.sha256) : offer.by_name(info.name);
      if (found != nullptr && by_content)
        given.insert_or_assign(info.name, Tensor::share(info.dtype, info.shape, found->bytes(),
                                                        std::make_shared<const Tensor>(*found)));
      else if (found != nullptr)
        given.insert_or_assign(info.name, *found);
    }
  }

  void check(const std::vector<WeightSlot>& slots) const;
  NewConstants constants(const std::vector<WeightSlot>& slots) const;
  std::string identity() const;
  void commit();
};

void Refitter::State::check(const std::vector<WeightSlot>& slots) const {
  Mistakes mistakes;
  std::set<std::string_view> known;
  for (const WeightSlot& slot : slots) {
    const WeightInfo& info = slot.info;
    known.insert(info.name);
    const auto found = given.find(info.name);
    if (found == given.end()) {
      if (info.missing) mistakes.add("missing", fmt::format("'{}'", info.name));
      continue;
    }
    const Tensor& value = found->second;
    if (value.dtype() != info.dtype || value.shape() != info.shape) {
      mistakes.add("of a wrong type",
                   fmt::format("'{}' is {} instead of {}", info.name, type_text(value.dtype(), value.shape()),
                               type_text(info.dtype, info.shape)));
    } else if (info.identical) {
      const bool same = info.missing ? to_hex(sha256(value.bytes())) == info.sha256
                                     : engine.weights.graph->nodes()[static_cast<size_t>(slot.nodes[0])]
                                           .as<ConstantAttrs>()
                                           .value.identical(value);
      if (!same) mistakes.add("of other content than it was built with", fmt::format("'{}'", info.name));
    }
  }
  for (const auto& [name, value] : given)
    if (!known.contains(name)) mistakes.add("that the engine does not have", fmt::format("'{}'", name));
  if (mistakes.empty()) return;
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "weights for engine",
               .name = engine.name,
               .expected = "every missing weight, each of the type that the engine has",
               .observed = mistakes.text(),
               .remedy = "Refitter::weights() lists what can be given; nothing was changed."});
}

NewConstants Refitter::State::constants(const std::vector<WeightSlot>& slots) const {
  NewConstants out;
  for (const WeightSlot& slot : slots) {
    const auto found = given.find(slot.info.name);
    if (found == given.end()) continue;
    const Tensor value = found->second.aligned();
    for (int32_t node : slot.nodes) out.by_node.emplace(node, value);
    if (slot.nodes.empty()) out.by_blob.emplace(slot.blob, value);
  }
  return out;
}

// What is cached for an engine is cached for its content.
std::string Refitter::State::identity() const {
  Sha256 sha;
  sha.update(engine.identity);
  for (const auto& [name, value] : given) {
    sha.update(fmt::format("{}:{}", name.size(), name));
    const Digest content = sha256(value.bytes());
    sha.update(std::as_bytes(std::span(content)));
  }
  return to_hex(sha.finish());
}

void Refitter::State::commit() {
  EngineWeights& weights = engine.weights;
  const std::lock_guard lock(weights.mutex);
  const MemoryScope scope(engine.memory, MemoryPurpose::weights);
  const std::vector<WeightSlot> slots = weights.slots();
  check(slots);
  if (given.empty()) return;
  auto graph = std::make_shared<const Graph>(with_constants(*weights.graph, constants(slots)));
  std::string identity = this->identity();
  std::shared_ptr<const Program> program = weights.compile(graph, identity, false);
  // Nothing throws from here on.
  engine.identity = std::move(identity);
  weights.graph = std::move(graph);
  weights.content.missing.clear();
  weights.content.stripped = false;
  weights.changed = true;
  engine.program = std::move(program);
  given.clear();
}

Refitter::Refitter(std::shared_ptr<const Engine> engine) {
  Engine::State& state = *engine->state_;
  reported(state.diagnostics, [&] {
    const std::lock_guard lock(state.weights.mutex);
    require_refittable(state);
    state_ = std::make_unique<State>(State{std::move(engine), state, {}, {}});
    state_->list_weights(state.weights.slots());
  });
}

Refitter::~Refitter() = default;

const std::vector<WeightInfo>& Refitter::weights() const { return state_->infos; }

std::vector<std::string> Refitter::missing() const {
  std::vector<std::string> out;
  for (const WeightInfo& info : state_->infos)
    if (info.missing && !state_->given.contains(info.name)) out.push_back(info.name);
  return out;
}

size_t Refitter::given() const { return state_->given.size(); }

void Refitter::set(const std::string& name, Tensor value) {
  state_->given.insert_or_assign(name, std::move(value));
}

void Refitter::set_from(const Graph& model) {
  reported(state_->engine.diagnostics, [&] {
    if (state_->engine.weights.content.refit != RefitMode::none) require_structure(state_->engine, model);
    state_->take(model);
  });
}

void Refitter::set_from_engine(const std::string& path) {
  reported(state_->engine.diagnostics, [&] {
    const std::shared_ptr<const MappedFile> file = MappedFile::open(path, kObject);
    const EngineContent content = read_engine(file->bytes(), file, path);
    if (content.stripped)
      throw Error({.code = ErrorCode::invalid_argument,
                   .object = std::string(kObject),
                   .name = path,
                   .expected = "an engine with its weights",
                   .observed = describe_missing(content.missing),
                   .remedy = "Take the weights from a full engine or from the model."});
    state_->take(content.graph);
  });
}

void Refitter::commit() {
  reported(state_->engine.diagnostics, [&] {
    state_->commit();
    const std::lock_guard lock(state_->engine.weights.mutex);
    state_->list_weights(state_->engine.weights.slots());
    state_->engine.diagnostics.log(LogLevel::info,
                                   fmt::format("engine '{}' has new weights", state_->engine.name));
  });
}

}  // namespace ingot
