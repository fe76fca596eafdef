// The two kinds of files that can be imported. Private to core/store.
#pragma once

#include <filesystem>
#include <string>

#include "core/store/exchange/exchange.h"
#include "core/store/sqlite/database.h"

namespace vitrine::store {

struct ImportTask {
  Database& database;
  const std::filesystem::path& source;
  Duplicates duplicates;
  const std::string& experiment;
  const ExchangeProgress& progress;
  ImportReport& report;

  void tell(const std::string& name, std::size_t index, std::size_t count) const;
  /// True when the run is here already and is to be left alone; notes it.
  [[nodiscard]] bool isDuplicate(const std::string& uuid, const std::string& name) const;
};

void importSqlite(const ImportTask& task);
void importTensorBoard(const ImportTask& task);

}  // namespace vitrine::store
