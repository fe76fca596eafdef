// Full-text search over runs: names, notes, tags, configurations and logs. The index is a file in
// the cache folder, brought up to date at every search and made again when it is missing or broken.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/store_export.h"

namespace vitrine::store {

struct SearchHit {
  std::int64_t run = 0;
  std::string where;  ///< name, note, tags, configuration or log: where most matches
  std::string text;   ///< a few words around the match, which stands in [brackets]
};

/// `$XDG_CACHE_HOME/vitrine/search`, else `~/.cache/vitrine/search`.
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path searchFolder();

/// Runs that hold every one of `words`, or a word that begins so, anywhere; best first. Characters
/// that mean something to a search engine are words like any other.
/// \param folder  for the index, `<uuid of the database>.sqlite`; made where it is missing
/// \throws StoreError  the folder cannot be written
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<SearchHit> searchRuns(
    const std::filesystem::path& database, const std::string& words, std::size_t limit,
    const std::filesystem::path& folder);

}  // namespace vitrine::store
