// The recipe of an exported figure, with which the file opens the chart again.
#pragma once

#include <QByteArray>
#include <QString>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "ui/figures/paper.h"

namespace vitrine::store {
class RunReader;
}  // namespace vitrine::store

namespace vitrine::ui {

class Page;
class Workbench;

struct Recipe {
  static constexpr int kVersion = 1;
  int version = kVersion;
  std::string database;           ///< uuid
  std::string page;               ///< "monitor"
  std::vector<std::string> runs;  ///< uuids of the selected ones, in order
  std::string current;            ///< uuid of the current one; "" for none
  Json view;                      ///< Page::figureState()
  FigurePaper paper;
};

/// The recipe of the screen now. \param page  with the id `pageId`
[[nodiscard]] Recipe recipeOf(Workbench& workbench, const QString& pageId, const Page& page);
/// Selects the runs of a recipe; the caller then shows its page and gives it the view.
/// \throws NotFoundError  another database, or none of the runs is there any more
void selectRunsOf(const Recipe& recipe, Workbench& workbench);
/// The run of this database with that UUID; 0: none.
[[nodiscard]] std::int64_t runOfUuid(const Workbench& workbench, const std::string& uuid);
/// "" where the file has none.
[[nodiscard]] std::string databaseUuid(store::RunReader& store);
/// What a page read of it in the background, so that recipeOf() need not ask the store.
void rememberUuid(Workbench& workbench, const std::string& uuid);

/// One line of ASCII that needs no escape in XML, PDF comments and CSV.
[[nodiscard]] QByteArray toText(const Recipe& recipe);
/// What such a line says; none where it is damaged, from a newer version, or too large to be one.
[[nodiscard]] std::optional<Recipe> recipeFromText(const QByteArray& text);

/// From a PNG, SVG, PDF or CSV file that was exported, or a recipe alone (.json). None where there
/// is not a recipe, whatever the file holds. Reads at most 64 MiB.
[[nodiscard]] std::optional<Recipe> readRecipe(const QString& file);

// Each takes a whole file and returns it with the recipe in it; `recipe` is toText().
[[nodiscard]] QByteArray withRecipeInPng(const QByteArray& png, const QByteArray& recipe);
/// An update at the end with one object more, which readers of PDF pass over.
[[nodiscard]] QByteArray withRecipeInPdf(const QByteArray& pdf, const QByteArray& recipe);

}  // namespace vitrine::ui
