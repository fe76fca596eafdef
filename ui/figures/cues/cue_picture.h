// Shape against texture: which of two cues decides, a dot a category and a run.
#pragma once

#include <QString>
#include <QStringList>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/json.h"
#include "ui/figures/figure.h"

namespace vitrine::ui {

/// Decisions on the images whose shape is of one category.
struct CueCounts {
  double images = 0, shape = 0, texture = 0;
  [[nodiscard]] double either() const { return shape + texture; }
  /// Share of shape among decisions for either cue; NaN without any.
  [[nodiscard]] double shapeShare() const;
};

struct CueDecisions {
  std::vector<CueCounts> categories;
  QStringList names;  ///< empty: there are none
  [[nodiscard]] CueCounts sum() const;
};

/// An artifact `cue_decisions`. \throws FileError  meta and data do not fit
[[nodiscard]] CueDecisions readCueDecisions(const Json& meta, std::span<const std::byte> data);

struct CuePicture {
  struct Run {
    std::int64_t run = 0;  ///< 0: that of the figure's style
    QString name;
    CueDecisions decisions;
  };
  QString title, about;
  std::vector<Run> runs;
};
/// Categories from the one that goes most by shape in the first run; a line where a run's mean is.
[[nodiscard]] std::unique_ptr<Figure> makeCueFigure(CuePicture picture, FigureStyle style = {});

}  // namespace vitrine::ui
