#include "passes/simplify_shapes.h"

#include <map>

#include "ir/builder_helpers.h"
#include "ir/op_info.h"
#include "passes/rewrite.h"

namespace ingot {
namespace {

// Where a symbol can be read: axis `axis` of `value`.
struct Place {
  Value value;
  int64_t axis;
};
using Places = std::map<std::string, Place, std::less<>>;

std::string key_of(const Dim& d) { return std::string(*d.symbol_name()); }

void remember_sizes(const GraphBuilder& g, Value v, Places& places) {
  if (!g.is_ranked(v)) return;
  const Dims& dims = g.dims(v);
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i].symbol_name()) places.try_emplace(key_of(dims[i]), Place{v, static_cast<int64_t>(i)});
}

// Neighbouring sizes of one value are read at once.
class SizeVector {
 public:
  SizeVector(GraphBuilder& g, const Places& places) : g_(g), places_(places) {}

  // False where the size is neither a number nor found anywhere.
  bool append(const Dim& d) {
    if (d.is_constant()) {
      flush_sizes();
      numbers_.push_back(d.constant());
      return true;
    }
    auto found = d.symbol_name() ? places_.find(*d.symbol_name()) : places_.end();
    if (found == places_.end()) return false;
    flush_numbers();
    auto [value, axis] = found->second;
    if (from_.is_none() || from_ != value || end_ != axis) {
      flush_sizes();
      from_ = value;
      start_ = axis;
    }
    end_ = axis + 1;
    return true;
  }

  Value take() {
    flush_numbers();
    flush_sizes();
    return parts_.size() == 1 ? parts_[0] : g_.concat(parts_, {.axis = 0});
  }

 private:
  void flush_numbers() {
    if (!numbers_.empty()) parts_.push_back(int_list(g_, numbers_));
    numbers_.clear();
  }
  void flush_sizes() {
    if (!from_.is_none()) parts_.push_back(sizes_of(g_, from_, start_, end_));
    from_ = Value();
  }

  GraphBuilder& g_;
  const Places& places_;
  std::vector<Value> parts_;
  std::vector<int64_t> numbers_;
  Value from_;
  int64_t start_ = 0, end_ = 0;
};

bool holds_sizes(const Node& node) {
  const OpInfo& info = op_info(node.op);
  bool plain = node.types.size() == 1 && !info.is(Control) && !info.is(Source);
  return plain && node.types[0].is_ranked() && node.types[0].dtype == DType::i64 &&
         node.types[0].dims->size() <= 1;
}

std::optional<Value> read_sizes(Rewriter& r, Value v, const Places& places) {
  GraphBuilder& g = r.g();
  auto known = g.known_values(v);
  if (!known || known->empty() || g.rank(v) > 1) return std::nullopt;
  if (std::ranges::all_of(*known, &Dim::is_constant)) return std::nullopt;  // folding is another pass
  SizeVector sizes(g, places);
  for (const Dim& d : *known)
    if (!sizes.append(d)) return std::nullopt;
  Value vector = sizes.take();
  return g.rank(v) == 0 ? as_scalar(g, vector) : vector;
}

// Sizes for reshape with at most one -1, which needs the rest to be above 0, and copies of the operand's.
std::optional<std::vector<int64_t>> constant_sizes(const Dims& from, const Dims& to) {
  std::vector<int64_t> out;
  std::optional<size_t> rest;
  bool positive = true;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == Dim(0)) return std::nullopt;
    if (to[i].is_constant()) {
      out.push_back(to[i].constant());
    } else if (i < from.size() && from[i] == to[i]) {
      positive = positive && to[i].low() > 0;
      out.push_back(0);
    } else if (!rest) {
      rest = i;
      out.push_back(-1);
    } else {
      return std::nullopt;
    }
  }
  if (rest && !positive) return std::nullopt;
  return out;
}

std::optional<Value> reshape_by_constant(Rewriter& r, Value kept) {
  GraphBuilder& g = r.g();
  Value source = g.node(kept).operands[0], sizes = g.node(kept).operands[1];
  if (g.constant_value(sizes) || !g.known_values(sizes) || !g.is_ranked(source) || !g.is_ranked(kept))
    return std::nullopt;
  Dims wanted = g.dims(kept);
  auto constant = constant_sizes(g.dims(source), wanted);
  if (!constant) return std::nullopt;
  Value reshaped = g.reshape(source, int_list(g, *constant));
  return g.dims(reshaped) == wanted ? std::optional(reshaped) : std::nullopt;
}

std::vector<Value> simplify(Rewriter& r, const Node& node, std::span<const Value> operands, Places& places) {
  GraphBuilder& g = r.g();
  for (Value v : operands)
    if (r.is(v, Op::Input)) remember_sizes(g, v, places);
  auto kept = g.add(node.attrs, {operands.begin(), operands.end()}, {}, static_cast<int>(node.types.size()));
  std::optional<Value> shorter;
  if (node.op == Op::Reshape) shorter = reshape_by_constant(r, kept[0]);
  if (!shorter && holds_sizes(node)) shorter = read_sizes(r, kept[0], places);
  if (shorter) return {*shorter};
  for (Value v : kept) remember_sizes(g, v, places);
  return kept;
}

}  // namespace

Graph simplify_shapes(const Graph& graph) {
  std::map<const Graph*, Places> places;  // each subgraph has symbols of its own
  return rewrite(graph,
                 [&](Rewriter& r, const Node& node,
                     std::span<const Value> operands) -> std::optional<std::vector<Value>> {
                   if (!node.subgraphs.empty()) return std::nullopt;
                   return simplify(r, node, operands, places[&r.old()]);
                 });
}

}  // namespace ingot
