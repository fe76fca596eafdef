// A page that is made for its figure and never shown.
#pragma once

#include <functional>
#include <memory>

#include "ui/figures/figure.h"
#include "ui/workbench/page.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {

struct DrawnPage {
  std::unique_ptr<Page> page;
  std::unique_ptr<Figure> figure;  ///< nullptr where the page has nothing to draw
};

/// The page of a recipe, looked at as the recipe says.
///
/// \param waitForPage      gives the page time before the figure is taken
/// \throws NotFoundError  there is no such page, or none of the runs is there any more
[[nodiscard]] DrawnPage drawnPage(const Recipe& recipe, Workbench& workbench,
                                  const std::function<void()>& waitForPage);

}  // namespace vitrine::ui
