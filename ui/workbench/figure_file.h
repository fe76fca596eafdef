// A figure as a file: PNG, SVG, PDF or CSV, with its recipe inside.
#pragma once

#include <QByteArray>
#include <QImage>
#include <QString>
#include <optional>

#include "ui/figures/figure.h"
#include "ui/figures/paper.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {

enum class FigureFormat { Png, Svg, Pdf, Csv };

/// By the ending of the name.
[[nodiscard]] std::optional<FigureFormat> figureFormat(const QString& file);
/// ".png"
[[nodiscard]] QString endingOf(FigureFormat format);

/// Replaces the file only when all of it is written. \throws FileError  it cannot be written
void writeFile(const QString& file, const QByteArray& bytes);

/// In the light theme at the size of the paper, vectors and embedded fonts in PDF.
/// \param recipe  its `paper` is the one in use
/// \throws ConfigError  the ending is none of the four \throws FileError  as writeFile()
void saveFigure(Figure& figure, const QString& file, const Recipe& recipe);

/// The same picture as bytes.
[[nodiscard]] QByteArray figureBytes(Figure& figure, FigureFormat format, const Recipe& recipe);

/// The figure as it will be on paper. \param pixelsPerMillimetre  of the picture
[[nodiscard]] QImage paperPicture(Figure& figure, const FigurePaper& asked,
                                  double pixelsPerMillimetre);

}  // namespace vitrine::ui
