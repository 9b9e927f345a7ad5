#include "engine/decode_graph.h"

#include <bit>
#include <map>

#include "engine/engine_file.h"
#include "engine/stored_access.h"
#include "ir/op_info.h"
#include "ir/substitute.h"

namespace ingot {
namespace {

DType element_type(uint8_t number) {
  auto dtype = static_cast<DType>(number);
  (void)bit_width(dtype);  // throws for a number that is no type
  return dtype;
}

class Decoder {
 public:
  Decoder(const stored::Graph& stored, std::span<const Type> types, std::span<const GraphPtr> earlier,
          BlobSource& blobs, Budget& budget)
      : stored_(stored),
        types_(types),
        earlier_(earlier),
        blobs_(blobs),
        budget_(budget),
        g_(stored.name()->str()) {}

  Graph run() {
    if (stored_.notes())
      for (const stored::Note* n : *stored_.notes()) g_.set_metadata(text(n->key()), text(n->value()));
    read_symbols();
    for (const stored::Node* n : *stored_.nodes()) {
      if (view(n->op()) == to_string(Op::Input))
        read_input(*n);
      else
        read_node(*n);
    }
    for (const stored::Port* p : *stored_.outputs()) {
      check_port(*p);
      g_.output(text(p->name()), value(*p->value()));
    }
    Graph graph = std::move(g_).finish();
    check_inputs(graph);
    return graph;
  }

 private:
  std::string text(const flatbuffers::String* s) {
    budget_.charge(s->size() + sizeof(std::string));
    return s->str();
  }

  void read_symbols() {
    if (stored_.symbols() == nullptr) return;
    for (const stored::Symbol* s : *stored_.symbols()) {
      std::string name = text(s->name());
      Dim symbol = Dim::symbol(name, s->low(), s->high());
      symbols_.insert_or_assign(std::move(name), std::move(symbol));
    }
  }

  Type type(uint32_t index) {
    if (index >= types_.size())
      corrupt("type index", fmt::format("one below {}", types_.size()), fmt::format("{}", index));
    const Type& type = types_[index];
    budget_.charge(sizeof(Type) + (type.dims ? type.dims->size() * sizeof(Dim) : 0));
    if (symbols_.empty()) return type;
    return substitute(type, [&](std::string_view name) -> std::optional<Dim> {
      auto found = symbols_.find(name);
      return found == symbols_.end() ? std::nullopt : std::optional<Dim>(found->second);
    });
  }

  static Value value(const stored::Reference& r) {
    if (r.node() < -1 || (r.node() == -1 && r.output() != 0))
      corrupt("reference", "a node, or -1 for none", fmt::format("{}", r.node()));
    return {r.node(), r.output()};
  }

  void read_input(const stored::Node& n) {
    if (n.types()->size() != 1 || n.operands() || n.subgraphs())
      corrupt("node 'input'", "one type and no operands", "others");
    Attrs attrs = attributes(op_info(Op::Input), n);
    g_.input(attrs.as<InputAttrs>().name, type(n.types()->Get(0)));
  }

  void read_node(const stored::Node& n) {
    const OpInfo& info = *find_op(view(n.op()));
    std::vector<Value> operands;
    if (n.operands())
      for (const stored::Reference* r : *n.operands()) operands.push_back(value(*r));
    std::vector<GraphPtr> subgraphs;
    if (n.subgraphs())
      for (uint32_t index : *n.subgraphs()) subgraphs.push_back(earlier_[index]);
    g_.set_origin(n.origin() ? text(n.origin()) : std::string());
    budget_.charge(sizeof(Node) + operands.size() * sizeof(Value));
    auto count = static_cast<int>(n.types()->size());
    auto results = g_.add(attributes(info, n), std::move(operands), std::move(subgraphs), count);
    if (static_cast<int>(results.size()) != count)
      corrupt(fmt::format("node '{}'", info.name), fmt::format("{} output types", results.size()),
              fmt::format("{}", count));
    for (uint32_t i = 0; i < n.types()->size(); ++i) g_.declare(results[i], type(n.types()->Get(i)));
  }

  Attrs attributes(const OpInfo& info, const stored::Node& n) {
    std::vector<NamedAttr> known = info.list_attrs(info.make_attrs({}).raw());
    std::vector<NamedAttr> given;
    if (n.attributes()) {
      for (const stored::Attribute* a : *n.attributes()) {
        auto found = std::ranges::find(known, view(a->name()), &NamedAttr::name);
        if (found == known.end())
          throw Error({.code = ErrorCode::incompatible,
                       .object = fmt::format("attribute of {}", info.name),
                       .name = a->name()->str(),
                       .expected = fmt::format("one of the {} attributes of this version", known.size()),
                       .observed = "another name",
                       .remedy = "Open it with a newer Ingot, or build it again with this one."});
        given.push_back({found->name, attribute_value(*a)});
      }
    }
    return info.make_attrs(given);
  }

