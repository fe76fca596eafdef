// Pictures of images for files: figures with recipes, and grids of exact pixels.
#pragma once

#include <QByteArray>
#include <QImage>
#include <QString>
#include <QStringList>
#include <memory>
#include <string>
#include <vector>

#include "core/store/types.h"
#include "ui/figures/figure.h"
#include "ui/gallery/image_stage.h"

namespace vitrine::ui {

struct LabelledImage {
  store::GeneratedImageRow row;
  QImage picture;
  QString label;    ///< "run 12, step 400, seed 33"
  std::string run;  ///< its UUID; "" where that is not known
};

/// One figure of all; nullptr for none.
[[nodiscard]] std::unique_ptr<Figure> imagesFigure(const std::vector<LabelledImage>& images,
                                                   const QString& title, FigureStyle style = {});
/// Rows and columns of images with their names. Of images of several sizes as imagesFigure().
/// \param images  row by row; without a picture where a cell has none
[[nodiscard]] std::unique_ptr<Figure> tableFigure(const std::vector<LabelledImage>& images,
                                                  const QStringList& rows,
                                                  const QStringList& columns, const QString& title,
                                                  FigureStyle style = {});
/// Two images as a view of the stage shows them.
[[nodiscard]] std::unique_ptr<Figure> pairFigure(const LabelledImage& a, const LabelledImage& b,
                                                 ImageStage::View view, FigureStyle style = {});

/// All in rows, each pixel of an image as large as every other: whole times, without smoothing. The
/// place of one without a picture stays empty.
/// \param columns  at least 1  \param leastSide  pixels of the smallest side of a tile
[[nodiscard]] QImage gridImage(const std::vector<LabelledImage>& images, int columns,
                               int leastSide);
/// As square as a number of images can be.
[[nodiscard]] int columnsFor(int count);

/// Everything that makes the images again: [{"id", "run": uuid, "step", "seed", "sha256",
/// "recipe"}].
[[nodiscard]] Json recipesOf(const std::vector<LabelledImage>& images);

}  // namespace vitrine::ui
