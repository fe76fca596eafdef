// A set of weights: one safetensors file, or several with a list of the tensors of each.
//
// Large checkpoints come as `model-00001-of-00003.safetensors` ... with
// `model.safetensors.index.json` next to them:
//
//     {"metadata": {...}, "weight_map": {"TENSOR": "SHARD", ...}}
//
// The list decides: a tensor that it does not name is not there. Shards lie next to the list; a
// name that is not a plain file name is refused. A shard may be a symbolic link, since Hugging
// Face's cache consists of them. Limits: a list of 16 MiB, 1,000,000 tensors, 512 shards, and those
// of the format for every shard.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/files/safetensors.h"
#include "core/foundation_export.h"

namespace vitrine {

/// The shard of each tensor.
struct SafetensorsIndex {
  std::map<std::string, std::string> shardOf;  ///< tensor -> file name
};

/// Reads the text of a list. \param file  for messages
/// \throws FileError  names the file and the broken rule
[[nodiscard]] VITRINE_FOUNDATION_EXPORT SafetensorsIndex
readSafetensorsIndex(const std::string& text, const std::filesystem::path& file);

/// The files that a path of weights means, as for SafetensorsSet: one, or a list and its shards.
/// \throws FileError  a folder has none, or a list breaks a rule
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<std::filesystem::path> weightFiles(
    const std::filesystem::path& path);

/// Opened weights, whatever they are split into. Every header has passed every check. Like one
/// file, a set can be cut or replaced while it is open and answers with an error.
class VITRINE_FOUNDATION_EXPORT SafetensorsSet {
 public:
  /// \param path  a safetensors file; a list (`*.json`); a folder with either, under the name
  ///              `model.safetensors` or `model.safetensors.index.json`. Also a file that is not
  ///              there while its list, `path` + ".index.json", is
  /// \throws FileError  names the file and the broken rule; all missing shards at once; a tensor
  /// that its shard lacks
  explicit SafetensorsSet(const std::filesystem::path& path);
  ~SafetensorsSet();
  SafetensorsSet(SafetensorsSet&&) noexcept;
  SafetensorsSet& operator=(SafetensorsSet&&) noexcept;

  /// Shard by shard in the order of their names, within each by offset.
  [[nodiscard]] const std::vector<SafetensorsEntry>& entries() const noexcept;
  [[nodiscard]] const SafetensorsEntry* find(const std::string& name) const noexcept;
  /// Reads one tensor's bytes.
  /// \throws FileError  cut file or I/O error
  /// \pre  out.size() == end - begin
  void read(const SafetensorsEntry& entry, std::span<std::byte> out) const;
  /// Of the file; of a list nothing, since shards may differ.
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vitrine
