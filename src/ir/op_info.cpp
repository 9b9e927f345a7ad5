#include "ir/op_info.h"

#include <array>
#include <unordered_map>

#include "ingot/error.h"
#include "ir/rules.h"

namespace ingot {
namespace {

[[noreturn]] void fail_attr(std::string_view op, std::string_view name, std::string expected,
                            std::string observed) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = fmt::format("attribute of {}", op),
               .name = std::string(name),
               .expected = std::move(expected),
               .observed = std::move(observed)});
}

// How a field of an attribute struct becomes an AttrValue and back.
template <class T>
AttrValue to_value(const T& field) {
  if constexpr (std::is_enum_v<T> && !std::is_same_v<T, DType>)
    return std::string(enum_names<T>()[static_cast<size_t>(field)]);
  else
    return field;
}

template <class T>
void assign(T& field, std::string_view op, const NamedAttr& given) {
  if constexpr (std::is_enum_v<T> && !std::is_same_v<T, DType>) {
    const auto* text = std::get_if<std::string>(&given.value);
    auto names = enum_names<T>();
    auto found = text ? std::find(names.begin(), names.end(), *text) : names.end();
    if (found == names.end())
      fail_attr(op, given.name, fmt::format("one of {}", fmt::join(names, ", ")),
                text ? *text : "another kind");
    field = static_cast<T>(found - names.begin());
  } else if (const auto* value = std::get_if<T>(&given.value)) {
    field = *value;
  } else {
    fail_attr(op, given.name, "a value of the kind in the op table", "another kind");
  }
}

#define INT(name, value) FIELD(name)
#define REAL(name, value) FIELD(name)
#define FLAG(name, value) FIELD(name)
#define TEXT(name) FIELD(name)
#define DTYPE(name, value) FIELD(name)
#define INTS(name) FIELD(name)
#define REALS(name) FIELD(name)
#define TEXTS(name) FIELD(name)
#define ENUM(type, name, value) FIELD(name)
#define DATA(name) FIELD(name)
#define OP_CONTROL OP

#define FIELD(field) out.push_back({#field, to_value(a.field)});
#define OP(Name, text, operands, outputs, attributes, rule, traits)         \
  std::vector<NamedAttr> list_##Name(const void* raw) {                     \
    [[maybe_unused]] const auto& a = *static_cast<const Name##Attrs*>(raw); \
    std::vector<NamedAttr> out;                                             \
    attributes return out;                                                  \
  }
#include "ingot/ops.def"
#undef FIELD

#define OP_CONTROL OP
#define FIELD(field)            \
  if (given.name == #field) {   \
    assign(a.field, op, given); \
    continue;                   \
  }
#define OP(Name, text, operands, outputs, attributes, rule, traits)      \
  Attrs make_##Name(std::span<const NamedAttr> all) {                    \
    constexpr std::string_view op = #text;                               \
    Name##Attrs a;                                                       \
    for (const NamedAttr& given : all) {                                 \
      attributes fail_attr(op, given.name, "a known name", "none such"); \
    }                                                                    \
    return a;                                                            \
  }
#include "ingot/ops.def"
#undef FIELD

std::vector<OpInfo> make_table() {
  using enum OperandInfo::Kind;
  using namespace types;
  std::vector<OpInfo> table;
#define IN(name, set) {#name, set, tensor, false, false},
#define OPT(name, set) {#name, set, tensor, true, false},
#define VAR(name, set) {#name, set, tensor, false, true},
#define SEQ(name) {#name, types::Any, sequence, false, false},
#define ANY(name) {#name, types::Any, any, false, false},
#define MANY(name) {#name, types::Any, any, false, true},
#define MANY_OUT -1
#define OP_CONTROL OP
#define OP(Name, text, operands, outputs, attributes, rule, traits)                                   \
  table.push_back({Op::Name, #text, std::vector<OperandInfo>{operands}, outputs, traits, rules::rule, \
                   list_##Name, make_##Name});
#include "ingot/ops.def"
  return table;
}

const std::vector<OpInfo>& table() {
  static const std::vector<OpInfo> instance = make_table();
  return instance;
}

}  // namespace

const OpInfo& op_info(Op op) { return table().at(static_cast<size_t>(op)); }

const OpInfo* find_op(std::string_view name) {
  static const auto index = [] {
    std::unordered_map<std::string_view, const OpInfo*> map;
    for (const OpInfo& info : table()) map.emplace(info.name, &info);
    return map;
  }();
  auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

std::span<const OpInfo> all_ops() { return table(); }

std::string_view to_string(Op op) { return op_info(op).name; }

std::vector<NamedAttr> list_attrs(const Attrs& attrs) { return op_info(attrs.op()).list_attrs(attrs.raw()); }

bool equal(const Attrs& a, const Attrs& b) {
  if (a.op() != b.op()) return false;
  auto x = list_attrs(a), y = list_attrs(b);
  return std::ranges::equal(x, y, [](const NamedAttr& p, const NamedAttr& q) {
    if (const auto* t = std::get_if<Tensor>(&p.value)) return t->identical(std::get<Tensor>(q.value));
    return std::visit(
        [&](const auto& v) {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, Tensor>)
            return false;
          else
            return v == std::get<T>(q.value);
        },
        p.value);
  });
}

void Attrs::check(Op wanted) const {
  if (op_ == wanted && held_ != nullptr) return;
  throw Error({.code = ErrorCode::internal,
               .object = "attributes",
               .expected = std::string(to_string(wanted)),
               .observed = std::string(to_string(op_))});
}

}  // namespace ingot
