#include <cmath>
#include <map>
#include <numeric>

#include "device/reference/elements.h"
#include "device/reference/kernel.h"
#include "device/reference/walk.h"

namespace ingot::reference {
namespace {

// A total order: NaN is greater than every number and equal to itself, as NumPy sorts.
template <class T>
bool before(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(b)) return !std::isnan(a);
    if (std::isnan(a)) return false;
  }
  return a < b;
}

// Calls f with the elements in a type that has an order: one of the wide types, or strings.
template <class F>
void with_ordered(const Tensor& x, F f) {
  if (x.is_string()) return f(std::vector<std::string>(x.strings().begin(), x.strings().end()));
  with_wide(x.dtype(), [&](auto zero) { f(load<decltype(zero)>(x)); });
}

void top_k(KernelContext& c) {
  const Tensor& x = c.in(0);
  const auto& a = c.attrs<TopKAttrs>();
  AxisView view(x.shape(), normal_axis(a.axis, x.rank()));
  int64_t k = c.ints(1).at(0);
  with_wide(x.dtype(), [&](auto zero) {
    auto in = load<decltype(zero)>(x);
    std::vector<decltype(zero)> values(static_cast<size_t>(c.out(0).count()));
    auto places = c.out(1).mutable_data<int64_t>();
    std::vector<int64_t> order(static_cast<size_t>(view.length));
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t i = 0; i < view.inner; ++i) {
        auto at = [&](int64_t p) { return in[static_cast<size_t>((o * view.length + p) * view.inner + i)]; };
        std::iota(order.begin(), order.end(), int64_t{0});
        std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t p, int64_t q) {
          bool first = a.largest ? before(at(q), at(p)) : before(at(p), at(q));
          bool second = a.largest ? before(at(p), at(q)) : before(at(q), at(p));
          return first || (!second && p < q);
        });
        for (int64_t r = 0; r < k; ++r) {
          auto to = static_cast<size_t>((o * k + r) * view.inner + i);
          places[to] = order[static_cast<size_t>(r)];
          values[to] = at(places[to]);
        }
      }
    store(c.out(0), values);
  });
}

void non_zero(KernelContext& c) {
  const Tensor& x = c.in(0);
  std::vector<int64_t> found;
  with_ordered(x, [&](const auto& in) {
    for (size_t i = 0; i < in.size(); ++i)
      if (in[i] != std::decay_t<decltype(in[i])>()) found.push_back(static_cast<int64_t>(i));
  });
  auto count = static_cast<int64_t>(found.size());
  Tensor result = Tensor::allocate(DType::i64, {x.rank(), count});
  auto out = result.mutable_data<int64_t>();
  Shape strides = row_major_strides(x.shape());
  for (size_t axis = 0; axis < strides.size(); ++axis)
    for (size_t i = 0; i < found.size(); ++i)
      out[axis * found.size() + i] = found[i] / strides[axis] % x.shape()[axis];
  c.set(0, result);
}

struct Group {
  int64_t first, count;
  std::vector<int64_t> members;
};

// The distinct items of 0 .. n-1 in the order of `less`.
template <class F>
std::vector<Group> group(int64_t n, F less) {
  std::map<int64_t, std::vector<int64_t>, F> groups(less);
  for (int64_t i = 0; i < n; ++i) groups[i].push_back(i);
  std::vector<Group> out;
  for (auto& [first, members] : groups)
    out.push_back({first, static_cast<int64_t>(members.size()), std::move(members)});
  return out;
}

// Slices along the axis compare by their first difference in row-major order.
std::vector<Group> group_slices(const Tensor& x, const AxisView& view) {
  std::vector<Group> groups;
  with_ordered(x, [&](const auto& in) {
    groups = group(view.length, [&](int64_t p, int64_t q) {
      for (int64_t o = 0; o < view.outer; ++o)
        for (int64_t i = 0; i < view.inner; ++i) {
          const auto& a = in[static_cast<size_t>((o * view.length + p) * view.inner + i)];
          const auto& b = in[static_cast<size_t>((o * view.length + q) * view.inner + i)];
          if (before(a, b)) return true;
          if (before(b, a)) return false;
        }
      return false;
    });
  });
  return groups;
}

