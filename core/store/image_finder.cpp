#include "core/store/image_finder.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>
#include <variant>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/base/text.h"
#include "core/store/sqlite/database.h"
#include "core/store/tables/generated_rows.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace {

using Test = ImageCondition::Test;
/// A parameter of a statement.
using Bound = std::variant<std::int64_t, double, std::string>;

/// SQL of a condition, with its parameters in the order of their question marks.
struct Clause {
  std::string sql;
  std::vector<Bound> bound;
};

const char* sqlOf(Test test) {
  switch (test) {
    case Test::Is:
    case Test::IsNot:
      return "=";
    case Test::Less:
      return "<";
    case Test::AtMost:
      return "<=";
    case Test::More:
      return ">";
    case Test::AtLeast:
      return ">=";
  }
  return "=";
}

bool isOrder(Test test) { return test != Test::Is && test != Test::IsNot; }

std::optional<double> numberOf(const std::string& text) {
  if (text == "true") return 1;
  if (text == "false") return 0;
  return parseNumber<double>(text);
}

/// $."settings"."steps"
std::string pathOf(const std::string& key) {
  std::string path = "$";
  for (const std::string& part : split(key, '.')) path += ".\"" + part + '"';
  return path;
}

void checkKey(const std::string& key) {
  const bool isKey = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  });
  if (!isKey) {
    throw ConfigError("'" + shown(key) +
                      "' is not a key of a recipe; keys have letters, digits, \"_\", \"-\" and "
                      "\".\", as in sampler or settings.steps");
  }
}

/// `value` is SQL that may stand twice. Numbers are compared as numbers, else as texts.
Clause compared(const std::string& value, const std::vector<Bound>& inside,
                const ImageCondition& condition) {
  Clause clause;
  const auto number = numberOf(condition.value);
  if (isOrder(condition.test) && !number) {
    throw ConfigError("'" + shown(condition.value) + "' is not a number; " + shown(condition.key) +
                      sqlOf(condition.test) + " needs one");
  }
  const auto use = [&](const Bound& last) {
    clause.bound.insert(clause.bound.end(), inside.begin(), inside.end());
    clause.bound.push_back(last);
  };
  if (number) {
    clause.sql = "coalesce(CAST(" + value + " AS REAL) " + sqlOf(condition.test) +
                 " ? AND typeof(" + value + ") IN ('integer', 'real'), 0)";
    use(*number);
    clause.bound.insert(clause.bound.end(), inside.begin(), inside.end());
  }
  if (!isOrder(condition.test)) {
    const bool hasNumber = !clause.sql.empty();
    clause.sql += std::string(hasNumber ? " OR " : "") + "coalesce(lower(CAST(" + value +
                  " AS TEXT)) = lower(?), 0)";
    use(condition.value);
  }
  return clause;
}

Clause clauseOf(const ImageCondition& condition) {
  const std::string& key = condition.key;
  if (key == "starred")
    return {
        "EXISTS (SELECT 1 FROM image_tag t WHERE t.run_id = g.run_id AND t.step = g.step AND "
        "t.sha256 = g.sha256 AND t.tag = ?)",
        {std::string(ImageTagRow::kStar)}};
  if (key == "tag")
    return {
        "EXISTS (SELECT 1 FROM image_tag t WHERE t.run_id = g.run_id AND t.step = g.step AND "
        "t.sha256 = g.sha256 AND lower(t.tag) = lower(?))",
        {condition.value}};
  if (key == "words")
    return {
        "instr(lower(g.recipe), lower(?)) > 0 OR g.run_id IN (SELECT id FROM run WHERE "
        "instr(lower(name), lower(?)) > 0)",
        {condition.value, condition.value}};
  if (key == "run" && !isOrder(condition.test) && !parseNumber<std::int64_t>(condition.value))
    return {"g.run_id IN (SELECT id FROM run WHERE instr(lower(name), lower(?)) > 0)",
            {condition.value}};
  if (key == "run") return compared("g.run_id", {}, condition);
  for (const char* column : {"step", "seed", "width", "height"}) {
    if (key != column) continue;
    // A seed has more digits than a REAL keeps.
    const auto exact = parseNumber<std::int64_t>(condition.value);
    if (exact) return {std::string("g.") + column + " " + sqlOf(condition.test) + " ?", {*exact}};
    return compared(std::string("g.") + column, {}, condition);
  }
  checkKey(key);
  return compared("coalesce(json_extract(g.recipe, ?), json_extract(g.recipe, ?))",
                  {pathOf(key), pathOf("settings." + key)}, condition);
}

