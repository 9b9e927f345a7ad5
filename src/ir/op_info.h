#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "ingot/graph.h"

// What the op table says of each op, for code that handles all of them alike.
namespace ingot {

using TypeSet = uint64_t;
constexpr TypeSet bit(DType t) { return TypeSet{1} << static_cast<int>(t); }

namespace types {  // NOLINTBEGIN(readability-identifier-naming): the words of ops.def
constexpr TypeSet Floating = bit(DType::f64) | bit(DType::f32) | bit(DType::f16) | bit(DType::bf16) |
                             bit(DType::f8e4m3fn) | bit(DType::f8e5m2) | bit(DType::f8e4m3fnuz) |
                             bit(DType::f8e5m2fnuz) | bit(DType::f8e8m0) | bit(DType::f4e2m1);
constexpr TypeSet Signed =
    bit(DType::i64) | bit(DType::i32) | bit(DType::i16) | bit(DType::i8) | bit(DType::i4) | bit(DType::i2);
constexpr TypeSet Unsigned =
    bit(DType::u64) | bit(DType::u32) | bit(DType::u16) | bit(DType::u8) | bit(DType::u4) | bit(DType::u2);
constexpr TypeSet Integer = Signed | Unsigned;
constexpr TypeSet Numeric = Floating | Integer;
constexpr TypeSet Boolean = bit(DType::boolean);
constexpr TypeSet Text = bit(DType::string);
constexpr TypeSet Int64 = bit(DType::i64);
constexpr TypeSet Byte = bit(DType::i8) | bit(DType::u8);
constexpr TypeSet Real = bit(DType::f64) | bit(DType::f32) | bit(DType::f16) | bit(DType::bf16);
constexpr TypeSet Quantized = bit(DType::i16) | bit(DType::u16) | Byte | bit(DType::i4) | bit(DType::u4) |
                              bit(DType::i2) | bit(DType::u2) | bit(DType::f8e4m3fn) | bit(DType::f8e5m2) |
                              bit(DType::f8e4m3fnuz) | bit(DType::f8e5m2fnuz) | bit(DType::f4e2m1);
constexpr TypeSet Index = bit(DType::i64) | bit(DType::i32);
constexpr TypeSet NotText = Numeric | Boolean;
constexpr TypeSet Any = Numeric | Boolean | Text;  // NOLINTEND(readability-identifier-naming)
}  // namespace types

enum Trait : uint32_t {
  Plain = 0,
  Source = 1 << 0,       // no operands: inputs and constants
  Pointwise = 1 << 1,    // each output element depends on the broadcast element of each operand only
  Commutative = 1 << 2,  // the first two operands may change places
  Reduces = 1 << 3,      // folds axes away
  Contraction = 1 << 4,  // sums products
  RowWise = 1 << 5,      // rows along one axis are independent
  Movement = 1 << 6,     // copies elements, computes none
  Irregular = 1 << 7,    // a routine rather than a loop nest: sorting, searching, text
  Composite = 1 << 8,    // has a decomposition into simpler ops, which is its meaning
  Random = 1 << 9,       // two equal nodes give different results; never folded or merged
  Control = 1 << 10,     // holds subgraphs
};

struct OperandInfo {
  enum class Kind : uint8_t { tensor, sequence, any };
  std::string_view name;
  TypeSet types = types::Any;
  Kind kind = Kind::tensor;
  bool optional = false;
  bool variadic = false;  // only the last operand
};

// An attribute by name, as printed, parsed and stored. Enumerations are their spelling.
using AttrValue = std::variant<int64_t, double, bool, std::string, DType, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>, Tensor>;
struct NamedAttr {
  std::string_view name;
  AttrValue value;
};

class Inference;

struct OpInfo {
  Op op;
  std::string_view name;  // as in the text form
  std::vector<OperandInfo> operands;
  int outputs;  // -1: the node decides
  uint32_t traits;
  void (*infer)(Inference&);
  std::vector<NamedAttr> (*list_attrs)(const void* attrs);
  // All attributes not given keep their default. Throws Error(invalid_argument) on an unknown name or a wrong
  // kind.
  Attrs (*make_attrs)(std::span<const NamedAttr> given);

  bool is(Trait trait) const { return (traits & trait) != 0; }
};

const OpInfo& op_info(Op op);
const OpInfo* find_op(std::string_view name);  // null when there is none
std::span<const OpInfo> all_ops();

std::string_view to_string(Op op);
std::vector<NamedAttr> list_attrs(const Attrs& attrs);
bool equal(const Attrs& a, const Attrs& b);

}  // namespace ingot
