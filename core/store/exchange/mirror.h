// A copy of a database on another machine, kept up to date over a pipe. The window reads it, also
// when the link has dropped. Rows keep their ids and their bytes. Protocol and order of the
// questions: resources/docs/serve.md, `copy`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/base/json.h"
#include "core/store_export.h"

namespace vitrine::store {

class Database;

/// Number that stands for rows without a run: experiments, names of metrics, the queue.
inline constexpr std::int64_t kSharedRows = 0;

/// The side that has the database.
class VITRINE_STORE_EXPORT MirrorSource {
 public:
  /// At most that many bytes of values in one part, and in one answer; a single row may be more.
  static constexpr std::size_t kPartBytes = std::size_t{1} << 20;
  static constexpr std::size_t kAnswerBytes = std::size_t{32} << 20;
  /// Bytes of a row's values, at most: it goes into a frame with a part. A larger row comes without
  /// its values above kPartBytes. Bytes become empty, a text becomes {"left_out": its bytes}, and
  /// the meta of an artifact gets `left_out`.
  static constexpr std::size_t kRowBytes = std::size_t{60} << 20;

  /// \throws StoreError  as RunStore
  explicit MirrorSource(const std::filesystem::path& database);
  ~MirrorSource();
  MirrorSource(const MirrorSource&) = delete;
  MirrorSource& operator=(const MirrorSource&) = delete;

  /// Rows of a run (or kSharedRows) that a copy lacks, read from one snapshot.
  /// \param known  what Mirror::known() said
  /// \param part   is called with {table, columns, rows, again}: with `again` the copy's rows go
  /// first; returns false when no more is wanted
  /// \returns  whether that was all; when not, the copy takes what it got and asks again
  /// \throws NotFoundError  there is no such run
  bool copy(std::int64_t run, const Json& known, const std::function<bool(Json)>& part);

  std::size_t answerBytes = kAnswerBytes;
  std::size_t rowBytes = kRowBytes;

 private:
  std::unique_ptr<Database> database_;
};

/// The side that wants to have it. One object per thread; others read the file as any database.
class VITRINE_STORE_EXPORT Mirror {
 public:
  /// Opens the copy, made when there is none. Only this class writes to such a file.
  /// \param of  what it is a copy of, for people: ssh://lab/data/lab.sqlite
  /// \throws RefusedError  the file is there and no copy of that
  Mirror(const std::filesystem::path& file, const std::string& of);
  ~Mirror();
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  /// The change of the original up to which everything is here.
  [[nodiscard]] std::int64_t change();
  /// Everything up to `change` was taken.
  void setChange(std::int64_t change);
  /// Empties the copy unless it is one of that database and not ahead of it (a backup was restored
  /// there). \returns  whether it was emptied
  bool begin(const std::string& uuid, std::int64_t changeThere);

  /// The part of a run that is here: {table: {rows, last, check}}.
  [[nodiscard]] Json known(std::int64_t run);
  /// Takes an answer in one transaction: readers see all of it or nothing.
  /// \throws StoreError  a part names a table or a column that is not ours
  void take(std::int64_t run, std::span<const Json> parts);
  /// Those runs are gone over there.
  void remove(std::span<const std::int64_t> runs);

  /// `<files>/run-<uuid>/run.log`, made with its folder; "" for a run that is not here.
  [[nodiscard]] std::filesystem::path logFile(std::int64_t run);

 private:
  void clear();
  std::unique_ptr<Database> database_;
};

/// Address of the database that the file is a copy of; "" for an original.
[[nodiscard]] VITRINE_STORE_EXPORT std::string mirrorOf(const std::filesystem::path& file);

}  // namespace vitrine::store
