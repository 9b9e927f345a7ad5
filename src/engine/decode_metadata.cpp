#include "engine/decode_metadata.h"

#include <set>

#include "engine/blobs.h"
#include "engine/budget.h"
#include "engine/decode_graph.h"
#include "engine/profiles.h"
#include "engine/stored.h"
#include "engine/stored_access.h"
#include "engine/zero_pages.h"
#include "ir/op_info.h"
#include "ir/parse.h"

namespace ingot {
namespace {

constexpr uint32_t kMostNestedTables = 16;
constexpr size_t kDeepestSubgraph = 64;
constexpr size_t kLongestType = 65536;
constexpr size_t kSymbolBytes = 256;  // about what one symbol of an expression takes in memory

const stored::Engine& verified(std::span<const std::byte> bytes) {
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  // A table takes at least 4 bytes; more visits than that mean that tables are shared to cost time.
  auto most_tables = static_cast<uint32_t>(bytes.size() / 4 + 16);
  bool is_sound = bytes.size() < FLATBUFFERS_MAX_BUFFER_SIZE;
  if (is_sound) {
    flatbuffers::Verifier verifier(data, bytes.size(), kMostNestedTables, most_tables);
    is_sound = stored::VerifyEngineBuffer(verifier);
  }
  if (!is_sound) corrupt("metadata", "a well-formed FlatBuffer", "broken offsets or types");
  return *stored::GetEngine(data);
}

void refuse_unknown_ops(const stored::Engine& engine) {
  std::set<std::string> unknown;
  for (const stored::Graph* g : *engine.graphs())
    for (const stored::Node* n : *g->nodes())
      if (find_op(view(n->op())) == nullptr) unknown.insert(n->op()->str());
  if (unknown.empty()) return;
  throw Error({.code = ErrorCode::incompatible,
               .object = "engine metadata",
               .expected = "ops of this version",
               .observed = fmt::format("unknown {}", fmt::join(unknown, ", ")),
               .remedy = "Open it with a newer Ingot, or build it again with this one."});
}

class Decoder {
 public:
  explicit Decoder(const EngineSections& sections)
      : sections_(sections), engine_(verified(sections.metadata)), budget_(sections.metadata.size()) {}

  EngineContent run() {
    refuse_unknown_ops(engine_);
    content_.stripped = (sections_.header.features & kStrippedWeights) != 0;
    read_types();
    read_blobs();
    read_missing();
    read_graphs();
    read_refit_weights();
    read_profiles();
    for (const auto* t : *engine_.targets()) content_.targets.push_back(t->str());
    content_.producer = engine_.producer()->str();
    check_features();
    return std::move(content_);
  }

 private:
  void read_types() {
    for (const auto* text : *engine_.types()) {
      if (text->size() > kLongestType)
        corrupt("type", fmt::format("a text of at most {} bytes", kLongestType),
                fmt::format("{}", text->size()));
      types_.push_back(parse_type(view(text)));
      charge_type(types_.back());
    }
  }

  void charge_type(const Type& type) {
    if (!type.is_tensor()) return charge_type(*type.inner);
    budget_.charge(sizeof(Type));
    if (!type.dims) return;
    budget_.charge(type.dims->size() * sizeof(Dim));
    for (const Dim& d : *type.dims)
      d.visit_symbols(
          [&](std::string_view name, int64_t, int64_t) { budget_.charge(kSymbolBytes + name.size()); });
  }

  // The layout follows from the sizes, so one comparison finds overlaps, gaps and misalignment.
  void read_blobs() {
    uint64_t end = 0, total = 0;
    for (const stored::Blob* stored : *engine_.blobs()) {
      auto range = blob_after(end, stored->size());
      if (stored->size() <= kLargestInlineConstant || !range || range->offset != stored->offset())
        corrupt(fmt::format("blob {}", blobs_.size()),
                fmt::format("more than {} bytes at the first aligned offset from {}", kLargestInlineConstant,
                            end),
                fmt::format("{} bytes at {}", stored->size(), stored->offset()));
      blobs_.push_back(*range);
      end = range->end();
      total += stored->size();
    }
    uint64_t present = content_.stripped ? 0 : end;
    const uint64_t stated = sections_.header.file_size - sections_.header.weights_offset;
    if (present != stated || (!sections_.is_deferred && present != sections_.weights.size()))
      corrupt("weights section", fmt::format("{} bytes for its blobs", present), fmt::format("{}", stated));
    if (total != sections_.header.weight_bytes)
      corrupt("header", fmt::format("{} weight bytes", total),
              fmt::format("{}", sections_.header.weight_bytes));
  }

  void read_missing() {
    size_t count = engine_.missing() ? engine_.missing()->size() : 0;
    size_t expected = content_.stripped ? blobs_.size() : 0;
    if (count != expected)
      corrupt("metadata", fmt::format("{} entries of missing weights", expected), fmt::format("{}", count));
    if (!blobs_.empty() && (content_.stripped || sections_.is_deferred))
      zeros_ = zero_pages(blobs_.back().end());
    for (uint32_t i = 0; i < count; ++i) {
      const stored::MissingBlob& m = *engine_.missing()->Get(i);
      budget_.charge(sizeof(MissingWeights) + m.name()->size());
      MissingWeights out{m.name()->str(), blobs_[i].size, {}, zeros_.get() + blobs_[i].offset};
      std::copy(m.sha256()->bytes()->begin(), m.sha256()->bytes()->end(), out.sha256.begin());
      content_.missing.push_back(std::move(out));
    }
    content_.zeros = zeros_;
  }

