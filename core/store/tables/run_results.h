// Rows of what a run leaves behind while it continues. Private to core/store.
#pragma once

#include <cstdint>
#include <string>

#include "core/store/run_writer.h"
#include "core/store/sqlite/database.h"

namespace vitrine::store {

/// Within a transaction. \returns  the id of the new row
std::int64_t storeArtifact(Database& database, std::int64_t run, std::int64_t segment,
                           const Artifact& artifact, const std::string& at);

/// RunWriter::append() of what happened at `at`.
void appendBatch(Database& database, std::int64_t run, std::int64_t segment,
                 const RunWriter::Batch& batch, const std::string& at);

}  // namespace vitrine::store
