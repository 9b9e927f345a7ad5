#include <charconv>
#include <cmath>
#include <type_traits>

#include "device/reference/elements.h"
#include "device/reference/kernel.h"

namespace ingot::reference {
namespace {

// The fewest digits that give the same number back; a type below 32 bits is written as the f32 it equals.
template <class W>
std::string number_text(W value, DType dtype) {
  if constexpr (std::is_same_v<W, double>) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "INF" : "-INF";
    if (dtype != DType::f64) return fmt::format("{}", static_cast<float>(value));
  }
  return fmt::format("{}", value);
}

// The whole text as a number; nothing where it is none, or is out of range. from_chars knows "inf" and "nan"
// in any case, but no plus sign.
template <class T>
std::optional<T> whole_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class W>
std::optional<W> parse_number(std::string_view text) {
  if (auto exact = whole_number<W>(text)) return exact;
  if constexpr (!std::is_same_v<W, double>) {
    // "100.5" as an integer is 100.
    auto real = whole_number<double>(text);
    if (real && std::fabs(*real) < 9.2e18) return static_cast<W>(static_cast<int64_t>(*real));
  }
  return std::nullopt;
}

void to_text(const Tensor& x, Tensor& out) {
  with_wide(x.dtype(), [&](auto zero) {
    auto values = load<decltype(zero)>(x);
    auto texts = out.mutable_strings();
    for (size_t i = 0; i < texts.size(); ++i) texts[i] = number_text(values[i], x.dtype());
  });
}

void from_text(KernelContext& c, EncodeOptions options) {
  auto texts = c.in(0).strings();
  with_wide(c.out(0).dtype(), [&](auto zero) {
    using W = decltype(zero);
    std::vector<W> values;
    for (const std::string& text : texts) {
      auto value = parse_number<W>(text);
      if (!value)
        c.fail(fmt::format("the text of a number of type {}", to_string(c.out(0).dtype())), "'" + text + "'");
      values.push_back(*value);
    }
    store(c.out(0), values, options);
  });
}

void cast(KernelContext& c) {
  const auto& a = c.attrs<CastAttrs>();
  const Tensor& x = c.in(0);
  if (x.dtype() == a.to) return c.set(0, x);
  EncodeOptions options{a.saturate, static_cast<E8m0Round>(a.round_mode)};
  if (a.to == DType::string) return to_text(x, c.out(0));
  if (x.is_string()) return from_text(c, options);
  with_wide(x.dtype(), [&](auto zero) { store(c.out(0), load<decltype(zero)>(x), options); });
}

// Any byte but 0 becomes true, since a boolean has no other values.
void bit_cast(KernelContext& c) {
  const Tensor& x = c.in(0);
  Tensor& out = c.out(0);
  if (out.dtype() == DType::boolean) return store(out, load<uint64_t>(x));
  std::ranges::copy(x.bytes(), out.mutable_bytes().begin());
}

}  // namespace

void add_cast_kernels(KernelTable& t) {
  t[Op::BitCast] = bit_cast;
  t[Op::Cast] = cast;
}

}  // namespace ingot::reference
