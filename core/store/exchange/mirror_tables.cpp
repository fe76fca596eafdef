#include "core/store/exchange/mirror_tables.h"

#include <array>
#include <cstring>
#include <string_view>

#include "core/base/error.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace {

// The run comes last: readers see it when all that belongs to it is here.
constexpr std::array<MirrorTable, 26> kMirrored{{
    {"experiment", "0"},
    {"metric_name", "0"},
    {"metric_kind", "0"},
    {"queue_entry", "0"},
    {"queue_state", "0"},
    {"run_config", "run_id"},
    {"run_parameter", "run_id"},
    {"run_dependency", "run_id"},
    {"segment", "run_id"},
    {"checkpoint", "run_id"},
    {"note", "run_id"},
    {"tag", "run_id"},
    {"curve_note", "run_id"},
    {"image_tag", "run_id"},
    {"run_mark", "run_id"},
    {"edit", "run_id", "id"},
    {"event", "run_id", "id"},
    {"metric_bucket", "run_id", "", "0", true},
    {"clock_chunk", "run_id", "id", "0", false, true},
    {"metric_chunk", "run_id", "id", "last_sequence", false, true},
    {"metric_tail", "run_id", "sequence", "0", false, true},
    {"artifact", "run_id", "id"},
    {"generated_image", "run_id", "id"},
    {"generated_text", "run_id", "id"},
    {"metric_summary", "run_id"},
    {"run", "id"},
}};

/// FNV-1a, 64 bits.
class Print {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) {
      hash_ ^= static_cast<unsigned char>(byte);
      hash_ *= 1099511628211u;
    }
  }
  void add(std::int64_t number) {
    std::array<char, sizeof number> bytes{};
    std::memcpy(bytes.data(), &number, sizeof number);
    add(std::string_view(bytes.data(), bytes.size()));
  }
  /// As it fits into every reader of integers.
  [[nodiscard]] std::int64_t value() const { return static_cast<std::int64_t>(hash_ >> 1); }

 private:
  std::uint64_t hash_ = 14695981039346656037u;
};

void addCell(Print& print, const Statement& row, int column) {
  const int type = sqlite3_column_type(row.handle(), column);
  print.add(static_cast<std::int64_t>(type));
  if (type == SQLITE_INTEGER) print.add(row.integer(column));
  if (type == SQLITE_FLOAT) {
    const double value = row.real(column);
    std::int64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    print.add(bits);
  }
  if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(row.handle(), column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(row.handle(), column));
    print.add(static_cast<std::int64_t>(size));
    if (bytes != nullptr) print.add(std::string_view(bytes, size));
  }
}

/// Columns that differ between a database and its copy.
bool isLocal(std::string_view table, std::string_view column) {
  return table == "run" && (column == "change_sequence" || column == "log_file");
}

}  // namespace

std::span<const MirrorTable> mirrorTables() { return kMirrored; }

Json standing(Database& database, const MirrorTable& table, std::int64_t run, std::int64_t upTo) {
  const std::string where = std::string(" FROM ") + table.name + " WHERE " + table.owner + " = ?";
  if (*table.key != '\0') {
    const std::string key = table.key;
    Statement row =
        database.prepare("SELECT count(*), coalesce(max(" + key + "), -1), CAST(total(" +
                         table.check + ") AS INTEGER)" + where + " AND " + key + " <= ?");
    static_cast<void>(row.with(run, upTo).step());
    return {{"rows", row.integer(0)}, {"last", row.integer(1)}, {"check", row.integer(2)}};
  }
  std::string columns;
  for (const std::string& name : writableColumns(database, table.name)) {
    if (!isLocal(table.name, name)) columns += (columns.empty() ? "\"" : ", \"") + name + '"';
  }
  // Without an order of their own these tables are read in that of their keys, here and there.
  Statement row = database.prepare("SELECT " + columns + where + " ORDER BY 1, 2");
  row.with(run);
  Print print;
  const int count = sqlite3_column_count(row.handle());
  std::int64_t rows = 0;
  for (; row.step(); ++rows) {
    for (int i = 0; i < count; ++i) addCell(print, row, i);
  }
  print.add(rows);
  return {{"print", print.value()}};
}

Json cellOf(const Statement& row, int column) {
  switch (sqlite3_column_type(row.handle(), column)) {
    case SQLITE_INTEGER:
      return row.integer(column);
    case SQLITE_FLOAT:
      return row.real(column);
    case SQLITE_TEXT:
      return row.text(column);
    case SQLITE_BLOB: {
      const auto bytes = row.blob(column);
      const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
      return Json::binary(std::vector<std::uint8_t>(first, first + bytes.size()));
    }
    default:
      return nullptr;
  }
}

void bindCell(Statement& row, int index, const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      row.bindNull(index);
      return;
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      row.bind(index, value.get<std::int64_t>());
      return;
    case Json::value_t::number_float:
      row.bind(index, value.get<double>());
      return;
    case Json::value_t::string:
      row.bind(index, std::string_view(value.get_ref<const std::string&>()));
      return;
    case Json::value_t::binary: {
      const auto& bytes = value.get_binary();
      row.bindBlob(index, std::as_bytes(std::span(bytes.data(), bytes.size())));
      return;
    }
    default:
      throw StoreError("the other machine sent a value that is none of a database");
  }
}

}  // namespace vitrine::store
