#include "core/store/tables/generated_rows.h"

#include <charconv>
#include <limits>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/run_store.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"
#include "core/store/tables/storable.h"

namespace vitrine {

void bindSeed(Statement& row, int index, std::uint64_t seed) {
  if (seed <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    row.bind(index, static_cast<std::int64_t>(seed));
  } else {
    row.bind(index, std::to_string(seed));
  }
}

std::uint64_t seedOf(const Statement& row, int column) {
  const std::string text = row.text(column);
  std::uint64_t seed = 0;
  std::from_chars(text.data(), text.data() + text.size(), seed);
  return seed;
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
  row.with(run, segment, text.step, at, dumpJson(text.recipe), toUtf8(text.prompt),
           toUtf8(text.text));
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
  row.with(run, segment, text.step, dumpJson(text.recipe), toUtf8(text.prompt), toUtf8(text.text));
  bindSeed(row, 7, text.seed);
  return row.step();
}

std::int64_t RunStore::addImage(std::int64_t run, const GeneratedImage& image) {
  const std::string why = whyUnstorable(image, database_->mostRowBytes());
  if (!why.empty()) throw StoreError(why + "; make it smaller");
  return database_->write([&] {
    static_cast<void>(stateOf(*database_, run));
    const std::int64_t id = storeImage(*database_, run, 0, image, utcNow());
    touch(*database_, run);
    return id;
  });
}

std::int64_t RunStore::addText(std::int64_t run, const GeneratedText& text) {
  const std::string why = whyUnstorable(text, database_->mostRowBytes());
  if (!why.empty()) throw StoreError(why + "; make it shorter");
  return database_->write([&] {
    static_cast<void>(stateOf(*database_, run));
    const std::int64_t id = storeText(*database_, run, 0, text, utcNow());
    touch(*database_, run);
    return id;
  });
}

std::vector<GeneratedImageRow> RunStore::generatedImages(std::int64_t run) {
  Statement row = database_->prepare(
      "SELECT id, run_id, step, recipe, seed, width, height, sha256, length(png) FROM "
      "generated_images WHERE run_id = ? ORDER BY step, id");
  row.with(run);
  std::vector<GeneratedImageRow> images;
  while (row.step()) {
    GeneratedImageRow image;
    image.id = row.integer(0);
    image.runId = row.integer(1);
    image.step = row.integer(2);
    image.recipe = parseJson(row.text(3), "the recipe of image " + std::to_string(image.id));
    image.seed = seedOf(row, 4);
    image.width = row.integer(5);
    image.height = row.integer(6);
    image.sha256 = row.text(7);
    image.bytes = row.integer(8);
    images.push_back(std::move(image));
  }
  return images;
}

std::vector<std::byte> RunStore::generatedImagePng(std::int64_t id) {
  Statement row = database_->prepare("SELECT png FROM generated_image WHERE id = ?");
  if (!row.with(id).step()) {
    throw NotFoundError("there is no generated image " + std::to_string(id) + " in '" +
                        file().string() + "'");
  }
  const auto bytes = row.blob(0);
  return {bytes.begin(), bytes.end()};
}

std::vector<GeneratedTextRow> RunStore::generatedTexts(std::int64_t run) {
  Statement row = database_->prepare(
      "SELECT id, run_id, step, recipe, seed, prompt, text FROM generated_texts WHERE run_id = ? "
      "ORDER BY step, id");
  row.with(run);
  std::vector<GeneratedTextRow> texts;
  while (row.step()) {
    GeneratedTextRow text;
    text.id = row.integer(0);
    text.runId = row.integer(1);
    text.step = row.integer(2);
    text.recipe = parseJson(row.text(3), "the recipe of text " + std::to_string(text.id));
    text.seed = seedOf(row, 4);
    text.prompt = row.text(5);
    text.text = row.text(6);
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace vitrine
