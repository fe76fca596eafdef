// Rows of images and texts that a sampler made. Private to core/store.
#pragma once

#include <cstdint>
#include <string>

#include "core/artifact/generated.h"
#include "core/store/sqlite/database.h"

namespace vitrine::store {

/// Binds a seed as an integer, or as its decimal text where SQLite's integers are too small.
void bindSeed(Statement& row, int index, std::uint64_t seed);
/// The seed in a column of `row`, written as bindSeed() does.
[[nodiscard]] std::uint64_t seedOf(const Statement& row, int column);

// Within a transaction. Each returns the id of the new row.
std::int64_t storeImage(Database& database, std::int64_t run, std::int64_t segment,
                        const GeneratedImage& image, const std::string& at);
std::int64_t storeText(Database& database, std::int64_t run, std::int64_t segment,
                       const GeneratedText& text, const std::string& at);

/// The same pixels of the same recipe at the same step.
[[nodiscard]] bool isStored(Database& database, std::int64_t run, std::int64_t segment,
                            const GeneratedImage& image);
[[nodiscard]] bool isStored(Database& database, std::int64_t run, std::int64_t segment,
                            const GeneratedText& text);

}  // namespace vitrine::store
