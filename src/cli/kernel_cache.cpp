#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/cache_store.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/values.h"
#include "ingot/error.h"
#include "runtime/runtime_cache_state.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr int64_t kSecondsPerDay = 86400;

enum class State { current, other_version, other_device, damaged };

State state_of(const CacheListing& entry) {
  if (!entry.fault.empty()) return State::damaged;
  switch (use_of_entry(entry.info)) {
    case CodeUse::usable: return State::current;
    case CodeUse::other_version: return State::other_version;
    case CodeUse::other_device: break;
  }
  return State::other_device;
}

std::string_view to_string(State state) {
  switch (state) {
    case State::current: return "current";
    case State::other_version: return "other version";
    case State::other_device: return "other device";
    case State::damaged: break;
  }
  return "damaged";
}

std::string kind_of(const CacheListing& entry) { return entry.key.substr(0, entry.key.find('-')); }
std::string name_of(const CacheListing& entry) {
  const size_t dash = entry.key.find('-');
  return dash == std::string::npos ? entry.key : entry.key.substr(dash + 1);
}
std::string engine_of(const CacheListing& entry) {
  return entry.info.engine == Digest{} ? "" : to_hex(entry.info.engine);
}

std::string format_age(int64_t seconds) {
  if (seconds < 60) return "now";
  if (seconds < 3600) return fmt::format("{} min", seconds / 60);
  if (seconds < 2 * kSecondsPerDay) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} days", seconds / kSecondsPerDay);
}

uint64_t bytes_of_all(const std::vector<CacheListing>& entries) {
  uint64_t bytes = 0;
  for (const CacheListing& entry : entries) bytes += entry.bytes;
  return bytes;
}

Json json_of(const CacheListing& entry, int64_t now) {
  return {{"kind", kind_of(entry)},
          {"key", name_of(entry)},
          {"state", to_string(state_of(entry))},
          {"fault", entry.fault},
          {"target", entry.info.target},
          {"engine", engine_of(entry)},
          {"bytes", entry.bytes},
          {"age_seconds", std::max<int64_t>(0, now - entry.used_seconds)},
          {"make_seconds", static_cast<double>(entry.info.make_microseconds) / 1e6}};
}

std::string line_of(const CacheListing& entry, int64_t now) {
  const std::string age = format_age(now - entry.used_seconds);
  const std::string state(entry.fault.empty() ? to_string(state_of(entry)) : entry.fault);
  return fmt::format("{:8} {:.16}  {:16} {:>12} {:>8}  engine {:.12}  {}\n", kind_of(entry), name_of(entry),
                     entry.info.target, format_bytes(entry.bytes), age,
                     engine_of(entry).empty() ? "-" : engine_of(entry), state);
}

class KernelCacheCommand : public Command {
 public:
  ManualPage manual() const override {
    return {.name = "kernel-cache",
            .summary = "look at, check and tidy compiled kernels",
            .description =
                "Works on the folder in which compiled kernels and packed weights are kept, or on one file "
                "of kernels, as --runtime-cache-file and 'compile --prebuild' write.\n\n"
                "list shows what is there: kernels by themselves, images (all kernels of one engine) and "
                "packed weights, the processor level they are for, the engine they were made for first, "
                "and when they were of use last. verify reads all of it and fails where something is "
                "damaged. prune deletes what is damaged or of another version of Ingot, then what "
                "--older-than and --max-size say, the least recently used first. merge adds the kernels of "
                "other folders and files. clear deletes everything.\n\n"
                "All of it may be done while other processes use the cache: they make again what they miss.",
            .example =
                "ingot kernel-cache list\n"
                "ingot kernel-cache prune --max-size 500M --dry-run\n"
                "ingot kernel-cache merge --file app.cache --from ~/.cache/ingot --from other.cache",
            .exit_codes = "0 success, 1 failure or, for verify, damage; 2 wrong usage"};
  }

  void declare(Arguments& a) override {
    a.positional("ACTION", action_, "list, verify, prune, merge or clear.");
    a.option("--folder", "DIR", folder_, "The folder; default: the one that runtimes use.");
    a.option("--file", "FILE", file_, "A file of kernels instead.");
    a.repeated("--from", "PATH", sources_, "merge: a folder or file to take kernels from.");
    a.option("--max-size", "BYTES", max_size_, "prune: keep at most this much, as 500M or 2G.");
    a.option("--older-than", "DAYS", days_, "prune: delete what was of no use for so long.", 0, 36500);
    a.flag("-n,--dry-run", dry_run_, "prune, clear: only say what would be deleted.");
    a.flag("--json", json_, "Print JSON.");
  }

  int run(Logger& logger) override {
    check();
    store_ = open_store(logger);
    if (action_ == "list") return list();
    if (action_ == "verify") return verify();
    if (action_ == "merge") return merge(logger);
    return remove(action_ == "clear" ? store_->list() : to_prune());
  }

