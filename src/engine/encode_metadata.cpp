#include "engine/encode_metadata.h"

#include <bit>
#include <map>

#include "base/checked.h"
#include "engine/header.h"
#include "engine/stored.h"
#include "ir/op_info.h"

namespace ingot {
namespace {

using flatbuffers::Offset;
template <class T>
using Offsets = Offset<flatbuffers::Vector<T>>;

constexpr size_t kInlineAlignment = 16;

template <class Range, class F>
auto map(const Range& range, F f) {
  std::vector<decltype(f(*range.begin()))> out;
  out.reserve(range.size());
  for (const auto& item : range) out.push_back(f(item));
  return out;
}

// Compilers differ in the order in which they evaluate arguments, and the order of creation decides the
// bytes: at most one argument of a call may create something.
class Encoder {
 public:
  Encoder(const EngineContent& content, BlobTable& blobs) : content_(content), blobs_(blobs) {}

  std::vector<std::byte> run() {
    add_graph(content_.graph);
    auto graphs = out_.CreateVector(graphs_);
    auto types = texts(types_);
    std::vector<stored::Blob> ranges;
    for (const auto& blob : blobs_.blobs()) ranges.emplace_back(blob.range.offset, blob.range.size);
    auto blobs = out_.CreateVectorOfStructs(ranges);
    Offsets<Offset<stored::MissingBlob>> missing;
    if (content_.stripped) missing = missing_blobs();
    auto profiles = out_.CreateVector(map(content_.profiles, [&](const Profile& p) { return profile(p); }));
    auto targets = texts(content_.targets);
    Offsets<Offset<stored::RefitWeight>> weights;
    if (content_.refit != RefitMode::none) weights = refit_weights();
    const stored::Sha256 structure(content_.structure);
    auto producer = text(producer_text(producer_version()));
    stored::FinishEngineBuffer(
        out_, stored::CreateEngine(out_, producer, types, graphs, blobs, missing, profiles, targets,
                                   static_cast<uint8_t>(content_.refit), weights,
                                   content_.refit == RefitMode::none ? nullptr : &structure));
    auto* begin = reinterpret_cast<const std::byte*>(out_.GetBufferPointer());
    return {begin, begin + out_.GetSize()};
  }

 private:
  Offset<flatbuffers::String> text(std::string_view s) { return out_.CreateSharedString(s.data(), s.size()); }

  Offsets<Offset<flatbuffers::String>> texts(std::span<const std::string> items) {
    return out_.CreateVector(map(items, [&](const std::string& s) { return text(s); }));
  }

  // Graphs are stored before the nodes that hold them, the main graph last.
  uint32_t add_graph(const Graph& graph) {
    auto nodes = map(graph.nodes(), [&](const Node& n) { return node(n); });
    symbols_.clear();
    for (const Node& n : graph.nodes())
      for (const Type& t : n.types) collect_symbols(t);
    auto symbols = map(symbols_, [&](const auto& s) {
      return stored::CreateSymbol(out_, text(s.first), s.second.first, s.second.second);
    });
    auto notes = map(graph.metadata(), [&](const auto& n) {
      auto key = text(n.first), value = text(n.second);
      return stored::CreateNote(out_, key, value);
    });
    auto inputs = ports(graph, graph.inputs()), outputs = ports(graph, graph.outputs());
    auto stored_nodes = out_.CreateVector(nodes);
    auto stored_symbols = out_.CreateVector(symbols);
    auto stored_notes = out_.CreateVector(notes);
    graphs_.push_back(stored::CreateGraph(out_, text(graph.name()), stored_nodes, inputs, outputs,
                                          stored_symbols, stored_notes));
    return checked_cast<uint32_t>(graphs_.size() - 1);
  }

  Offsets<Offset<stored::Port>> ports(const Graph& graph, const std::vector<Port>& all) {
    return out_.CreateVector(map(all, [&](const Port& p) {
      stored::Reference value(p.value.node, p.value.output);
      return stored::CreatePort(out_, text(p.name), type_index(graph.type(p.value)), &value);
    }));
  }

  Offset<stored::Node> node(const Node& n) {
    auto subgraphs = map(n.subgraphs, [&](const GraphPtr& g) { return add_graph(*g); });
    auto attributes = map(list_attrs(n.attrs), [&](const NamedAttr& a) { return attribute(a, n.origin); });
    auto operands = map(n.operands, [](Value v) { return stored::Reference(v.node, v.output); });
    auto types = map(n.types, [&](const Type& t) { return type_index(t); });
    auto stored_types = out_.CreateVector(types);
    auto stored_operands = operands.empty() ? 0 : out_.CreateVectorOfStructs(operands);
    auto stored_attributes = attributes.empty() ? 0 : out_.CreateVector(attributes);
    auto stored_subgraphs = subgraphs.empty() ? 0 : out_.CreateVector(subgraphs);
    auto origin = n.origin.empty() ? 0 : text(n.origin);
    return stored::CreateNode(out_, text(to_string(n.op)), stored_operands, stored_attributes,
                              stored_subgraphs, stored_types, origin);
  }

  uint32_t type_index(const Type& type) {
    std::string form = to_string(type);
    auto [it, added] = type_indices_.emplace(std::move(form), static_cast<uint32_t>(types_.size()));
    if (added) types_.push_back(it->first);
    return it->second;
  }

