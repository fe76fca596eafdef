// Choices of the user on the Compare page: everything that is a view and not data.
#pragma once

#include <QString>
#include <QStringList>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/store/comparison.h"

namespace vitrine::ui {

enum class CompareView { Table, Parallel, Scatter, Differences, Published, Artifacts };
enum class CurveAxis { Step, Epoch, Time };
/// What of the table's view Export takes: the one that had the focus last.
enum class ComparePicture { Table, Curves, Difference };

/// One axis of the parallel coordinates.
struct ParallelAxisChoice {
  std::string quantity;  ///< as in Quantity::id
  bool isLog = false;
  bool isFlipped = false;
  std::optional<std::array<double, 2>> brush;  ///< kept, in the axis' own numbers
  bool operator==(const ParallelAxisChoice&) const = default;
};

/// What of the table a LaTeX tabular has.
struct LatexChoice {
  enum class Differs { Full, Short, None };
  Differs differs = Differs::Full;
  bool hasDifference = true, hasCount = true;
  bool isBestBold = true;
  std::vector<std::string> withoutMetrics;  ///< columns of the table that it has not
  bool operator==(const LatexChoice&) const = default;
};

struct CompareChoice {
  CompareView view = CompareView::Table;
  std::vector<std::string> metrics;  ///< columns; the first one is drawn. Empty: a default
  store::ValueChoice value;
  std::string baseline;  ///< label of the variant; "" or not there: the first
  store::Unfinished unfinished = store::Unfinished::LeftOut;
  QString filter;
  int sortColumn = -1;  ///< -1: as the file orders them
  Qt::SortOrder sortOrder = Qt::AscendingOrder;
  std::vector<std::string> picked;  ///< labels of the selected rows: their curves; empty: all
  ComparePicture picture = ComparePicture::Table;
  LatexChoice latex;

  CurveAxis axis = CurveAxis::Step;
  Centre centre = Centre::Mean;
  Spread spread = Spread::Interval;
  /// A configuration key, "variant", "seed" or "": one of each.
  std::string colour = "variant", dash, panel;
  bool isLogX = false, isLogY = false;

  std::vector<ParallelAxisChoice> parallel;  ///< empty: what differs, and the metrics
  std::string scatterX, scatterY;            ///< Quantity::id; "": a default
  bool isScatterLogX = false, isScatterLogY = false;
  /// Which way is better on each axis, for the front; nothing: as the metric says.
  std::optional<Direction> betterX, betterY;

  bool onlyDifferences = true;
  std::string artifact;   ///< TileKind::id; "": the first that the variants share
  QString publishedFile;  ///< "": the one next to the experiment file

  bool operator==(const CompareChoice&) const = default;
};

/// An object that choiceFromJson() reads back; stable names.
[[nodiscard]] Json toJson(const CompareChoice& choice);
/// Unknown keys and values of another type are left as they are in `before`.
[[nodiscard]] CompareChoice choiceFromJson(const Json& state, const CompareChoice& before);

}  // namespace vitrine::ui