 private:
  void check() const {
    const std::vector<std::string> actions = {"list", "verify", "prune", "merge", "clear"};
    if (std::ranges::find(actions, action_) == actions.end())
      throw UsageError(
          fmt::format("ACTION: expected one of {}, found '{}'", fmt::join(actions, ", "), action_));
    if (!folder_.empty() && !file_.empty()) throw UsageError("--folder and --file: give one of them");
    const bool prunes = action_ == "prune", removes = prunes || action_ == "clear";
    if (action_ == "merge" ? sources_.empty() : !sources_.empty())
      throw UsageError("merge and --from go together");
    if (!prunes && (!max_size_.empty() || days_ >= 0))
      throw UsageError("--max-size and --older-than are for prune");
    if (!removes && dry_run_) throw UsageError("--dry-run is for prune and clear");
  }

  std::unique_ptr<CacheStore> open_store(Logger& logger) const {
    if (!file_.empty()) return open_cache_file(file_);
    const std::string folder = folder_.empty() ? RuntimeCache::default_folder() : folder_;
    if (folder.empty()) throw UsageError("--folder: there is no default folder here, so name one");
    return open_cache_folder(folder, logger);
  }

  int list() const {
    const std::vector<CacheListing> entries = store_->list();
    if (json_) return print_json(listing_json(entries)), kSuccess;
    for (const CacheListing& entry : entries) print_text(line_of(entry, now_));
    print_text(fmt::format("{}: {} entries, {}\n", store_->path(), entries.size(),
                           format_bytes(bytes_of_all(entries))));
    return kSuccess;
  }

  int verify() const {
    std::vector<CacheListing> entries = store_->list();
    const size_t all = entries.size();
    std::erase_if(entries, [](const CacheListing& entry) { return entry.fault.empty(); });
    if (json_) {
      Json report = listing_json(entries);
      report["checked"] = all;
      print_json(report);
    } else {
      for (const CacheListing& entry : entries) print_text(line_of(entry, now_));
      print_text(fmt::format("{}: {} entries, {} of them damaged\n", store_->path(), all, entries.size()));
    }
    return entries.empty() ? kSuccess : kFailure;
  }

  int merge(Logger& logger) {
    std::vector<NamedEntry> all;
    for (const std::string& source : sources_)
      all = merge_entries(std::move(all), open_cache(source, logger)->kernels(), ~uint64_t{0});
    const size_t before = store_->list().size(), found = all.size();
    store_->add(std::move(all));
    const size_t added = store_->list().size() - before;
    if (json_)
      print_json({{"cache", store_->path()}, {"found", found}, {"added", added}});
    else
      print_text(fmt::format("{}: {} kernels found, {} of them new\n", store_->path(), found, added));
    return kSuccess;
  }

  // What is of no use, what is too old, and of the rest the least recently used beyond the limit.
  std::vector<CacheListing> to_prune() const {
    const uint64_t limit = max_size_.empty() ? ~uint64_t{0} : parse_byte_count("--max-size", max_size_);
    std::vector<CacheListing> entries = store_->list(), pruned;
    std::ranges::stable_sort(entries, std::greater(), &CacheListing::used_seconds);
    uint64_t kept = 0;
    for (CacheListing& entry : entries) {
      const State state = state_of(entry);
      const bool useless = state == State::damaged || state == State::other_version;
      const bool old = days_ >= 0 && now_ - entry.used_seconds >= days_ * kSecondsPerDay;
      if (useless || old || kept + entry.bytes > limit)
        pruned.push_back(std::move(entry));
      else
        kept += entry.bytes;
    }
    return pruned;
  }

  int remove(const std::vector<CacheListing>& entries) {
    if (!dry_run_ && !entries.empty()) store_->remove(entries);
    const uint64_t bytes = bytes_of_all(entries);
    if (json_) {
      Json report = listing_json(entries);
      report["deleted"] = !dry_run_;
      print_json(report);
    } else {
      print_text(fmt::format("{}: {} entries, {} {}\n", store_->path(), entries.size(), format_bytes(bytes),
                             dry_run_ ? "would be deleted" : "deleted"));
    }
    return kSuccess;
  }

  Json listing_json(const std::vector<CacheListing>& entries) const {
    Json list = Json::array();
    for (const CacheListing& entry : entries) list.push_back(json_of(entry, now_));
    return {{"cache", store_->path()}, {"bytes", bytes_of_all(entries)}, {"entries", list}};
  }

  std::string action_, folder_, file_, max_size_;
  std::vector<std::string> sources_;
  int64_t days_ = -1;
  bool dry_run_ = false, json_ = false;
  const int64_t now_ = seconds_now();
  std::unique_ptr<CacheStore> store_;
};

}  // namespace

std::unique_ptr<Command> kernel_cache_command() { return std::make_unique<KernelCacheCommand>(); }

}  // namespace ingot::cli
