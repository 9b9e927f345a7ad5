#include <cmath>
#include <limits>
#include <set>

#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/builder_helpers.h"
#include "ir/numeric.h"

// Decision trees, lowered to table look-ups: all rows walk down all trees at once, one level a step.
namespace ingot {
namespace {

constexpr int64_t kMaxTable = int64_t{1} << 26;
constexpr size_t kMaxDepth = 512;

enum class Branch : int64_t { leq, lt, gte, gt, eq, neq, member };

struct Children {
  std::vector<int64_t> if_true, if_false;
};

class TreeEnsemble {
 public:
  explicit TreeEnsemble(OnnxNodeContext& c) : c_(c), g_(c.g()), x_(c.in(0)), dtype_(c.dtype(0)) {
    nodes_ = c.ints_attr("nodes_featureids").size();
    modes_ = decode("nodes_modes");
    splits_ = decode("nodes_splits");
    weights_ = decode("leaf_weights");
    leaves_ = weights_.size();
    if (nodes_ == 0 || leaves_ == 0) c.fail_invalid("nodes and leaves", "none");
    for (size_t n : {modes_.size(), splits_.size()})
      if (n != nodes_)
        c.fail_invalid(fmt::format("{} values for each attribute nodes_*", nodes_), fmt::format("{}", n));
    children_ = {children("true"), children("false")};
    targets_ = c.int_attr("n_targets");
    if (targets_ < 1 || static_cast<int64_t>(leaves_) > kMaxTable / targets_)
      c.fail_unsupported(fmt::format("between 1 and {} weights", kMaxTable),
                         fmt::format("{} targets", targets_));
  }

  Value build() {
    auto roots = checked("tree_roots", c_.ints_attr("tree_roots").size(), nodes_);
    if (roots.empty()) c_.fail_invalid("at least one tree", "none");
    Value row = int_list(g_, roots);
    Value at = g_.broadcast_to(
        row, join(g_, {size_of(g_, x_, 0), int_list(g_, {static_cast<int64_t>(roots.size())})}));
    for (size_t level = depth(roots); level > 0; --level) at = step(at);
    return post_transform(aggregate(at));
  }

 private:
  std::vector<double> decode(const char* name) {
    auto t = c_.tensor_attr(name);
    if (!t) return {};
    if (t->dtype() != dtype_ && t->dtype() != DType::u8)
      c_.fail_invalid(fmt::format("{} of the type of the input", name), std::string(to_string(t->dtype())));
    std::vector<double> out(static_cast<size_t>(t->count()));
    decode_to_f64(t->dtype(), t->bytes().data(), t->count(), out.data());
    return out;
  }

  // A list of `count` indices below `limit`.
  std::vector<int64_t> checked(const std::string& name, size_t count, size_t limit) {
    auto values = c_.ints_attr(name);
    if (values.size() != count)
      c_.fail_invalid(fmt::format("{} values of {}", count, name), fmt::format("{}", values.size()));
    for (int64_t v : values)
      if (v < 0 || static_cast<size_t>(v) >= limit)
        c_.fail_invalid(fmt::format("values of {} in [0, {}]", name, limit - 1), fmt::format("{}", v));
    return values;
  }

  // Where a branch leads: nodes come first, then leaves, which lead to themselves.
  std::vector<int64_t> children(const std::string& branch) {
    auto is_leaf = checked("nodes_" + branch + "leafs", nodes_, 2);
    auto next = checked("nodes_" + branch + "nodeids", nodes_, std::max(nodes_, leaves_));
    for (size_t i = 0; i < nodes_; ++i) {
      if (static_cast<size_t>(next[i]) >= (is_leaf[i] ? leaves_ : nodes_))
        c_.fail_invalid(fmt::format("children of node {} that exist", i), fmt::format("{}", next[i]));
      if (is_leaf[i]) next[i] += static_cast<int64_t>(nodes_);
    }
    for (size_t i = 0; i < leaves_; ++i) next.push_back(static_cast<int64_t>(nodes_ + i));
    return next;
  }

  size_t depth(const std::vector<int64_t>& roots) {
    std::set<int64_t> level(roots.begin(), roots.end());
    for (size_t steps = 0; steps <= std::min(nodes_, kMaxDepth); ++steps) {
      std::set<int64_t> below;
      for (int64_t node : level)
        if (static_cast<size_t>(node) < nodes_)
          for (const auto* next : {&children_.if_true, &children_.if_false})
            below.insert((*next)[static_cast<size_t>(node)]);
      if (below.empty()) return steps;
      level = std::move(below);
    }
    c_.fail_unsupported(fmt::format("trees without cycles, at most {} levels deep", kMaxDepth),
                        "a longer path");
  }

  // A value for each node, then `rest` for each leaf, looked up at the places where the rows are.
  Value look_up(std::vector<double> of_nodes, double rest, DType dtype, Value at) {
    of_nodes.resize(nodes_ + leaves_, rest);
    Tensor table = Tensor::allocate(dtype, {static_cast<int64_t>(of_nodes.size())});
    encode_from_f64(dtype, of_nodes.data(), table.count(), table.mutable_bytes().data());
    return g_.gather(g_.constant(table), at);
  }
  Value look_up(const std::vector<int64_t>& of_all, Value at) { return g_.gather(int_list(g_, of_all), at); }

