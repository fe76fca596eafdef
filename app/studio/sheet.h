// One page of figures: charts as their recipes say, and pictures from files.
#pragma once

#include <QImage>
#include <QString>
#include <functional>
#include <memory>
#include <vector>

#include "ui/figures/figure.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {

/// Content of a sheet's file: {"title", "figures": [{"recipe" | "image", "title", "wide"}]}.
struct Sheet {
  struct Place {
    Json recipe;          ///< null where a picture is shown
    QString image;        ///< a PNG file
    QString title;        ///< above it; "": the figure's own
    bool isWide = false;  ///< the whole width; others stand in two columns
  };
  QString title;
  std::vector<Place> places;
};
/// \throws ConfigError  the file is not a sheet
[[nodiscard]] Sheet readSheet(const QString& file);

/// The figure of a recipe; nullptr where it has nothing to draw any more.
using FigureOf = std::function<std::unique_ptr<Figure>(const Recipe& recipe)>;

/// In the light theme, as high as the figures are. A figure that cannot be drawn leaves no gap.
/// \throws Error  there is not one figure to draw
[[nodiscard]] QImage drawSheet(const Sheet& sheet, const FigureOf& figureOf);

}  // namespace vitrine::ui
