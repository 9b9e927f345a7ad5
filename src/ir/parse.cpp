#include "ir/parse.h"

#include <charconv>

#include "ingot/error.h"
#include "ir/lexer.h"
#include "ir/numeric.h"
#include "ir/op_info.h"

namespace ingot {
namespace {

constexpr int kMaxDepth = 64;
using Ranges = std::map<std::string, std::pair<int64_t, int64_t>, std::less<>>;

class Parser {
 public:
  Parser(Lexer& lexer, int depth) : lexer_(lexer), depth_(depth) {}

  Graph graph() {
    if (depth_ > kMaxDepth) lexer_.fail("subgraphs nested at most 64 deep");
    lexer_.expect("graph");
    g_ = std::make_unique<GraphBuilder>(lexer_.quoted());
    lexer_.expect("{");
    while (!lexer_.accept("}")) statement();
    return std::move(*g_).finish();
  }

  Type type(int depth = 0) {
    if (depth > kMaxDepth) lexer_.fail("types nested at most 64 deep");
    if (lexer_.accept("sequence<")) return closed(Type::sequence(type(depth + 1)));
    if (lexer_.accept("optional<")) return closed(Type::optional(type(depth + 1)));
    DType dtype = element_type();
    lexer_.expect("[");
    if (lexer_.accept("*")) {
      lexer_.expect("]");
      return Type::unranked(dtype);
    }
    Dims dims;
    while (!lexer_.accept("]")) {
      if (!dims.empty()) lexer_.expect(",");
      dims.push_back(with_range(Dim::parse(lexer_.until(",]"))));
    }
    return Type::tensor(dtype, std::move(dims));
  }

 private:
  void statement() {
    if (lexer_.accept("metadata")) {
      std::string key = lexer_.quoted();
      lexer_.expect("=");
      g_->set_metadata(std::move(key), lexer_.quoted());
    } else if (lexer_.accept("symbol")) {
      symbol();
    } else if (lexer_.accept("output")) {
      std::string name = lexer_.quoted();
      lexer_.expect("=");
      g_->output(std::move(name), reference());
    } else {
      node();
    }
  }

  void symbol() {
    std::string name = lexer_.peek() == '"' ? lexer_.quoted() : lexer_.name();
    lexer_.expect("in");
    lexer_.expect("[");
    int64_t low = lexer_.integer();
    lexer_.expect(",");
    int64_t high = lexer_.integer();
    lexer_.expect("]");
    ranges_[name] = {low, high};
  }

  Dim with_range(const Dim& dim) const {
    return dim.substitute([&](std::string_view name) -> std::optional<Dim> {
      auto found = ranges_.find(name);
      if (found == ranges_.end()) return std::nullopt;
      return Dim::symbol(name, found->second.first, found->second.second);
    });
  }

  Type closed(Type type) {
    lexer_.expect(">");
    return type;
  }

  DType element_type() {
    std::string name = lexer_.name();
    auto dtype = parse_dtype(name);
    if (!dtype) lexer_.fail("an element type", name);
    return *dtype;
  }

  void node() {
    lexer_.expect("%");
    std::string name = lexer_.name();
    int64_t outputs = lexer_.accept(":") ? lexer_.integer() : 1;
    if (outputs < 0 || outputs > 100000) lexer_.fail("at most 100000 outputs");
    lexer_.expect("=");
    std::vector<Value> results = call(static_cast<int>(outputs));
    if (results.size() != static_cast<size_t>(outputs))
      lexer_.fail(fmt::format("{} outputs", results.size()));
    if (!values_.emplace(name, std::move(results)).second) lexer_.fail("a new name", "%" + name + " again");
  }

  std::vector<Value> call(int outputs) {
    if (lexer_.accept("input")) {
      std::string name = lexer_.quoted();
      lexer_.expect(":");
      return {g_->input(std::move(name), type())};
    }
    if (lexer_.accept("constant")) {
      Tensor value = tensor();
      origin();
      return {g_->constant(std::move(value))};
    }
    std::string name = lexer_.name();
    const OpInfo* info = find_op(name);
    if (info == nullptr) lexer_.fail("an op", name);
    std::vector<Value> operands = arguments();
    Attrs attrs = attributes(*info);
    std::vector<GraphPtr> subgraphs = bodies();
    std::vector<Type> declared = declared_types();
    origin();
    auto results = g_->add(std::move(attrs), std::move(operands), std::move(subgraphs), outputs);
    for (size_t i = 0; i < declared.size() && i < results.size(); ++i) g_->declare(results[i], declared[i]);
    return results;
  }

  // Types may be left out by a person; the printer always gives them.
  std::vector<Type> declared_types() {
    std::vector<Type> out;
    if (!lexer_.accept(":")) return out;
    do out.push_back(type());
    while (lexer_.accept(","));
    return out;
  }

  std::vector<Value> arguments() {
    lexer_.expect("(");
    std::vector<Value> out;
    while (!lexer_.accept(")")) {
      if (!out.empty()) lexer_.expect(",");
      out.push_back(lexer_.accept("_") ? Value() : reference());
    }
    return out;
  }

  Value reference() {
    lexer_.expect("%");
    std::string name = lexer_.name();
    auto found = values_.find(name);
    if (found == values_.end()) lexer_.fail("a value defined above", "%" + name);
    int64_t output = lexer_.accept("#") ? lexer_.integer() : 0;
    if (output < 0 || static_cast<size_t>(output) >= found->second.size())
      lexer_.fail(fmt::format("an output below {}", found->second.size()), fmt::format("{}", output));
    return found->second[static_cast<size_t>(output)];
  }

