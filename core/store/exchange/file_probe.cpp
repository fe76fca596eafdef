#include "core/store/exchange/file_probe.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/base/error_json.h"
#include "core/base/program.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/store/sqlite/database.h"
#include "core/store/sqlite/file_system.h"
#include "core/store/sqlite/schema.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace fs = std::filesystem;

namespace {

bool hasDatabase(FileKind kind) { return kind == FileKind::Database || kind == FileKind::Export; }

std::string quoted(const fs::path& file) {
  std::string text(1, '\'');
  text += cleanUtf8(file.string());
  text += '\'';
  return text;
}

ProbedFile refused(ProbedFile probed, std::string why) {
  probed.isUsable = false;
  probed.refusal = std::move(why);
  return probed;
}

}  // namespace

std::string toString(FileKind kind) {
  static constexpr std::array kNames = {"database",   "export",  "tensorboard", "folder",
                                        "experiment", "weights", "foreign",     "unknown"};
  return kNames.at(static_cast<std::size_t>(kind));
}

FileKind kindByName(const fs::path& file) {
  std::string name = file.filename().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const auto endsIn = [&](std::initializer_list<std::string_view> endings) {
    return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) {
      return name.size() > ending.size() && name.ends_with(ending);
    });
  };
  std::error_code error;
  if (fs::is_directory(file, error)) return FileKind::Folder;
  if (endsIn({".vitrine"})) return FileKind::Export;
  if (endsIn({".sqlite", ".sqlite3", ".db"})) return FileKind::Database;
  if (name.find("tfevents") != std::string::npos) return FileKind::TensorBoard;
  if (endsIn({".toml"})) return FileKind::Experiment;
  if (endsIn({".safetensors", ".safetensors.index.json"})) return FileKind::Weights;
  if (endsIn({".pt", ".pth", ".ckpt", ".bin", ".pkl", ".npz", ".h5"})) return FileKind::Foreign;
  return FileKind::Unknown;
}

ProbedFile probeHere(const fs::path& file) {
  ProbedFile probed{.kind = kindByName(file)};
  if (!hasDatabase(probed.kind)) return probed;
  try {
    // One that is in use has a part of it in a log, which is not seen as the file lies there.
    std::error_code error;
    const auto log = fs::file_size(realFile(file).string() + "-wal", error);
    const bool isInUse = !error && log > 0;
    Database database(file, isInUse ? Database::Access::Read : Database::Access::Foreign);
    const bool isOurs = database.integer("PRAGMA application_id") == kApplicationId;
    probed.version = database.integer("PRAGMA user_version");
    const auto all = migrations();
    const bool isOlder = isOurs && probed.version > 0 && probed.version < all.back().version;
    openSchema(database, isOlder ? all.first(static_cast<std::size_t>(probed.version)) : all);
    probed.uuid = cleanUtf8(uuidOf(database));
    probed.runs = database.integer("SELECT count(*) FROM run");
    probed.isUsable = true;
  } catch (const Error& error) {
    return refused(probed, cleanUtf8(error.what()));
  }
  return probed;
}

Json toJson(const ProbedFile& probed) {
  return {{"kind", toString(probed.kind)}, {"usable", probed.isUsable}, {"refusal", probed.refusal},
          {"uuid", probed.uuid},           {"version", probed.version}, {"runs", probed.runs}};
}

ProbedFile probeFile(const fs::path& file, const fs::path& program,
                     std::chrono::milliseconds patience, const std::stop_token& stop) {
  ProbedFile probed{.kind = kindByName(file)};
  if (!hasDatabase(probed.kind)) return probed;
  const ProgramEnd end = runProgram(
      {program.string(), "db", "probe", fs::absolute(file).string(), "--json"}, {patience, stop});
  switch (end.how) {
    case ProgramEnd::How::Overdue:
      return refused(probed, quoted(file) + " could not be inspected within " +
                                 std::to_string(patience.count() / 1000) +
                                 " s; it may be damaged or on a disk that hangs");
    case ProgramEnd::How::NotStarted:
      return refused(probed, "'" + program.string() + "' cannot be started: " + end.err);
    case ProgramEnd::How::Signalled:
      return refused(probed, quoted(file) +
                                 " crashed the process that inspected it; it is damaged or "
                                 "malicious: do not open it");
    case ProgramEnd::How::Exited:
      break;
  }
  const Json facts = readJson(end.out);
  if (!facts.is_object() || !facts.contains("usable") || !facts.at("usable").is_boolean()) {
    return refused(probed, quoted(file) + " could not be inspected: " +
                               shorten(cleanUtf8(errorMessage(facts, end.err)), 300));
  }
  probed.isUsable = facts.at("usable").get<bool>();
  probed.refusal = facts.value("refusal", std::string());
  probed.uuid = facts.value("uuid", std::string());
  probed.version = facts.value("version", std::int64_t{0});
  probed.runs = facts.value("runs", std::int64_t{0});
  return probed;
}

}  // namespace vitrine::store
