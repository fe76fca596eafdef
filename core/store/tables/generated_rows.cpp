#include "core/store/tables/generated_rows.h"

#include <limits>

#include "core/base/parse_number.h"
#include "core/base/text.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

void bindSeed(Statement& row, int index, std::uint64_t seed) {
  if (seed <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    row.bind(index, static_cast<std::int64_t>(seed));
  } else {
    row.bind(index, std::to_string(seed));
  }
}

std::uint64_t seedOf(const Statement& row, int column) {
  return parseNumber<std::uint64_t>(row.text(column)).value_or(0);
}

std::int64_t storeImage(Database& database, std::int64_t run, std::int64_t segment,
                        const GeneratedImage& image, const std::string& at) {
  Statement row = database.prepare(
      "INSERT INTO generated_image(run_id, segment, step, created_at, recipe, width, height, "
      "sha256, seed, png) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  row.with(run, segment, image.step, at, dumpJson(image.recipe), image.width, image.height,
           image.sha256);
  bindSeed(row, 9, image.seed);
  row.bindBlob(10, image.png);
  row.run();
  return sqlite3_last_insert_rowid(database.handle());
}

std::int64_t storeText(Database& database, std::int64_t run, std::int64_t segment,
                       const GeneratedText& text, const std::string& at) {
  Statement row = database.prepare(
      "INSERT INTO generated_text(run_id, segment, step, created_at, recipe, prompt, text, seed) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  row.with(run, segment, text.step, at, dumpJson(text.recipe), cleanUtf8(text.prompt),
           cleanUtf8(text.text));
  bindSeed(row, 8, text.seed);
  row.run();
  return sqlite3_last_insert_rowid(database.handle());
}

bool isStored(Database& database, std::int64_t run, std::int64_t segment,
              const GeneratedImage& image) {
  Statement row = database.prepare(
      "SELECT 1 FROM generated_image WHERE run_id = ? AND segment = ? AND step = ? AND recipe = ? "
      "AND sha256 = ? AND seed = ?");
  row.with(run, segment, image.step, dumpJson(image.recipe), image.sha256);
  bindSeed(row, 6, image.seed);
  return row.step();
}

bool isStored(Database& database, std::int64_t run, std::int64_t segment,
              const GeneratedText& text) {
  Statement row = database.prepare(
      "SELECT 1 FROM generated_text WHERE run_id = ? AND segment = ? AND step = ? AND recipe = ? "
      "AND prompt = ? AND text = ? AND seed = ?");
  row.with(run, segment, text.step, dumpJson(text.recipe), cleanUtf8(text.prompt),
           cleanUtf8(text.text));
  bindSeed(row, 7, text.seed);
  return row.step();
}

}  // namespace vitrine::store