  // Those whose range is not the default.
  void collect_symbols(const Type& type) {
    if (!type.is_tensor()) return collect_symbols(*type.inner);
    if (!type.dims) return;
    for (const Dim& d : *type.dims)
      d.visit_symbols([&](std::string_view name, int64_t low, int64_t high) {
        if (low != 0 || high != Dim::kMax) symbols_.emplace(name, std::pair(low, high));
      });
  }

  Offset<stored::Attribute> attribute(const NamedAttr& a, const std::string& origin) {
    auto [kind, value] = std::visit([&](const auto& v) { return attribute_value(v, origin); }, a.value);
    return stored::CreateAttribute(out_, text(a.name), kind, value);
  }

  using TypedValue = std::pair<stored::AttributeValue, Offset<void>>;

  TypedValue attribute_value(int64_t v, const std::string&) {
    return {stored::AttributeValue_Integer, stored::CreateInteger(out_, v).Union()};
  }
  TypedValue attribute_value(double v, const std::string&) {
    return {stored::AttributeValue_Real, stored::CreateReal(out_, std::bit_cast<uint64_t>(v)).Union()};
  }
  TypedValue attribute_value(bool v, const std::string&) {
    return {stored::AttributeValue_Flag, stored::CreateFlag(out_, v).Union()};
  }
  TypedValue attribute_value(const std::string& v, const std::string&) {
    return {stored::AttributeValue_Text, stored::CreateText(out_, text(v)).Union()};
  }
  TypedValue attribute_value(DType v, const std::string&) {
    return {stored::AttributeValue_ElementType,
            stored::CreateElementType(out_, static_cast<uint8_t>(v)).Union()};
  }
  TypedValue attribute_value(const std::vector<int64_t>& v, const std::string&) {
    return {stored::AttributeValue_Integers, stored::CreateIntegers(out_, out_.CreateVector(v)).Union()};
  }
  TypedValue attribute_value(const std::vector<double>& v, const std::string&) {
    return {stored::AttributeValue_Reals, stored::CreateReals(out_, out_.CreateVector(v)).Union()};
  }
  TypedValue attribute_value(const std::vector<std::string>& v, const std::string&) {
    return {stored::AttributeValue_Texts, stored::CreateTexts(out_, texts(v)).Union()};
  }
  TypedValue attribute_value(const Tensor& t, const std::string& origin) {
    auto shape = out_.CreateVector(t.shape());
    Offsets<uint8_t> bytes;
    Offsets<Offset<flatbuffers::String>> strings;
    int32_t blob = -1;
    if (t.is_string()) {
      strings = texts(t.strings());
    } else if (t.bytes().size() > kLargestInlineConstant) {
      blob = static_cast<int32_t>(blobs_.add(t, origin));
    } else {
      out_.ForceVectorAlignment(t.bytes().size(), 1, kInlineAlignment);
      bytes = out_.CreateVector(reinterpret_cast<const uint8_t*>(t.bytes().data()), t.bytes().size());
    }
    return {
        stored::AttributeValue_Constant,
        stored::CreateConstant(out_, static_cast<uint8_t>(t.dtype()), shape, bytes, strings, blob).Union()};
  }

  Offsets<Offset<stored::MissingBlob>> missing_blobs() {
    std::vector<Offset<stored::MissingBlob>> all;
    for (uint32_t i = 0; i < blobs_.blobs().size(); ++i) {
      stored::Sha256 digest(blobs_.digest(i));
      all.push_back(stored::CreateMissingBlob(out_, text(blobs_.blobs()[i].name), &digest));
    }
    return out_.CreateVector(all);
  }

  Offsets<Offset<stored::RefitWeight>> refit_weights() {
    return out_.CreateVector(map(content_.weights, [&](const RefitWeight& w) {
      auto name = text(w.name);
      return stored::CreateRefitWeight(out_, name, out_.CreateVector(w.nodes));
    }));
  }

  Offset<stored::Profile> profile(const Profile& p) {
    auto shapes = map(p.inputs, [&](const auto& s) {
      auto min = out_.CreateVector(s.second.min), opt = out_.CreateVector(s.second.opt),
           max = out_.CreateVector(s.second.max);
      return stored::CreateProfileShape(out_, text(s.first), min, opt, max);
    });
    auto dims = map(p.dims, [&](const auto& d) {
      return stored::CreateProfileDim(out_, text(d.first), d.second.min, d.second.opt, d.second.max);
    });
    auto stored_shapes = out_.CreateVector(shapes);
    auto stored_dims = out_.CreateVector(dims);
    return stored::CreateProfile(out_, text(p.name), stored_shapes, stored_dims);
  }

  const EngineContent& content_;
  BlobTable& blobs_;
  flatbuffers::FlatBufferBuilder out_{1 << 16};
  std::vector<Offset<stored::Graph>> graphs_;
  std::vector<std::string> types_;
  std::map<std::string, uint32_t> type_indices_;
  std::map<std::string, std::pair<int64_t, int64_t>> symbols_;  // of the graph at hand
};

}  // namespace

std::vector<std::byte> encode_metadata(const EngineContent& content, BlobTable& blobs) {
  return Encoder(content, blobs).run();
}

}  // namespace ingot
