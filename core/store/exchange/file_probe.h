// Identifies a file that a user drops on the window or names on the command line, by its name. A
// database is opened read-only, in a process that may crash.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

#include "core/base/json.h"
#include "core/store_export.h"

namespace vitrine::store {

enum class FileKind {
  Database,     ///< .sqlite, .sqlite3, .db
  Export,       ///< .vitrine
  TensorBoard,  ///< an event file (*tfevents*)
  Folder,
  Experiment,  ///< .toml
  Weights,     ///< .safetensors, or a list of shards (.safetensors.index.json)
  Foreign,     ///< weights that are refused: .pt, .pth, .ckpt, .bin, .pkl, .npz, .h5
  Unknown,
};
[[nodiscard]] VITRINE_STORE_EXPORT std::string toString(FileKind kind);  ///< "database" ...
/// By its name alone, in any case of letters; nothing is opened.
[[nodiscard]] VITRINE_STORE_EXPORT FileKind kindByName(const std::filesystem::path& file);

struct ProbedFile {
  FileKind kind = FileKind::Unknown;
  bool isUsable = false;  ///< a database or export: it is Vitrine's, and of a version known here
  std::string refusal;    ///< why it is not, one sentence
  std::string uuid;       ///< of the database
  std::int64_t version = 0, runs = 0;
};

/// Does the work of `vitrine db probe`: opens a database or export read-only, compares its schema
/// with ours and counts its runs. Whatever is wrong with the file is in `refusal`.
[[nodiscard]] VITRINE_STORE_EXPORT ProbedFile probeHere(const std::filesystem::path& file);
[[nodiscard]] VITRINE_STORE_EXPORT Json toJson(const ProbedFile& probed);

/// Has `program` (`vitrine`) do it; other kinds than databases and exports are not opened at all. A
/// crash or a hang of that process is a refusal. \param stop  ends the process and the waiting
[[nodiscard]] VITRINE_STORE_EXPORT ProbedFile
probeFile(const std::filesystem::path& file, const std::filesystem::path& program,
          std::chrono::milliseconds patience = std::chrono::seconds(10),
          const std::stop_token& stop = {});

}  // namespace vitrine::store
