#include <re2/re2.h>

#include <map>
#include <set>

#include "device/reference/elements.h"
#include "device/reference/kernel.h"
#include "device/reference/text_case.h"
#include "device/reference/walk.h"

namespace ingot::reference {
namespace {

// Memory for the compiled form of a pattern; a pattern that needs more is refused.
constexpr int64_t kPatternMemory = int64_t{8} << 20;

void string_concat(KernelContext& c) {
  auto a = c.in(0).strings(), b = c.in(1).strings();
  const Shape& shape = c.out(0).shape();
  auto out = c.out(0).mutable_strings();
  walk<2>(shape, {broadcast_strides(c.in(0).shape(), shape), broadcast_strides(c.in(1).shape(), shape)},
          [&](int64_t i, const auto& at) {
            out[static_cast<size_t>(i)] = a[static_cast<size_t>(at[0])] + b[static_cast<size_t>(at[1])];
          });
}

constexpr std::string_view kBlanks = " \t\n\v\f\r";

// Between runs of blanks; at most `cuts` cuts, the last piece keeps what is left. Negative: any number.
std::vector<std::string> split_at_blanks(std::string_view text, int64_t cuts) {
  std::vector<std::string> pieces;
  size_t begin = text.find_first_not_of(kBlanks);
  while (begin != std::string_view::npos) {
    size_t end = cuts == 0 ? std::string_view::npos : text.find_first_of(kBlanks, begin);
    pieces.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    begin = end == std::string_view::npos ? end : text.find_first_not_of(kBlanks, end);
    --cuts;
  }
  return pieces;
}

std::vector<std::string> split_at(std::string_view text, std::string_view delimiter, int64_t cuts) {
  if (delimiter.empty()) return split_at_blanks(text, cuts);
  std::vector<std::string> pieces;
  for (size_t end; cuts != 0 && (end = text.find(delimiter)) != std::string_view::npos; --cuts) {
    pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(end + delimiter.size());
  }
  pieces.emplace_back(text);
  return pieces;
}

void string_split(KernelContext& c) {
  const auto& a = c.attrs<StringSplitAttrs>();
  std::vector<std::vector<std::string>> split;
  std::vector<int64_t> counts;
  int64_t most = 0;
  for (const std::string& text : c.in(0).strings()) {
    split.push_back(split_at(text, a.delimiter, a.max_split));
    counts.push_back(static_cast<int64_t>(split.back().size()));
    most = std::max(most, counts.back());
  }
  Shape shape = c.in(0).shape();
  c.set(1, Tensor::of(shape, counts));
  shape.push_back(most);
  Tensor pieces = Tensor::allocate(DType::string, std::move(shape));
  auto out = pieces.mutable_strings().begin();
  for (auto& row : split) {
    std::ranges::move(row, out);
    out += most;
  }
  c.set(0, std::move(pieces));
}

std::string with_case(std::string_view text, CaseAction action) {
  if (action == CaseAction::none) return std::string(text);
  return action == CaseAction::lower ? lower_case(text) : upper_case(text);
}

// Stop words are compared as they are, or without regard to case. What remains changes case. Never empty:
// without any word left it is one empty text.
void string_normalize(KernelContext& c) {
  const auto& a = c.attrs<StringNormalizeAttrs>();
  const Tensor& x = c.in(0);
  if (x.rank() != 1 && (x.rank() != 2 || x.shape()[0] != 1))
    c.fail("shape [n] or [1, n]", to_string(x.shape()));
  auto key = [&](std::string_view text) { return a.case_sensitive ? std::string(text) : lower_case(text); };
  std::set<std::string> stop;
  for (const std::string& word : a.stop_words) stop.insert(key(word));
  std::vector<std::string> kept;
  for (const std::string& word : x.strings())
    if (!stop.contains(key(word))) kept.push_back(with_case(word, a.case_action));
  if (kept.empty()) kept.emplace_back();
  auto count = static_cast<int64_t>(kept.size());
  c.set(0, Tensor::of_strings(x.rank() == 1 ? Shape{count} : Shape{1, count}, std::move(kept)));
}

void regex_full_match(KernelContext& c) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  RE2 pattern(c.attrs<RegexFullMatchAttrs>().pattern, options);
  if (!pattern.ok())
    c.fail("a pattern in RE2 syntax", fmt::format("'{}': {}", pattern.pattern(), pattern.error()));
  auto out = c.out(0).mutable_data<bool>();
  for (size_t i = 0; i < out.size(); ++i) out[i] = RE2::FullMatch(c.in(0).strings()[i], pattern);
}

// Words or numbers as texts, so that both kinds of vocabulary are handled alike.
std::vector<std::string> words_of(const Tensor& t) {
  if (t.is_string()) return {t.strings().begin(), t.strings().end()};
  std::vector<std::string> out;
  for (int64_t x : load<int64_t>(t)) out.push_back(fmt::format("{}", x));
  return out;
}

using Gram = std::vector<std::string>;

// The n-grams of a vocabulary, by length, each with the feature it counts for.
class Vocabulary {
 public:
  Vocabulary(const KernelContext& c, const TfIdfAttrs& a) {
    Gram pool = a.pool_texts;
    for (int64_t x : a.pool_numbers) pool.push_back(fmt::format("{}", x));
    size_t feature = 0;
    for (size_t k = 0; k < a.gram_counts.size(); ++k) {
      int64_t begin = a.gram_counts[k], length = static_cast<int64_t>(k) + 1;
      int64_t end = k + 1 < a.gram_counts.size() ? a.gram_counts[k + 1] : static_cast<int64_t>(pool.size());
      if (begin < 0 || begin > end || end > static_cast<int64_t>(pool.size()))
        c.fail(fmt::format("gram counts that rise to at most {}", pool.size()),
               fmt::format("{} to {}", begin, end));
      for (; begin + length <= end; begin += length) {
        if (feature >= a.gram_indexes.size())
          c.fail("one gram index per gram of the pool", fmt::format("{}", a.gram_indexes.size()));
        grams_[Gram(pool.begin() + begin, pool.begin() + begin + length)] = a.gram_indexes[feature++];
      }
      longest_ = length;
    }
  }

