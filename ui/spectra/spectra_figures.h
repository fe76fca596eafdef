// Pictures of the Spectra page: layers by heads, one head, waterfalls, controls.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <memory>
#include <vector>

#include "ui/figures/figure.h"
#include "ui/spectra/spectra_model.h"
#include "ui/workbench/claims/claim_rows.h"

namespace vitrine::ui {

inline constexpr double kDarkest = 1e-5;  ///< of the largest singular value: less is drawn as this

/// One spectrum of a picture; it shares what it draws.
struct DrawnSpectrum {
  std::int64_t run = 0;
  QString name;
  std::shared_ptr<const Spectrum> spectrum;
};

struct HeadGridPicture {
  QString title, about;
  std::vector<DrawnSpectrum> runs;
  double threshold = 0.8;
  bool isLog = true;
  bool isSameScale = true;  ///< of all runs; else each is drawn as a share of its largest value
  int layer = 0, head = 0;  ///< the chosen one, from 0; head -1: all of the layer
};
/// A click gives FigureTarget::layer and head.
[[nodiscard]] std::unique_ptr<Figure> makeHeadGridFigure(HeadGridPicture picture,
                                                         FigureStyle style = {});

struct SharePicture {
  struct Line {
    std::int64_t run = 0;
    QString name;
    HeadSpectrum head;
    bool isControl = false;  ///< dashed and pale: before training
  };
  QString title, about;
  std::vector<Line> lines;
  double threshold = 0.8;
  bool isValues = false;  ///< singular values on a logarithmic axis instead of their shares
};
/// A click gives the share of the sum there as the first of FigureTarget::queryAt.
[[nodiscard]] std::unique_ptr<Figure> makeShareFigure(SharePicture picture, FigureStyle style = {});

struct WaterfallPicture {
  struct Run {
    std::int64_t run = 0;
    QString name, state;  ///< "live · step 2,184"
    std::vector<std::int64_t> steps;
    std::vector<HeadSpectrum> columns;  ///< of each step
    std::int64_t totalSteps = 0;        ///< 0: the last of `steps`
  };
  QString title, about;
  std::vector<Run> runs;
  double threshold = 0.8;
  bool isSameScale = true;  ///< of all runs; else colours are shares of a run's largest value
  std::int64_t shown = -1;  ///< the chosen step; -1: none
};
/// A click gives the share of the training as the second of FigureTarget::queryAt, and the run as
/// FigureTarget::image. Colours are the logarithm of the singular values; valueRange() tells which.
[[nodiscard]] std::unique_ptr<Figure> makeWaterfallFigure(WaterfallPicture picture,
                                                          FigureStyle style = {});

struct ControlsPicture {
  struct Row {
    std::int64_t run = 0;
    QString name, differs;
    RankSpread rank;
    bool isControl = false;  ///< before training
    bool isLive = false;
  };
  QString title, about, unit;
  std::vector<Row> rows;
  std::vector<ClaimRow> claims;  ///< of the paper about these ranks, with their verdicts
  QStringList notes;
};
[[nodiscard]] std::unique_ptr<Figure> makeControlsFigure(ControlsPicture picture,
                                                         FigureStyle style = {});

}  // namespace vitrine::ui
