// Pictures of the Calibration page: the diagram of several runs, their film, the confusion matrix.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "ui/calibration/calibration_model.h"
#include "ui/figures/figure.h"

namespace vitrine::ui {

/// Bars under this many samples say little, and are pale.
inline constexpr std::int64_t kFewSamples = 50;

struct ReliabilityPicture {
  struct Line {
    std::int64_t run = 0;
    QString name;
    double temperature = 1;
    std::vector<ReliabilityBin> bins;
  };
  QString title;  ///< with the split
  QString about;
  QString quantity;  ///< of the horizontal axis: "confidence"
  std::vector<Line> lines;
  int current = 0;                     ///< whose bars are drawn
  std::vector<ReliabilityBin> before;  ///< of that run at T = 1; empty: not drawn
  bool hasGap = true;
  int bin = -1;  ///< the chosen one
};
/// A click gives the bin as FigureTarget::image.
[[nodiscard]] std::unique_ptr<Figure> makeReliabilityFigure(ReliabilityPicture picture,
                                                            FigureStyle style = {});

struct FilmPicture {
  struct Frame {
    std::int64_t step = 0;
    QString ece;  ///< of the current run
    std::vector<std::pair<std::int64_t, std::vector<ReliabilityBin>>> lines;  ///< by run
  };
  QString title, about;
  std::map<std::int64_t, QString> names;  ///< of the runs
  std::vector<Frame> frames;
  int shown = -1;
};
/// A click gives the frame as FigureTarget::image.
[[nodiscard]] std::unique_ptr<Figure> makeFilmFigure(FilmPicture picture, FigureStyle style = {});

struct ConfusionPicture {
  QString title, about;
  QStringList names;
  std::vector<std::int64_t> cells;  ///< [classes, classes]: labels by predictions
  int label = -1, predicted = -1;   ///< the chosen cell
};
/// A click gives label and prediction as FigureTarget::cell.
[[nodiscard]] std::unique_ptr<Figure> makeConfusionFigure(ConfusionPicture picture,
                                                          FigureStyle style = {});

}  // namespace vitrine::ui