  void read_graphs() {
    std::vector<GraphPtr> graphs;
    std::vector<size_t> heights;
    std::vector<bool> is_used(engine_.graphs()->size());
    BlobSource blobs{blobs_, sections_.weights, sections_.owner, zeros_, std::vector<bool>(blobs_.size())};
    for (const stored::Graph* stored : *engine_.graphs()) {
      std::vector<GraphPtr> subgraphs;
      size_t height = 0;
      take_subgraphs(*stored, graphs, heights, is_used, height);
      graphs.push_back(std::make_shared<const Graph>(decode_graph(*stored, types_, graphs, blobs, budget_)));
      heights.push_back(height);
    }
    if (graphs.empty()) corrupt("metadata", "a graph", "none");
    is_used.back() = true;
    require_all("graph", is_used);
    require_all("blob", blobs.is_used);
    content_.graph = *graphs.back();
  }

  // Each subgraph has one user, behind it, so what is stored is a tree.
  static void take_subgraphs(const stored::Graph& graph, const std::vector<GraphPtr>& graphs,
                             const std::vector<size_t>& heights, std::vector<bool>& is_used, size_t& height) {
    for (const stored::Node* node : *graph.nodes()) {
      if (node->subgraphs() == nullptr) continue;
      for (uint32_t index : *node->subgraphs()) {
        if (index >= graphs.size() || is_used[index])
          corrupt("subgraph", "the index of an earlier graph that has no other user",
                  fmt::format("{}", index));
        is_used[index] = true;
        height = std::max(height, heights[index] + 1);
      }
    }
    if (height > kDeepestSubgraph)
      corrupt("subgraph", fmt::format("at most {} levels", kDeepestSubgraph), fmt::format("{}", height));
  }

  static void require_all(std::string_view kind, const std::vector<bool>& is_used) {
    auto unused = std::ranges::find(is_used, false);
    if (unused != is_used.end())
      corrupt(fmt::format("{} {}", kind, unused - is_used.begin()), "a node that uses it", "none");
  }

  void read_refit_weights() {
    if (engine_.refit() > static_cast<uint8_t>(RefitMode::identical))
      corrupt("refit mode", "one of 4", fmt::format("{}", engine_.refit()));
    content_.refit = static_cast<RefitMode>(engine_.refit());
    const bool has_table = engine_.weights() != nullptr && engine_.structure() != nullptr;
    if ((content_.refit != RefitMode::none) != has_table || (engine_.weights() != nullptr) != has_table)
      corrupt("refit mode", "weights and a structure with a mode, none without", "others");
    if (!has_table) return;
    std::copy_n(engine_.structure()->bytes()->begin(), content_.structure.size(), content_.structure.begin());
    std::vector<bool> is_taken(content_.graph.nodes().size());
    for (const stored::RefitWeight* w : *engine_.weights()) read_refit_weight(*w, is_taken);
  }

  void read_refit_weight(const stored::RefitWeight& stored, std::vector<bool>& is_taken) {
    require_aligned(*stored.nodes());
    budget_.charge(sizeof(RefitWeight) + stored.name()->size() + stored.nodes()->size() * sizeof(int32_t));
    RefitWeight weight{stored.name()->str(), {stored.nodes()->begin(), stored.nodes()->end()}};
    if (weight.name.empty() || weight.nodes.empty() ||
        (!content_.weights.empty() && weight.name <= content_.weights.back().name))
      corrupt("weight '" + weight.name + "'", "names in ascending order, with their constants", "others");
    const Type* type = nullptr;
    for (int32_t node : weight.nodes) {
      const bool is_ours = node >= 0 && node < static_cast<int32_t>(is_taken.size()) &&
                           !is_taken[static_cast<size_t>(node)] &&
                           content_.graph.nodes()[static_cast<size_t>(node)].op == Op::Constant;
      if (!is_ours)
        corrupt("weight '" + weight.name + "'", "constants of its own", fmt::format("node {}", node));
      is_taken[static_cast<size_t>(node)] = true;
      const Type& own = content_.graph.nodes()[static_cast<size_t>(node)].types[0];
      if (type == nullptr) type = &own;
      if (own.dtype == DType::string || own != *type)
        corrupt("weight '" + weight.name + "'", "numbers of one type", to_string(own));
    }
    content_.weights.push_back(std::move(weight));
  }

  void read_profiles() {
    if (engine_.profiles() == nullptr) return;
    for (const stored::Profile* stored : *engine_.profiles()) {
      Profile profile{stored->name()->str(), {}, {}};
      if (stored->shapes())
        for (const stored::ProfileShape* s : *stored->shapes())
          profile.inputs[s->input()->str()] = {numbers(*s->min()), numbers(*s->opt()), numbers(*s->max())};
      if (stored->dims())
        for (const stored::ProfileDim* d : *stored->dims())
          profile.dims[d->name()->str()] = {d->min(), d->opt(), d->max()};
      resolve_profile(content_.graph, profile);
      content_.profiles.push_back(std::move(profile));
    }
  }

  Shape numbers(const flatbuffers::Vector<int64_t>& stored) {
    require_aligned(stored);
    budget_.charge(stored.size() * sizeof(int64_t));
    return {stored.begin(), stored.end()};
  }

  void check_features() const {
    uint32_t needed = features_of(content_.graph) | (content_.stripped ? kStrippedWeights : 0);
    if (needed != sections_.header.features)
      corrupt("header", fmt::format("features {:#x} that the graph needs", needed),
              fmt::format("{:#x}", sections_.header.features));
  }

  const EngineSections& sections_;
  const stored::Engine& engine_;
  Budget budget_;
  EngineContent content_;
  std::vector<Type> types_;
  std::vector<BlobRange> blobs_;
  std::shared_ptr<const std::byte> zeros_;
};

}  // namespace

EngineContent decode_metadata(const EngineSections& sections) { return Decoder(sections).run(); }

}  // namespace ingot
