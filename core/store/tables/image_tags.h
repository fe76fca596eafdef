// Stars and tags of the images of a run as one text, in which form they are edited, sent and kept.
// A list by step, hash and tag:
// [{"step": 300, "sha256": "9f86...", "tag": "paper"}].
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/store/types.h"

namespace vitrine::store {

class Database;

inline constexpr std::size_t kMostImageTags = 5000;  ///< of a run, stars counted
inline constexpr std::size_t kLongestImageTag = 60;  ///< characters

/// \throws ConfigError  too many; one without an image or a word, too long, or of two lines
VITRINE_STORE_EXPORT void checkImageTags(const std::vector<ImageTagRow>& tags);
/// Equal texts for equal tags, whatever their order; of two that are the same, one.
[[nodiscard]] VITRINE_STORE_EXPORT std::string imageTagsText(std::vector<ImageTagRow> tags);
/// \throws ConfigError  no such list, or refused by checkImageTags()
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<ImageTagRow> imageTagsFromText(
    const std::string& text);

/// By step, hash and tag.
[[nodiscard]] std::vector<ImageTagRow> readImageTags(Database& database, std::int64_t run);
/// Within a transaction: these, and no others.
void writeImageTags(Database& database, std::int64_t run, const std::vector<ImageTagRow>& tags);

}  // namespace vitrine::store