  void origin() { g_->set_origin(lexer_.accept("@") ? lexer_.quoted() : ""); }

  std::vector<GraphPtr> bodies() {
    std::vector<GraphPtr> out;
    if (!lexer_.accept("(")) return out;
    do out.push_back(std::make_shared<const Graph>(Parser(lexer_, depth_ + 1).graph()));
    while (lexer_.accept(","));
    lexer_.expect(")");
    return out;
  }

  Attrs attributes(const OpInfo& info) {
    auto known = info.list_attrs(info.make_attrs({}).raw());
    std::vector<NamedAttr> given;
    if (lexer_.accept("{")) {
      while (!lexer_.accept("}")) {
        if (!given.empty()) lexer_.expect(",");
        std::string name = lexer_.name();
        auto found = std::ranges::find(known, name, &NamedAttr::name);
        if (found == known.end()) lexer_.fail(fmt::format("an attribute of {}", info.name), name);
        lexer_.expect("=");
        given.push_back(
            {found->name, std::visit([&](auto kind) { return AttrValue(value(kind)); }, found->value)});
      }
    }
    return info.make_attrs(given);
  }

  // One attribute value of the kind of the argument.
  int64_t value(int64_t) { return lexer_.integer(); }
  double value(double) { return real(); }
  bool value(bool) {
    if (lexer_.accept("true")) return true;
    lexer_.expect("false");
    return false;
  }
  std::string value(const std::string&) { return lexer_.quoted(); }
  DType value(DType) { return element_type(); }
  Tensor value(const Tensor&) { return tensor(); }
  template <class T>
  std::vector<T> value(const std::vector<T>&) {
    return list<T>([&] { return value(T{}); });
  }

  template <class T, class F>
  std::vector<T> list(F item) {
    std::vector<T> out;
    lexer_.expect("[");
    while (!lexer_.accept("]")) {
      if (!out.empty()) lexer_.expect(",");
      out.push_back(item());
    }
    return out;
  }

  double real() {
    std::string text = lexer_.number();
    double value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) lexer_.fail("a number", text);
    return value;
  }

  uint64_t natural() {
    std::string text = lexer_.number();
    uint64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) lexer_.fail("a natural number", text);
    return value;
  }

  Tensor tensor() {
    Type t = type();
    Shape shape;
    if (!t.is_ranked()) lexer_.fail("a shape");
    for (const Dim& d : *t.dims) {
      if (!d.is_constant()) lexer_.fail("constant sizes", to_string(t));
      shape.push_back(d.constant());
    }
    if (lexer_.peek() == '0') return bytes(t.dtype, std::move(shape));
    if (lexer_.peek() != '[') lexer_.fail("elements");
    return elements(t.dtype, std::move(shape));
  }

  Tensor bytes(DType dtype, Shape shape) {
    std::string digits = lexer_.hex_digits();
    if (dtype == DType::string || digits.size() != 2 * byte_size(dtype, element_count(shape)))
      lexer_.fail(fmt::format("{} bytes", byte_size(dtype, element_count(shape))));
    Tensor out = Tensor::allocate(dtype, std::move(shape));
    auto dst = out.mutable_bytes();
    for (size_t i = 0; i < dst.size(); ++i) {
      unsigned value = 0;
      std::from_chars(&digits[2 * i], &digits[2 * i] + 2, value, 16);
      dst[i] = static_cast<std::byte>(value);
    }
    return out;
  }

  Tensor elements(DType dtype, Shape shape) {
    auto check = [&](size_t count) {
      if (static_cast<int64_t>(count) != element_count(shape))
        lexer_.fail(fmt::format("{} elements", element_count(shape)), fmt::format("{}", count));
    };
    if (dtype == DType::string) {
      auto items = list<std::string>([&] { return lexer_.quoted(); });
      check(items.size());
      return Tensor::of_strings(std::move(shape), std::move(items));
    }
    auto encode = [&](const auto& items, auto convert) {
      check(items.size());
      Tensor out = Tensor::allocate(dtype, shape);
      convert(dtype, items.data(), out.count(), out.mutable_bytes().data(), EncodeOptions{});
      return out;
    };
    if (is_floating(dtype)) return encode(list<double>([&] { return real(); }), encode_from_f64);
    if (is_signed_integer(dtype))
      return encode(list<int64_t>([&] { return lexer_.integer(); }), encode_from_i64);
    return encode(list<uint64_t>([&] { return natural(); }), encode_from_u64);
  }

  Lexer& lexer_;
  int depth_;
  std::unique_ptr<GraphBuilder> g_ = std::make_unique<GraphBuilder>();
  Ranges ranges_;
  std::map<std::string, std::vector<Value>, std::less<>> values_;
};

}  // namespace

Graph parse_graph(std::string_view text) {
  Lexer lexer(text);
  Graph graph = Parser(lexer, 0).graph();
  if (!lexer.at_end()) lexer.fail("the end of the text");
  return graph;
}

Type parse_type(std::string_view text) {
  Lexer lexer(text);
  Type type = Parser(lexer, 0).type();
  if (!lexer.at_end()) lexer.fail("the end of the type");
  return type;
}

}  // namespace ingot