/// The condition, or an image of one of its classes. The class that was drawn stands before the one
/// that was asked for.
Clause withClasses(Clause clause, const ImageCondition& condition) {
  for (const auto& [run, label] : condition.classes) {
    clause.sql +=
        " OR (g.run_id = ? AND coalesce(json_extract(g.recipe, '$.class'), "
        "json_extract(g.recipe, '$.settings.class')) IS ?)";
    clause.bound.emplace_back(run);
    clause.bound.emplace_back(label);
  }
  return clause;
}

void bindValue(Statement& row, int index, const Bound& value) {
  std::visit([&](const auto& one) { row.bind(index, one); }, value);
}

std::int32_t side(std::int64_t pixels) {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(pixels, 0, std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

std::vector<ImageEntry> findImages(RunReader& store, const ImageSearch& search, std::int64_t after,
                                   const std::atomic<bool>& isStopped) {
  std::string sql =
      "SELECT g.id, g.run_id, g.step, g.seed, g.width, g.height FROM generated_images g WHERE "
      "g.id > ?";
  std::vector<Bound> bound{after};
  for (const ImageCondition& condition : search) {
    const Clause clause = withClasses(clauseOf(condition), condition);
    sql += std::string(" AND ") + (condition.test == Test::IsNot ? "NOT " : "") + '(' + clause.sql +
           ')';
    bound.insert(bound.end(), clause.bound.begin(), clause.bound.end());
  }
  Statement row = store.connection().prepare(sql + " ORDER BY g.id");
  for (std::size_t i = 0; i < bound.size(); ++i) bindValue(row, static_cast<int>(i) + 1, bound[i]);
  std::vector<ImageEntry> found;
  while (!isStopped && row.step()) {
    found.push_back({row.integer(0), row.integer(1), row.integer(2), seedOf(row, 3),
                     side(row.integer(4)), side(row.integer(5))});
  }
  return found;
}

std::vector<std::pair<std::int64_t, std::string>> taggedImages(RunReader& store) {
  // Each image of a step that has tags is looked at once, however many tags there are.
  return store.connection().rows(
      "SELECT g.id, t.tag FROM (SELECT DISTINCT run_id, step FROM image_tag) p "
      "CROSS JOIN generated_images g ON g.run_id = p.run_id AND g.step = p.step "
      "CROSS JOIN image_tag t ON t.run_id = g.run_id AND t.step = g.step AND t.sha256 = g.sha256 "
      "ORDER BY g.id, t.tag",
      [](const Statement& row) { return std::pair(row.integer(0), row.text(1)); });
}

ImageStanding imageStanding(RunReader& store) {
  // Rows of images never change; they go with their run, or are superseded by a new segment.
  Statement row = store.connection().prepare(
      "SELECT (SELECT coalesce(max(id), 0) FROM generated_image), "
      "(SELECT count(*) FROM generated_image INDEXED BY generated_image_by_run), "
      "(SELECT count(*) + 7 * coalesce(sum(last_step), 0) FROM segment) + "
      "31 * (SELECT count(*) FROM deleted_run)");
  ImageStanding standing;
  if (row.step()) standing = {row.integer(0), row.integer(1), row.integer(2)};
  return standing;
}

}  // namespace vitrine::store