Tensor take_slices(const Tensor& x, const AxisView& view, const std::vector<Group>& groups,
                   const Shape& shape) {
  Tensor result =
      x.is_string()
          ? Tensor::of_strings(shape, std::vector<std::string>(static_cast<size_t>(element_count(shape))))
          : Tensor::allocate(x.dtype(), shape);
  with_cell(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Cells<T> in(x);
    OutCells<T> out(result);
    int64_t to = 0;
    for (int64_t o = 0; o < view.outer; ++o)
      for (const Group& g : groups)
        for (int64_t i = 0; i < view.inner; ++i) out[to++] = in[(o * view.length + g.first) * view.inner + i];
  });
  return result;
}

void unique(KernelContext& c) {
  const auto& a = c.attrs<UniqueAttrs>();
  const Tensor& x = c.in(0);
  Shape shape = a.flat ? Shape{x.count()} : x.shape();
  auto axis = static_cast<size_t>(a.flat ? 0 : normal_axis(a.axis, x.rank()));
  AxisView view(shape, static_cast<int64_t>(axis));
  auto groups = group_slices(x, view);
  if (!a.sorted)
    std::sort(groups.begin(), groups.end(), [](const Group& p, const Group& q) { return p.first < q.first; });
  std::vector<int64_t> first, counts, inverse(static_cast<size_t>(view.length));
  for (size_t k = 0; k < groups.size(); ++k) {
    first.push_back(groups[k].first);
    counts.push_back(groups[k].count);
    for (int64_t i : groups[k].members) inverse[static_cast<size_t>(i)] = static_cast<int64_t>(k);
  }
  auto n = static_cast<int64_t>(groups.size());
  shape[axis] = n;
  c.set(0, take_slices(x, view, groups, shape));
  c.set(1, Tensor::of({n}, first));
  c.set(2, Tensor::of({view.length}, inverse));
  c.set(3, Tensor::of({n}, counts));
}

// Where each element of x is among the keys, or -1. Of equal keys the last counts; NaN finds NaN.
std::vector<int64_t> find_keys(const Tensor& x, const Tensor& keys) {
  std::vector<int64_t> found;
  with_ordered(keys, [&](const auto& known) {
    using T = typename std::decay_t<decltype(known)>::value_type;
    auto less = [](const T& a, const T& b) { return before(a, b); };
    std::map<T, int64_t, decltype(less)> places(less);
    for (size_t i = 0; i < known.size(); ++i) places[known[i]] = static_cast<int64_t>(i);
    auto find = [&](const T& e) {
      auto at = places.find(e);
      found.push_back(at == places.end() ? -1 : at->second);
    };
    if constexpr (std::is_same_v<T, std::string>)
      for (const std::string& e : x.strings()) find(e);
    else
      for (T e : load<T>(x)) find(e);
  });
  return found;
}

void lookup(KernelContext& c) {
  auto found = find_keys(c.in(0), c.in(1));
  if (c.in(2).count() != c.in(1).count() || c.in(3).count() != 1)
    c.fail(fmt::format("{} values and one fallback", c.in(1).count()),
           fmt::format("{} and {}", c.in(2).count(), c.in(3).count()));
  with_cell(c.in(2).dtype(), [&](auto zero) {
    using T = decltype(zero);
    Cells<T> values(c.in(2)), fallback(c.in(3));
    OutCells<T> out(c.out(0));
    for (size_t i = 0; i < found.size(); ++i)
      out[static_cast<int64_t>(i)] = found[i] < 0 ? fallback[0] : values[found[i]];
  });
}

}  // namespace

void add_sort_kernels(KernelTable& t) {
  t[Op::TopK] = top_k;
  t[Op::NonZero] = non_zero;
  t[Op::Unique] = unique;
  t[Op::Lookup] = lookup;
}

}  // namespace ingot::reference
