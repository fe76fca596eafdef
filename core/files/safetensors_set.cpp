#include "core/files/safetensors_set.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/files/posix_file.h"
#include "core/files/safetensors_limits.h"

namespace vitrine {

namespace {

using namespace safetensors_limits;
namespace fs = std::filesystem;
using files::inQuotes;

constexpr std::uint64_t kLargestList = 16u << 20;  // bytes
constexpr std::size_t kMostShards = 512;
constexpr const char* kFileName = "model.safetensors";
constexpr const char* kListEnding = ".index.json";

/// Empty, or why `name` is not a name of a file next to the list.
std::string whyNoShard(const std::string& name) {
  if (name.empty()) return "is empty";
  if (name.size() > 255) return "is longer than a file name can be";
  if (name.find('/') != std::string::npos || name.find('\\') != std::string::npos)
    return "leaves the folder of the list";
  if (name.front() == '.') return "begins with a dot";
  if (std::any_of(name.begin(), name.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    return "has a control character";
  }
  if (!name.ends_with(".safetensors")) return "does not end in .safetensors";
  return "";
}

/// Reads the list event by event: what it does not know it steps over, twice the same key is an
/// error.
class ListReader final : public nlohmann::json_sax<Json> {
 public:
  SafetensorsIndex index;
  std::set<std::string> shards;
  std::string error;  ///< one clause; empty while all is well
  bool hasMap = false;

  bool null() override { return value("null"); }
  bool boolean(bool) override { return value("a boolean"); }
  bool number_integer(std::int64_t) override { return value("a number"); }
  bool number_unsigned(std::uint64_t) override { return value("a number"); }
  bool number_float(double, const std::string&) override { return value("a number"); }
  bool binary(Json::binary_t&) override { return value("binary data"); }
  bool string(std::string& text) override {
    if (!isInMap()) return value("a text");
    if (const std::string why = whyNoShard(text); !why.empty())
      return fail("the shard name " + inQuotes(text) + " of tensor " + inQuotes(key_) + " " + why);
    if (index.shardOf.size() == kMostTensors)
      return fail("there are more than " + formatCount(kMostTensors) + " tensors");
    shards.insert(text);
    if (shards.size() > kMostShards)
      return fail("there are more than " + std::to_string(kMostShards) + " shards");
    index.shardOf.emplace(key_, text);
    return true;
  }

  bool start_object(std::size_t) override {
    if (isInMap()) return value("an object");
    if (!enter()) return false;
    if (depth_ == 2 && key_ == "weight_map") hasMap = isMap_ = true;
    keys_.emplace_back();
    return true;
  }
  bool end_object() override {
    if (depth_ == 2) isMap_ = false;
    --depth_;
    keys_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override {
    if (isInMap()) return value("a list");
    if (depth_ == 1 && key_ == "weight_map") return fail("its weight_map is a list");
    return enter();
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(std::string& text) override {
    if (!keys_.back().insert(text).second)
      return fail("the key " + inQuotes(text) + " is there twice");
    if (isInMap() && text.size() > kLongestName) {
      return fail("the name " + inQuotes(text) + " is longer than " +
                  formatCount(kLongestName) + " bytes");
    }
    // Below a container that is stepped over, keys mean nothing.
    if (depth_ == 1 || isInMap()) key_ = text;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    error = "it is not JSON at byte " + std::to_string(position);
    return false;
  }

 private:
  bool fail(std::string clause) {
    error = std::move(clause);
    return false;
  }
  bool enter() {
    if (++depth_ > kDeepestJson)
      return fail("its JSON is nested deeper than " + std::to_string(kDeepestJson));
    return true;
  }
  [[nodiscard]] bool isInMap() const noexcept { return isMap_; }
  bool value(const std::string& what) {
    if (depth_ == 0) return fail("it is not an object");
    if (isInMap()) return fail("the shard of tensor " + inQuotes(key_) + " is " + what);
    if (depth_ == 1 && key_ == "weight_map") return fail("its weight_map is " + what);
    return true;
  }

  std::vector<std::set<std::string>> keys_;
  std::string key_;
  int depth_ = 0;
  bool isMap_ = false;
};

bool isThere(const fs::path& file) {
  std::error_code ignored;  // what cannot be read is not there
  return fs::exists(file, ignored);
}

/// Where the weights are that `path` means: a file or a list.
fs::path found(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    const fs::path file = path / kFileName;
    const fs::path list = path / (std::string(kFileName) + kListEnding);
    if (isThere(file)) return file;
    if (isThere(list)) return list;
    throw FileError(path.string() + " has neither " + kFileName + " nor " + kFileName +
                    kListEnding + "; name the file");
  }
  const fs::path list = path.string() + kListEnding;
  return !isThere(path) && isThere(list) ? list : path;
}

std::string textOf(const fs::path& file) {
  const auto [fd, size] = files::openToRead(file);
  if (size > kLargestList) {
    throw FileError(file.string() + " is refused: a list of shards of " +
                    formatBytes(size) + " is above the limit of 16 MiB");
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  text.resize(files::readAt(fd, file, std::as_writable_bytes(std::span(text)), 0));
  return text;
}

}  // namespace

SafetensorsIndex readSafetensorsIndex(const std::string& text, const fs::path& file) {
  const std::string name = file.string() + " is refused as a list of shards: ";
  // The JSON parser takes a zero byte for the end of the text and would not look at what follows.
  if (text.find('\0') != std::string::npos) throw FileError(name + "it has a zero byte");
  ListReader reader;
  if (!Json::sax_parse(text, &reader)) throw FileError(name + reader.error);
  if (!reader.hasMap) throw FileError(name + "it has no weight_map");
  if (reader.index.shardOf.empty()) throw FileError(name + "its weight_map is empty");
  return std::move(reader.index);
}

std::vector<fs::path> weightFiles(const fs::path& path) {
  std::vector<fs::path> all{found(path)};
  if (all.front().extension() != ".json") return all;
  std::set<std::string> shards;
  for (const auto& [name, shard] : readSafetensorsIndex(textOf(all.front()), all.front()).shardOf)
    shards.insert(shard);
  const fs::path folder = all.front().parent_path();
  for (const std::string& shard : shards) all.push_back(folder / shard);
  return all;
}

struct SafetensorsSet::State {
  std::vector<SafetensorsFile> files;
  std::vector<SafetensorsEntry> entries;
  struct Place {
    std::size_t entry = 0, file = 0;
  };
  std::map<std::string, Place> byName;
  bool isList = false;

  void add(const SafetensorsEntry& entry, std::size_t file) {
    byName.emplace(entry.name, Place{entries.size(), file});
    entries.push_back(entry);
  }

  void openFile(const fs::path& file) {
    files.emplace_back(file);
    for (const SafetensorsEntry& entry : files.front().entries()) add(entry, 0);
  }

  void openList(const fs::path& list) {
    isList = true;
    const SafetensorsIndex index = readSafetensorsIndex(textOf(list), list);
    std::map<std::string, std::set<std::string>> namesIn;  // by shard
    for (const auto& [name, shard] : index.shardOf) namesIn[shard].insert(name);
    std::string missing;
    int count = 0;
    for (const auto& [shard, names] : namesIn) {
      if (isThere(list.parent_path() / shard)) continue;
      if (++count <= 5) missing += (count > 1 ? ", " : "") + shard;
    }
    if (count > 0) {
      if (count > 5) missing += " and " + std::to_string(count - 5) + " more";
      throw FileError(list.string() + " names shards that are not next to it: " + missing +
                      "; fetch them into the same folder");
    }
    for (const auto& [shard, names] : namesIn) {
      const fs::path file = list.parent_path() / shard;
      files.emplace_back(file);
      std::size_t seen = 0;
      for (const SafetensorsEntry& entry : files.back().entries()) {
        if (!names.contains(entry.name)) continue;
        add(entry, files.size() - 1);
        ++seen;
      }
      if (seen == names.size()) continue;
      for (const std::string& name : names) {
        if (files.back().find(name) == nullptr) {
          throw FileError(file.string() + " has no tensor " + inQuotes(name) + ", which " +
                          list.filename().string() +
                          " says it holds; the two belong to different models");
        }
      }
    }
  }
};

SafetensorsSet::SafetensorsSet(const fs::path& path) : state_(std::make_unique<State>()) {
  const fs::path file = found(path);
  if (file.extension() == ".json") {
    state_->openList(file);
  } else {
    state_->openFile(file);
  }
}
SafetensorsSet::~SafetensorsSet() = default;
SafetensorsSet::SafetensorsSet(SafetensorsSet&&) noexcept = default;
SafetensorsSet& SafetensorsSet::operator=(SafetensorsSet&&) noexcept = default;

const std::vector<SafetensorsEntry>& SafetensorsSet::entries() const noexcept {
  return state_->entries;
}

const SafetensorsEntry* SafetensorsSet::find(const std::string& name) const noexcept {
  const auto found = state_->byName.find(name);
  return found == state_->byName.end() ? nullptr : &state_->entries[found->second.entry];
}

void SafetensorsSet::read(const SafetensorsEntry& entry, std::span<std::byte> out) const {
  const auto found = state_->byName.find(entry.name);
  if (found == state_->byName.end())
    throw FileError("these weights have no tensor " + inQuotes(entry.name));
  state_->files[found->second.file].read(entry, out);
}

const std::map<std::string, std::string>& SafetensorsSet::metadata() const noexcept {
  static const std::map<std::string, std::string> none;
  return state_->isList ? none : state_->files.front().metadata();
}


}  // namespace vitrine
