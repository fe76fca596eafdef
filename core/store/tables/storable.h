// Results that no row of the database can hold. One of them would keep all that comes after it from
// being stored. Private to core/store.
#pragma once

#include <cstdint>
#include <string>

#include "core/store/run_writer.h"
#include "core/store_export.h"

namespace vitrine::store {

/// Replaces artifacts, images, texts and metrics of `batch` that need a row above `limit` bytes by
/// an event of the kind "not_stored".
VITRINE_STORE_EXPORT void dropUnstorable(RunWriter::Batch& batch, std::uint64_t limit);

/// Why it cannot be stored, or "".
[[nodiscard]] std::string whyUnstorable(const Artifact& artifact, std::uint64_t limit);
[[nodiscard]] std::string whyUnstorable(const GeneratedImage& image, std::uint64_t limit);
[[nodiscard]] std::string whyUnstorable(const GeneratedText& text, std::uint64_t limit);

/// `text`, or as much of its beginning as a row of at most `limit` bytes has room for besides
/// others.
[[nodiscard]] std::string cutToFit(const std::string& text, std::uint64_t limit);

}  // namespace vitrine::store
