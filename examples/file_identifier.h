#pragma once

#include <ingot/runtime.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

// Tells what kind of file some content is, with the magika model: what an application puts around an engine.
// The model sees the first and the last bytes of the content; a few rules of the client decide the rest.
class FileIdentifier {
 public:
  struct Answer {
    std::string kind;        // what to show: the model's answer, or "txt" or "unknown" where it is not sure
    std::string model_kind;  // what the model said; "undefined" where it was not asked
    double probability = 1;
  };

  // `folder` holds config.min.json and content_types_kb.min.json of the model's package.
  FileIdentifier(const std::shared_ptr<const ingot::Engine>& engine, const std::string& folder)
      : context_(engine->create_context()), input_(engine->inputs().at(0).name) {
    nlohmann::json config = nlohmann::json::parse(std::ifstream(folder + "/config.min.json"));
    labels_ = config.at("target_labels_space");
    thresholds_ = config.at("thresholds");
    overwrites_ = config.at("overwrite_map");
    nlohmann::json kinds = nlohmann::json::parse(std::ifstream(folder + "/content_types_kb.min.json"));
    for (const auto& [name, kind] : kinds.items()) is_text_[name] = kind.at("is_text");
  }

  Answer identify(std::string_view content) {
    if (content.empty()) return {"empty", "undefined"};
    std::vector<int32_t> features = features_of(content);
    // Too little to ask the model about.
    if (content.size() < kLeast || features[kLeast - 1] == kPadding)
      return {is_utf8(content) ? "txt" : "unknown", "undefined"};
    auto outputs = context_->run({{input_, ingot::Tensor::of<int32_t>({1, 2 * kWindow}, features)}});
    auto scores = outputs.begin()->second.tensor().data<float>();
    auto best = std::max_element(scores.begin(), scores.end());
    std::string label = labels_.at(static_cast<size_t>(best - scores.begin()));
    return {decide(label, *best), label, *best};
  }

 private:
  static constexpr size_t kBlock = 4096;   // bytes looked at from either end
  static constexpr size_t kWindow = 1024;  // bytes the model sees of either end
  static constexpr size_t kLeast = 8;      // bytes the model needs
  static constexpr int32_t kPadding = 256;

  // The first bytes without leading space, padded behind; the last bytes without trailing space, padded
  // before.
  static std::vector<int32_t> features_of(std::string_view content) {
    auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    std::string_view begin = content.substr(0, kBlock);
    std::string_view end = content.substr(content.size() - std::min(content.size(), kBlock));
    while (!begin.empty() && is_space(begin.front())) begin.remove_prefix(1);
    while (!end.empty() && is_space(end.back())) end.remove_suffix(1);
    begin = begin.substr(0, kWindow);
    end = end.substr(end.size() - std::min(end.size(), kWindow));
    std::vector<int32_t> features(2 * kWindow, kPadding);
    auto byte = [](char c) { return static_cast<int32_t>(static_cast<unsigned char>(c)); };
    std::transform(begin.begin(), begin.end(), features.begin(), byte);
    std::transform(end.begin(), end.end(), features.end() - static_cast<std::ptrdiff_t>(end.size()), byte);
    return features;
  }

  std::string decide(const std::string& label, double probability) const {
    auto threshold = thresholds_.find(label);
    std::string kind = overwrites_.contains(label) ? overwrites_.at(label) : label;
    if (probability >= (threshold == thresholds_.end() ? 0.5 : threshold->second)) return kind;
    return is_text_.at(kind) ? "txt" : "unknown";
  }

  static bool is_utf8(std::string_view s) {
    for (size_t i = 0; i < s.size();) {
      auto lead = static_cast<unsigned char>(s[i]);
      size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
      if (length == 0 || i + length > s.size()) return false;
      for (size_t k = 1; k < length; ++k)
        if ((static_cast<unsigned char>(s[i + k]) & 0xc0) != 0x80) return false;
      i += length;
    }
    return true;
  }

  std::unique_ptr<ingot::Context> context_;
  std::string input_;
  std::vector<std::string> labels_;
  std::map<std::string, double> thresholds_;
  std::map<std::string, std::string> overwrites_;
  std::map<std::string, bool> is_text_;
};