  AttrValue attribute_value(const stored::Attribute& a) {
    switch (a.value_type()) {
      case stored::AttributeValue_Integer: return int64_t{a.value_as_Integer()->value()};
      case stored::AttributeValue_Real: return std::bit_cast<double>(uint64_t{a.value_as_Real()->bits()});
      case stored::AttributeValue_Flag: return a.value_as_Flag()->value();
      case stored::AttributeValue_Text: return text(a.value_as_Text()->value());
      case stored::AttributeValue_ElementType: return element_type(a.value_as_ElementType()->value());
      case stored::AttributeValue_Integers: return numbers(*a.value_as_Integers()->values());
      case stored::AttributeValue_Reals: return numbers(*a.value_as_Reals()->values());
      case stored::AttributeValue_Texts: return texts(*a.value_as_Texts()->values());
      case stored::AttributeValue_Constant: return constant(*a.value_as_Constant());
      default: corrupt("attribute", "a known kind of value", fmt::format("{}", int{a.value_type()}));
    }
  }

  template <class T>
  std::vector<T> numbers(const flatbuffers::Vector<T>& stored) {
    require_aligned(stored);
    budget_.charge(stored.size() * sizeof(T));
    return {stored.begin(), stored.end()};
  }

  std::vector<std::string> texts(
      const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>& stored) {
    std::vector<std::string> out;
    for (const auto* s : stored) out.push_back(text(s));
    return out;
  }

  Tensor constant(const stored::Constant& c) {
    DType dtype = element_type(c.dtype());
    Shape shape = numbers(*c.shape());
    bool has_blob = c.blob() >= 0;
    if ((c.bytes() != nullptr) + (c.strings() != nullptr) + has_blob != 1 ||
        (dtype == DType::string) != (c.strings() != nullptr))
      corrupt("constant", "one of bytes, strings and blob, as its element type needs", "others");
    if (c.strings()) return Tensor::of_strings(std::move(shape), texts(*c.strings()));
    Tensor out = has_blob ? blob(static_cast<uint32_t>(c.blob()), dtype, std::move(shape))
                          : inline_constant(*c.bytes(), dtype, std::move(shape));
    if (dtype == DType::boolean &&
        std::ranges::any_of(out.bytes(), [](std::byte b) { return b > std::byte{1}; }))
      corrupt("constant", "0 or 1 for a bool", "another byte");
    return out;
  }

  Tensor inline_constant(const flatbuffers::Vector<uint8_t>& stored, DType dtype, Shape shape) {
    if (stored.size() > kLargestInlineConstant)
      corrupt("constant", fmt::format("at most {} bytes in the metadata", kLargestInlineConstant),
              fmt::format("{}", stored.size()));
    auto bytes = std::as_bytes(std::span(stored.data(), stored.size()));
    return Tensor::share(dtype, std::move(shape), bytes, blobs_.owner).aligned();
  }

  Tensor blob(uint32_t index, DType dtype, Shape shape) {
    if (index >= blobs_.ranges.size())
      corrupt("constant", fmt::format("a blob below {}", blobs_.ranges.size()), fmt::format("{}", index));
    blobs_.is_used[index] = true;
    const BlobRange& range = blobs_.ranges[index];
    if (blobs_.zeros)
      return Tensor::share(dtype, std::move(shape), {blobs_.zeros.get() + range.offset, range.size},
                           blobs_.zeros);
    return Tensor::share(dtype, std::move(shape), blobs_.weights.subspan(range.offset, range.size),
                         blobs_.owner);
  }

  void check_port(const stored::Port& p) {
    Type stated = type(p.type());
    const Type& actual = g_.type(value(*p.value()));
    if (stated != actual) corrupt("port '" + p.name()->str() + "'", to_string(actual), to_string(stated));
  }

  void check_inputs(const Graph& graph) {
    bool agrees = stored_.inputs()->size() == graph.inputs().size();
    for (uint32_t i = 0; agrees && i < stored_.inputs()->size(); ++i) {
      const stored::Port& p = *stored_.inputs()->Get(i);
      const Port& actual = graph.inputs()[i];
      agrees = view(p.name()) == actual.name && value(*p.value()) == actual.value &&
               type(p.type()) == graph.type(actual.value);
    }
    if (!agrees) corrupt("input table", "the input nodes in their order", "another list");
  }

  const stored::Graph& stored_;
  std::span<const Type> types_;
  std::span<const GraphPtr> earlier_;
  BlobSource& blobs_;
  Budget& budget_;
  GraphBuilder g_;
  std::map<std::string, Dim, std::less<>> symbols_;
};

}  // namespace

Graph decode_graph(const stored::Graph& stored, std::span<const Type> types,
                   std::span<const GraphPtr> earlier, BlobSource& blobs, Budget& budget) {
  return Decoder(stored, types, earlier, blobs, budget).run();
}

}  // namespace ingot
