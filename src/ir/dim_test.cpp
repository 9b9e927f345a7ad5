#include "ingot/dim.h"

#include <gtest/gtest.h>

#include <random>

#include "ingot/error.h"

namespace ingot {
namespace {

// Named as in the formulas below.
// NOLINTBEGIN(readability-identifier-naming)
const Dim n = Dim::symbol("n");
const Dim m = Dim::symbol("m");
const Dim k = Dim::symbol("k", 1, 64);
// NOLINTEND(readability-identifier-naming)

std::optional<ErrorCode> code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

TEST(Dim, ConstantsFold) {
  EXPECT_EQ(Dim(2) + 3, Dim(5));
  EXPECT_EQ((Dim(7) - 9).constant(), -2);
  EXPECT_EQ(floordiv(-7, 2), Dim(-4));
  EXPECT_EQ(ceildiv(7, 2), Dim(4));
  EXPECT_EQ(ceildiv(-7, 2), Dim(-3));
  EXPECT_EQ(mod(-7, 2), Dim(1));
  EXPECT_EQ(mod(7, -2), Dim(-1));
  EXPECT_EQ(min(3, max(5, 4)), Dim(3));
  EXPECT_TRUE((n - n + 4).is_constant());
  EXPECT_EQ(code_of([] { (void)n.constant(); }), ErrorCode::internal);
  EXPECT_EQ(n.value(), std::nullopt);
}

TEST(Dim, EqualPolynomialsAreEqualHoweverBuilt) {
  EXPECT_EQ(n + m, m + n);
  EXPECT_EQ(n * m + m, (n + 1) * m);
  EXPECT_EQ((n + m) * (n - m), n * n - m * m);
  EXPECT_EQ((n + m).hash(), (m + n).hash());
  EXPECT_FALSE(n + m == n - m);
  EXPECT_FALSE(n + 1 == n);
  EXPECT_EQ(min(n, m), min(m, min(m, n)));
  EXPECT_EQ(Dim::symbol("n", 0, 5), n);
}

TEST(Dim, DivisionsSimplifyWhenProven) {
  EXPECT_EQ(floordiv(2 * n, 2), n);
  EXPECT_EQ(floordiv(4 * n + 3, 4), n);
  EXPECT_EQ(floordiv(4 * n - 1, 4), n - 1);
  EXPECT_EQ(floordiv(4 * n + 2, 8), floordiv(2 * n + 1, 4));
  EXPECT_EQ(floordiv(2 * n + 1, 4), floordiv(n, 2));
  EXPECT_EQ(floordiv(floordiv(n, 2), 3), floordiv(n, 6));
  EXPECT_EQ(ceildiv(ceildiv(n, 2), 2), ceildiv(n, 4));
  EXPECT_EQ(ceildiv(n, 2), floordiv(n + 1, 2));
  EXPECT_EQ(floordiv(n * m, m), n);
  EXPECT_EQ(floordiv((n + 1) * (m + 3), m + 3), n + 1);
  EXPECT_EQ(floordiv(6 * n * m, 3 * n), 2 * m);
  EXPECT_EQ(floordiv(n, n + 1), Dim(0));
  EXPECT_EQ(floordiv(k, 65), Dim(0));
  EXPECT_EQ(floordiv(-n, -m), floordiv(n, m));
  EXPECT_FALSE(floordiv(3 * n, 2) == n);
}

TEST(Dim, RemaindersSimplifyWhenProven) {
  EXPECT_EQ(mod(4 * n, 2), Dim(0));
  EXPECT_EQ(mod(3 * n + 5, 2), mod(n + 1, 2));
  EXPECT_EQ(mod(4 * n + 3, 8), 4 * mod(n, 2) + 3);
  EXPECT_EQ(mod(k, 65), k);
  EXPECT_EQ(mod(-n, 2), mod(n, 2));
  EXPECT_EQ(mod(n, -m), -mod(-n, m));
  EXPECT_EQ(mod(n * m, m), Dim(0));
  EXPECT_EQ(mod(n, n + 1), n);
  EXPECT_FALSE(mod(n, 2).is_constant());
}

TEST(Dim, MinimaAndMaximaAreDecidedByBounds) {
  EXPECT_EQ(min(k, 100), k);
  EXPECT_EQ(max(k, 1), k);
  EXPECT_EQ(min(n, n + m), n);
  EXPECT_EQ(max(n, n + m), n + m);
  EXPECT_EQ(min(n, INT64_MAX), n);
  EXPECT_EQ(max(n, INT64_MIN), n);
  EXPECT_EQ(min(min(n, 5), 3), min(n, 3));
  EXPECT_FALSE(min(n, 5).is_constant());
  EXPECT_EQ(max(n, min(n, 512)), n);
  EXPECT_EQ(min(n, max(n, m)), n);
  EXPECT_EQ(max(n + 1, min(n, m)), n + 1);
  EXPECT_NE(max(n, min(m, 512)), n);
}

TEST(Dim, BoundsAreProven) {
  EXPECT_EQ(n.low(), 0);
  EXPECT_EQ(n.high(), Dim::kMax);
  EXPECT_EQ((2 * k + 1).high(), 129);
  EXPECT_EQ((1 - k).low(), -63);
  EXPECT_EQ(ceildiv(k, 2).low(), 1);
  EXPECT_EQ(ceildiv(k, 2).high(), 32);
  EXPECT_EQ(mod(n, k).high(), 63);
  EXPECT_EQ(min(n, 7).high(), 7);
  EXPECT_EQ((n * n * n).high(), INT64_MAX);
  EXPECT_EQ((-n * n * n).low(), INT64_MIN);
  EXPECT_EQ((n * n * n - 5).high(), INT64_MAX);
}

TEST(Dim, DivisibilityIsProven) {
  EXPECT_TRUE((4 * n + 8).divisible_by(4));
  EXPECT_TRUE((2 * n * (2 * m)).divisible_by(-4));
  EXPECT_TRUE(min(6 * n, 9).divisible_by(3));
  EXPECT_TRUE(Dim(0).divisible_by(7));
  EXPECT_TRUE(Dim(0).divisible_by(0));
  EXPECT_FALSE(n.divisible_by(0));
  EXPECT_FALSE((4 * n + 2).divisible_by(4));
  EXPECT_FALSE(floordiv(4 * n, 3).divisible_by(4));
}

TEST(Dim, TextIsReadable) {
  EXPECT_EQ((2 * Dim::symbol("batch") + 1).to_string(), "2*batch + 1");
  EXPECT_EQ(floordiv(n, 2).to_string(), "floordiv(n, 2)");
  EXPECT_EQ((m - n - 1).to_string(), "m - n - 1");
  EXPECT_EQ((1 - n).to_string(), "-n + 1");
  EXPECT_EQ((n + n * m).to_string(), "m*n + n");
  EXPECT_EQ((Dim::symbol("batch size") - 1).to_string(), "\"batch size\" - 1");
  EXPECT_EQ(Dim(-3).to_string(), "-3");
  EXPECT_EQ(Dim().to_string(), "0");
  EXPECT_EQ(max(min(n, m), k).to_string(), "max(k, min(m, n))");
}

TEST(Dim, NamesAreNeverReadAsArithmetic) {
  for (std::string_view name :
       {"n + 1", "2", "floordiv(n, 2)", "a\"b\\c", "größe", "tab\there", "min", "?", "a.b-c"}) {
    const Dim dim = 2 * Dim::symbol(name) + 3;
    EXPECT_EQ(Dim::parse(dim.to_string()), dim) << dim.to_string();
    EXPECT_EQ(Dim::symbol(name).symbol_name(), name);
  }
  EXPECT_FALSE(Dim::symbol("n + 1") == n + 1);
  EXPECT_EQ((n + 1).symbol_name(), std::nullopt);
  EXPECT_EQ(mod(n, 2).symbol_name(), std::nullopt);
}

TEST(Dim, ParserTakesSpacesAndBrackets) {
  EXPECT_EQ(Dim::parse(" ( n+1 ) * 2 - - m"), 2 * n + 2 + m);
  EXPECT_EQ(Dim::parse("ceildiv(n, 2)"), ceildiv(n, 2));
  EXPECT_EQ(Dim::parse("min(n, m, 3)"), min(min(n, m), 3));
  EXPECT_EQ(Dim::parse("-9223372036854775808"), Dim(INT64_MIN));
  EXPECT_EQ(Dim::parse((n + INT64_MIN).to_string()), n + INT64_MIN);
  const Dim small = Dim::parse("s", [](std::string_view name) { return Dim::symbol(name, 2, 4); });
  EXPECT_EQ(small.high(), 4);
}

TEST(Dim, BadTextIsRefused) {
  for (std::string_view text : {"",
                                "n +",
                                "n m",
                                "(n",
                                "n)",
                                "2n",
                                "9223372036854775808",
                                "foo(n, 2)",
                                "floordiv(n)",
                                "floordiv(n, 2, 3)",
                                "min(n)",
                                "\"open",
                                "\"\"",
                                "\"\\q\"",
                                "\"\\x1\"",
                                "n / 2",
                                "floordiv(n, 0)",
                                "mod(n, m - m)",
                                "1e3",
                                "é"}) {
    EXPECT_EQ(code_of([&] { Dim::parse(text); }), ErrorCode::invalid_argument) << text;
  }
}

TEST(Dim, HostileTextIsRefusedQuickly) {
  const std::string open(60000, '(');
  const std::string minus(60000, '-');
  EXPECT_EQ(code_of([&] { Dim::parse(open); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { Dim::parse(minus + "n"); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { Dim::parse(std::string(70000, 'a')); }), ErrorCode::invalid_argument);
  std::string many = "0";
  for (int i = 0; i < 20000; ++i) many += "+n";
  EXPECT_EQ(code_of([&] { Dim::parse(many); }), ErrorCode::invalid_argument);
}

TEST(Dim, GrowthStopsAtTheLimit) {
  Dim product = 1;
  EXPECT_EQ(code_of([&] {
              for (int i = 0; i < 20; ++i) product = product * (Dim::symbol("s" + std::to_string(i)) + 1);
            }),
            ErrorCode::out_of_memory);
  Dim nested = n;
  EXPECT_EQ(code_of([&] {
              for (int i = 0; i < 300; ++i) nested = floordiv(nested, m + i);
            }),
            ErrorCode::out_of_memory);
  EXPECT_EQ(Dim::parse(nested.to_string()), nested);
}

TEST(Dim, OverflowNamesTheExpression) {
  try {
    (void)((INT64_MAX * n) * 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error.parts().name, "(9223372036854775807*n)*(2)");
  }
  EXPECT_EQ(code_of([] { (void)(Dim(INT64_MAX) + 1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { (void)-Dim(INT64_MIN); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { (void)floordiv(INT64_MIN, -1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(mod(INT64_MIN, -1), Dim(0));
  EXPECT_EQ(code_of([] { (void)floordiv(n, 0); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { (void)Dim::symbol("n", 3, 2); }), ErrorCode::invalid_argument);
}

TEST(Dim, SubstitutionRewritesAndSimplifies) {
  const auto bind = [](std::string_view name) -> std::optional<Dim> {
    if (name == "n") return 2 * m;
    return std::nullopt;
  };
  EXPECT_EQ((floordiv(n, 2) + k).substitute(bind), m + k);
  const auto zero = [](std::string_view name) { return std::optional<Dim>(name == "n" ? 0 : Dim::kMax); };
  EXPECT_EQ((n * m * k).substitute(zero), Dim(0));
  const auto large = [](std::string_view) { return std::optional<Dim>(Dim::kMax); };
  EXPECT_EQ(code_of([&] { (n * m).substitute(large); }), ErrorCode::invalid_argument);
}

TEST(Dim, SymbolsAreVisitedWithTheirRanges) {
  std::string seen;
  (floordiv(k, 3) + n * k).visit_symbols([&](std::string_view name, int64_t low, int64_t high) {
    seen += fmt::format("{}[{},{}] ", name, low, high);
  });
  EXPECT_EQ(seen, fmt::format("k[1,64] n[0,{}] k[1,64] ", Dim::kMax));
}

// An expression as it was written, evaluated without Dim.
struct Tree {
  char op;  // a letter of kOps, 'c' for a constant, 's' for a symbol
  int64_t value = 0;
  std::unique_ptr<Tree> left, right;
};
constexpr std::string_view kOps = "+-*/^%<>";
struct Variable {
  std::string_view name;
  int64_t low, high;
};
constexpr Variable kVariables[] = {{"a", 0, 9}, {"b", 1, 5}, {"c", -4, 4}, {"batch size", 2, 2}};

Dim variable(std::string_view name) {
  for (const Variable& v : kVariables) {
    if (v.name == name) return Dim::symbol(v.name, v.low, v.high);
  }
  throw std::out_of_range(std::string(name));
}

std::unique_ptr<Tree> random_tree(std::mt19937& random, int depth) {
  auto tree = std::make_unique<Tree>();
  const auto kind = random() % 10;
  if (depth == 0 || kind == 0) {
    tree->op = random() % 3 == 0 ? 'c' : 's';
    tree->value =
        tree->op == 'c' ? static_cast<int64_t>(random() % 16) - 5 : static_cast<int64_t>(random() % 4);
    return tree;
  }
  tree->op = kOps[random() % kOps.size()];
  tree->left = random_tree(random, depth - 1);
  tree->right = random_tree(random, depth - 1);
  return tree;
}

Dim build(const Tree& tree, bool swapped) {
  if (tree.op == 'c') return tree.value;
  if (tree.op == 's') return variable(kVariables[tree.value].name);
  const Dim a = build(*tree.left, swapped);
  const Dim b = build(*tree.right, swapped);
  switch (tree.op) {
    case '+': return swapped ? b + a : a + b;
    case '-': return swapped ? -b + a : a - b;
    case '*': return swapped ? b * a : a * b;
    case '/': return floordiv(a, b);
    case '^': return swapped ? -floordiv(-a, b) : ceildiv(a, b);
    case '%': return mod(a, b);
    case '<': return swapped ? min(b, a) : min(a, b);
    default: return swapped ? max(b, a) : max(a, b);
  }
}

// Nothing where a divisor is zero.
std::optional<int64_t> evaluate(const Tree& tree, const int64_t (&values)[4]) {
  if (tree.op == 'c') return tree.value;
  if (tree.op == 's') return values[tree.value];
  const auto a = evaluate(*tree.left, values);
  const auto b = evaluate(*tree.right, values);
  if (!a || !b) return std::nullopt;
  const auto floor = [](int64_t x, int64_t y) { return (x - ((x % y) + y) % y) / y; };
  switch (tree.op) {
    case '+': return *a + *b;
    case '-': return *a - *b;
    case '*': return *a * *b;
    case '<': return std::min(*a, *b);
    case '>': return std::max(*a, *b);
    default: break;
  }
  if (*b == 0) return std::nullopt;
  if (tree.op == '^') return -floor(-*a, *b);
  return tree.op == '/' ? floor(*a, *b) : *a - *b * floor(*a, *b);
}

void check_values(const Tree& tree, const Dim& dim, std::mt19937& random) {
  for (int round = 0; round < 6; ++round) {
    int64_t values[4];
    for (int i = 0; i < 4; ++i) {
      const Variable& v = kVariables[i];
      values[i] = v.low + static_cast<int64_t>(random() % static_cast<uint64_t>(v.high - v.low + 1));
    }
    const auto expected = evaluate(tree, values);
    if (!expected) continue;
    const unsigned first = random() % 16;  // bind some symbols first, then the others
    const auto binding = [&values](unsigned which) {
      return [&values, which](std::string_view name) -> std::optional<Dim> {
        for (int i = 0; i < 4; ++i) {
          if (kVariables[i].name == name && (which >> i & 1) != 0) return values[i];
        }
        return std::nullopt;
      };
    };
    EXPECT_EQ(dim.substitute(binding(first)).substitute(binding(15)), Dim(*expected)) << dim.to_string();
    EXPECT_LE(dim.low(), *expected) << dim.to_string();
    EXPECT_GE(dim.high(), *expected) << dim.to_string();
    for (int64_t divisor : {2, 3, 4, 5, 6}) {
      EXPECT_TRUE(!dim.divisible_by(divisor) || *expected % divisor == 0) << dim.to_string();
    }
  }
}

TEST(Dim, RandomExpressionsKeepTheirValueAndTheirText) {
  std::mt19937 random(7);
  int checked = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto tree = random_tree(random, 1 + i % 4);
    std::optional<Dim> dim;
    try {
      dim = build(*tree, false);
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::internal);  // a constant zero divisor, or growth
      continue;
    }
    ++checked;
    check_values(*tree, *dim, random);
    const Dim again = build(*tree, true);
    EXPECT_EQ(*dim, again);
    EXPECT_EQ(dim->hash(), again.hash());
    const std::string text = dim->to_string();
    const Dim parsed = Dim::parse(text, variable);
    EXPECT_EQ(parsed, *dim) << text;
    EXPECT_EQ(parsed.to_string(), text);
    if (HasFailure()) return;
  }
  EXPECT_GT(checked, 15000);
}

}  // namespace
}  // namespace ingot