  int64_t longest() const { return longest_; }
  std::optional<int64_t> feature_of(const Gram& gram) const {
    auto found = grams_.find(gram);
    return found == grams_.end() ? std::nullopt : std::optional<int64_t>(found->second);
  }

 private:
  std::map<Gram, int64_t> grams_;
  int64_t longest_ = 0;
};

// How often each feature occurs in a row. The words of a gram stand `step` apart, for each step that skips
// allow; a gram of one word is counted once.
std::vector<double> count_grams(std::span<const std::string> row, const Vocabulary& words,
                                const TfIdfAttrs& a, size_t features) {
  std::vector<double> counts(features);
  auto n = static_cast<int64_t>(row.size());
  for (int64_t step = 1; step <= std::min(a.max_skip + 1, std::max<int64_t>(n, 1)); ++step) {
    for (int64_t length = std::max<int64_t>(a.min_length, step == 1 ? 1 : 2);
         length <= std::min({a.max_length, words.longest(), n}); ++length) {
      for (int64_t start = 0; start + step * (length - 1) < n; ++start) {
        Gram gram;
        for (int64_t i = 0; i < length; ++i) gram.push_back(row[static_cast<size_t>(start + i * step)]);
        if (auto feature = words.feature_of(gram)) ++counts[static_cast<size_t>(*feature)];
      }
    }
  }
  return counts;
}

void weigh(std::vector<double>& counts, const TfIdfAttrs& a) {
  for (size_t i = 0; i < counts.size(); ++i) {
    double weight = a.weights.empty() ? 1 : a.weights[i];
    if (a.mode == TfIdfMode::idf) counts[i] = counts[i] > 0 ? weight : 0;
    if (a.mode == TfIdfMode::tfidf) counts[i] *= weight;
  }
}

void tf_idf(KernelContext& c) {
  const auto& a = c.attrs<TfIdfAttrs>();
  const Tensor& x = c.in(0);
  auto features = static_cast<size_t>(c.out(0).shape().back());
  if (!a.weights.empty() && a.weights.size() < features)
    c.fail(fmt::format("{} weights", features), fmt::format("{}", a.weights.size()));
  Vocabulary vocabulary(c, a);
  std::vector<std::string> words = words_of(x);
  size_t rows = x.rank() == 2 ? static_cast<size_t>(x.shape()[0]) : 1,
         width = rows == 0 ? 0 : words.size() / rows;
  std::vector<double> out;
  for (size_t r = 0; r < rows; ++r) {
    auto counts = count_grams(std::span(words).subspan(r * width, width), vocabulary, a, features);
    weigh(counts, a);
    out.insert(out.end(), counts.begin(), counts.end());
  }
  store(c.out(0), out);
}

}  // namespace

void add_text_kernels(KernelTable& t) {
  t[Op::StringConcat] = string_concat;
  t[Op::StringSplit] = string_split;
  t[Op::StringNormalize] = string_normalize;
  t[Op::RegexFullMatch] = regex_full_match;
  t[Op::TfIdf] = tf_idf;
}

}  // namespace ingot::reference
