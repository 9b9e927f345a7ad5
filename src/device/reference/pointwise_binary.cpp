#include <cmath>
#include <type_traits>

#include "device/reference/elements.h"
#include "device/reference/kernel.h"
#include "device/reference/walk.h"
#include "ir/arithmetic.h"

namespace ingot::reference {
namespace {

// out[i] = f(a[i], b[i]) with broadcasting, computed in W and stored as R.
template <class W, class R, class F>
void map_as(KernelContext& c, F f) {
  if (c.in(0).shape() == c.in(1).shape()) return transform<W, R>(c.out(0), f, c.in(0), c.in(1));
  auto a = load<W>(c.in(0)), b = load<W>(c.in(1));
  const Shape& shape = c.out(0).shape();
  std::vector<R> out(static_cast<size_t>(c.out(0).count()));
  walk<2>(shape, {broadcast_strides(c.in(0).shape(), shape), broadcast_strides(c.in(1).shape(), shape)},
          [&](int64_t i, const auto& at) {
            out[static_cast<size_t>(i)] = f(a[static_cast<size_t>(at[0])], b[static_cast<size_t>(at[1])]);
          });
  store(c.out(0), out);
}

template <class F>
void map(KernelContext& c, F f) {
  with_wide(c.in(0).dtype(), [&](auto zero) { map_as<decltype(zero), decltype(zero)>(c, f); });
}

template <class F>
void compare(KernelContext& c, F f) {
  with_wide(c.in(0).dtype(), [&](auto zero) {
    map_as<decltype(zero), uint64_t>(c, [&](auto a, auto b) { return static_cast<uint64_t>(f(a, b)); });
  });
}

void pow(KernelContext& c) {
  DType base = c.in(0).dtype();
  if (is_floating(base) || is_floating(c.in(1).dtype()))
    return map_as<double, double>(c, [](double a, double b) { return std::pow(a, b); });
  with_wide(base, [&](auto zero) {
    using W = decltype(zero);
    if constexpr (!std::is_same_v<W, double>)
      map_as<W, W>(c, [](W a, W b) { return integer_power(a, static_cast<int64_t>(b)); });
  });
}

// The lowest of `high` and the highest of x and `low`, so that `high` wins where they cross.
template <class W>
void clamp_as(KernelContext& c) {
  auto x = load<W>(c.in(0)), low = load<W>(c.in(1)), high = load<W>(c.in(2));
  const Shape& shape = c.out(0).shape();
  std::vector<W> out(static_cast<size_t>(c.out(0).count()));
  walk<3>(shape,
          {broadcast_strides(c.in(0).shape(), shape), broadcast_strides(c.in(1).shape(), shape),
           broadcast_strides(c.in(2).shape(), shape)},
          [&](int64_t i, const auto& at) {
            out[static_cast<size_t>(i)] =
                smaller(larger(x[static_cast<size_t>(at[0])], low[static_cast<size_t>(at[1])]),
                        high[static_cast<size_t>(at[2])]);
          });
  store(c.out(0), out);
}

void equal(KernelContext& c) {
  if (!c.in(0).is_string()) return compare(c, [](auto a, auto b) { return a == b; });
  const Shape& shape = c.out(0).shape();
  auto out = c.out(0).mutable_data<bool>();
  walk<2>(shape, {broadcast_strides(c.in(0).shape(), shape), broadcast_strides(c.in(1).shape(), shape)},
          [&](int64_t i, const auto& at) {
            out[static_cast<size_t>(i)] = c.in(0).strings()[static_cast<size_t>(at[0])] ==
                                          c.in(1).strings()[static_cast<size_t>(at[1])];
          });
}

void select(KernelContext& c) {
  const Shape& shape = c.out(0).shape();
  with_cell(c.in(1).dtype(), [&](auto zero) {
    using T = decltype(zero);
    auto condition = c.in(0).data<bool>();
    Cells<T> a(c.in(1)), b(c.in(2));
    OutCells<T> out(c.out(0));
    walk<3>(shape,
            {broadcast_strides(c.in(0).shape(), shape), broadcast_strides(c.in(1).shape(), shape),
             broadcast_strides(c.in(2).shape(), shape)},
            [&](int64_t i, const auto& at) {
              out[i] = condition[static_cast<size_t>(at[0])] ? a[at[1]] : b[at[2]];
            });
  });
}

template <class F>
void bitwise(KernelContext& c, F f) {
  map_as<uint64_t, uint64_t>(c, f);
}

}  // namespace

void add_pointwise_binary_kernels(KernelTable& t) {
  t[Op::Add] = [](KernelContext& c) { map(c, [](auto a, auto b) { return wrapping(a, b, std::plus<>()); }); };
  t[Op::Sub] = [](KernelContext& c) {
    map(c, [](auto a, auto b) { return wrapping(a, b, std::minus<>()); });
  };
  t[Op::Mul] = [](KernelContext& c) {
    map(c, [](auto a, auto b) { return wrapping(a, b, std::multiplies<>()); });
  };
  t[Op::Div] = [](KernelContext& c) { map(c, [](auto a, auto b) { return divide(a, b); }); };
  t[Op::Mod] = [](KernelContext& c) {
    bool truncate = c.attrs<ModAttrs>().truncate;
    map(c, [truncate](auto a, auto b) { return modulo(a, b, truncate); });
  };
  t[Op::Pow] = pow;
  t[Op::Max] = [](KernelContext& c) { map(c, [](auto a, auto b) { return larger(a, b); }); };
  t[Op::Min] = [](KernelContext& c) { map(c, [](auto a, auto b) { return smaller(a, b); }); };
  t[Op::Clamp] = [](KernelContext& c) {
    with_wide(c.in(0).dtype(), [&](auto zero) { clamp_as<decltype(zero)>(c); });
  };
  t[Op::Prelu] = [](KernelContext& c) { map(c, [](auto x, auto slope) { return prelu(x, slope); }); };
  t[Op::LogicalAnd] = t[Op::BitwiseAnd] = [](KernelContext& c) { bitwise(c, std::bit_and<uint64_t>()); };
  t[Op::LogicalOr] = t[Op::BitwiseOr] = [](KernelContext& c) { bitwise(c, std::bit_or<uint64_t>()); };
  t[Op::LogicalXor] = t[Op::BitwiseXor] = [](KernelContext& c) { bitwise(c, std::bit_xor<uint64_t>()); };
  t[Op::ShiftLeft] = [](KernelContext& c) { bitwise(c, shift_left); };
  t[Op::ShiftRight] = [](KernelContext& c) { bitwise(c, shift_right); };
  t[Op::Equal] = equal;
  t[Op::Less] = [](KernelContext& c) { compare(c, [](auto a, auto b) { return a < b; }); };
  t[Op::LessOrEqual] = [](KernelContext& c) { compare(c, [](auto a, auto b) { return a <= b; }); };
  t[Op::Select] = select;
}

}  // namespace ingot::reference