  // The members of the sets of member nodes, a row for each place, filled up with NaN, which equals nothing.
  Value members(Value at) {
    auto listed = decode("membership_values");
    std::vector<std::vector<double>> sets(nodes_ + leaves_);
    size_t longest = 1, next = 0;
    for (size_t i = 0; i < nodes_; ++i) {
      if (modes_[i] != static_cast<double>(Branch::member)) continue;
      while (next < listed.size() && !std::isnan(listed[next])) sets[i].push_back(listed[next++]);
      if (next++ >= listed.size()) c_.fail_invalid("a set of members for each member node", "too few");
      longest = std::max(longest, sets[i].size());
    }
    if (static_cast<int64_t>(longest) > kMaxTable / static_cast<int64_t>(sets.size()))
      c_.fail_unsupported(fmt::format("a table of at most {} members", kMaxTable), "more");
    std::vector<double> flat;
    for (auto& set : sets) {
      set.resize(longest, std::numeric_limits<double>::quiet_NaN());
      flat.insert(flat.end(), set.begin(), set.end());
    }
    Tensor table =
        Tensor::allocate(dtype_, {static_cast<int64_t>(sets.size()), static_cast<int64_t>(longest)});
    encode_from_f64(dtype_, flat.data(), table.count(), table.mutable_bytes().data());
    return g_.gather(g_.constant(table), at);
  }

  Value compare(Branch mode, Value value, Value split, Value at) {
    switch (mode) {
      case Branch::leq: return g_.less_or_equal(value, split);
      case Branch::lt: return g_.less(value, split);
      case Branch::gte: return g_.less_or_equal(split, value);
      case Branch::gt: return g_.less(split, value);
      case Branch::eq: return g_.equal(value, split);
      case Branch::neq: return g_.logical_not(g_.equal(value, split));
      case Branch::member: break;
    }
    Value hits = g_.equal(g_.unsqueeze(value, int_list(g_, {2})), members(at));
    return g_.reduce_max(hits, int_list(g_, {2}), {.keep_dims = false});
  }

  // Each row of each tree one level down.
  Value step(Value at) {
    auto features = checked("nodes_featureids", nodes_, std::numeric_limits<int64_t>::max());
    features.resize(nodes_ + leaves_, 0);
    Value value = g_.gather_elements(x_, look_up(features, at), {.axis = 1});
    Value split = look_up(splits_, 0, dtype_, at), taken;
    std::set<double> modes(modes_.begin(), modes_.end());
    for (double m : modes) {
      if (m > static_cast<double>(Branch::member)) c_.fail_invalid("modes from 0 to 6", fmt::format("{}", m));
      Value here = compare(static_cast<Branch>(static_cast<int64_t>(m)), value, split, at);
      if (modes.size() > 1)
        here = g_.logical_and(here, g_.equal(look_up(modes_, 0, DType::u8, at), scalar(g_, DType::u8, m)));
      taken = taken.is_none() ? here : g_.logical_or(taken, here);
    }
    if (c_.has_attr("nodes_missing_value_tracks_true")) {
      auto missing = checked("nodes_missing_value_tracks_true", nodes_, 2);
      Value allowed = look_up({missing.begin(), missing.end()}, 0, DType::boolean, at);
      taken = g_.logical_or(taken, g_.logical_and(g_.is_nan(value), allowed));
    }
    return g_.select(taken, look_up(children_.if_true, at), look_up(children_.if_false, at));
  }

  // What the leaves give to each target, [rows, targets].
  Value aggregate(Value at) {
    int64_t how = c_.int_attr("aggregate_function", 1);
    if (how < 0 || how > 3) c_.fail_invalid("aggregate_function from 0 to 3", fmt::format("{}", how));
    auto ids = checked("leaf_targetids", leaves_, static_cast<size_t>(targets_));
    double largest = dtype_ == DType::f64   ? std::numeric_limits<double>::max()
                     : dtype_ == DType::f16 ? 65504.0
                                            : double{std::numeric_limits<float>::max()};
    double absent = how == 2 ? largest : how == 3 ? -largest : 0;
    std::vector<double> flat(leaves_ * static_cast<size_t>(targets_), absent);
    for (size_t i = 0; i < leaves_; ++i)
      flat[i * static_cast<size_t>(targets_) + static_cast<size_t>(ids[i])] = weights_[i];
    Tensor table = Tensor::allocate(dtype_, {static_cast<int64_t>(leaves_), targets_});
    encode_from_f64(dtype_, flat.data(), table.count(), table.mutable_bytes().data());
    Value leaf = g_.sub(at, scalar(g_, DType::i64, static_cast<double>(nodes_)));
    Value given = g_.gather(g_.constant(table), leaf), trees = int_list(g_, {1});
    if (how == 0) return g_.reduce_mean(given, trees, {.keep_dims = false});
    if (how == 1) return g_.reduce_sum(given, trees, {.keep_dims = false});
    if (how == 2) return g_.reduce_min(given, trees, {.keep_dims = false});
    return g_.reduce_max(given, trees, {.keep_dims = false});
  }

  Value post_transform(Value scores) {
    int64_t how = c_.int_attr("post_transform", 0);
    if (how == 0) return scores;
    if (how == 2) return g_.sigmoid(scores);
    if (how != 1) c_.fail_unsupported("post_transform none, softmax or logistic", fmt::format("{}", how));
    Value row = int_list(g_, {1});
    Value powers = g_.exp(g_.sub(scores, g_.reduce_max(scores, row)));
    return g_.div(powers, g_.reduce_sum(powers, row));
  }

  OnnxNodeContext& c_;
  GraphBuilder& g_;
  Value x_;
  DType dtype_;
  size_t nodes_ = 0, leaves_ = 0;
  int64_t targets_ = 0;
  std::vector<double> modes_, splits_, weights_;
  Children children_;
};

std::vector<Value> tree_ensemble(OnnxNodeContext& c) { return {TreeEnsemble(c).build()}; }

}  // namespace

void add_onnx_trees(OnnxOpTable& t) {
  t[{"ai.onnx.ml", "TreeEnsemble"}] = {
      .import = tree_ensemble, .first_opset = 5, .limits = "no softmax_zero or probit"};
}

}  // namespace ingot
