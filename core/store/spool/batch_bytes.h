// A batch of results as bytes, for a file next to the database. Private to core/store.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/store/run_writer.h"
#include "core/store_export.h"

namespace vitrine::store {

/// Little-endian; every double keeps its bits. Names of metrics are written once a batch.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<std::byte> packBatch(const RunWriter::Batch& batch);
/// \throws StoreError  the bytes are not what packBatch makes
[[nodiscard]] VITRINE_STORE_EXPORT RunWriter::Batch unpackBatch(std::span<const std::byte> bytes);

}  // namespace vitrine::store
