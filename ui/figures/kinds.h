// One maker per artifact kind; makeFigure() picks. They may throw: makeFigure() turns that into a
// sentence.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/artifact/artifact.h"
#include "ui/figures/figure.h"

namespace vitrine::ui {

using FigureMaker = std::unique_ptr<Figure> (*)(const Json& meta, std::vector<std::byte> data,
                                                FigureStyle style);

[[nodiscard]] std::unique_ptr<Figure> makeCurve(const Json&, std::vector<std::byte>, FigureStyle);
[[nodiscard]] std::unique_ptr<Figure> makeHeatmap(const Json&, std::vector<std::byte>, FigureStyle);
[[nodiscard]] std::unique_ptr<Figure> makeMatrix(const Json&, std::vector<std::byte>, FigureStyle);
[[nodiscard]] std::unique_ptr<Figure> makeImage(const Json&, std::vector<std::byte>, FigureStyle);
[[nodiscard]] std::unique_ptr<Figure> makeImageGrid(const Json&, std::vector<std::byte>,
                                                    FigureStyle);
[[nodiscard]] std::unique_ptr<Figure> makeTable(const Json&, std::vector<std::byte>, FigureStyle);
[[nodiscard]] std::unique_ptr<Figure> makeHistogram(const Json&, std::vector<std::byte>,
                                                    FigureStyle);
[[nodiscard]] std::unique_ptr<Figure> makeReliability(const Json&, std::vector<std::byte>,
                                                      FigureStyle);
[[nodiscard]] std::unique_ptr<Figure> makeSpectrum(const Json&, std::vector<std::byte>,
                                                   FigureStyle);
[[nodiscard]] std::unique_ptr<Figure> makeAttention(const Json&, std::vector<std::byte>,
                                                    FigureStyle);
[[nodiscard]] std::unique_ptr<Figure> makeCueDecisions(const Json&, std::vector<std::byte>,
                                                       FigureStyle);
/// The sides of `view` as numbers that a figure counts with. A figure makes an object for each row,
/// layer or image: bytes of data are few compared with that.
/// \throws FileError  a side is above its `most`
[[nodiscard]] std::vector<int> sidesOf(const ArrayView& view, std::vector<int> most);

/// A sentence above the artifact's `meta`.
[[nodiscard]] std::unique_ptr<Figure> makeMetaFigure(const QString& sentence,
                                                     const QString& error, const Json& meta,
                                                     FigureStyle style);

}  // namespace vitrine::ui
