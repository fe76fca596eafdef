// The menu of analyses that runs lack, each with what computing it costs.
#pragma once

#include <QString>
#include <QWidget>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/config/catalog.h"
#include "core/store/types.h"
#include "ui/workbench/drawn_runs.h"

class QToolButton;

namespace vitrine::ui {

class Workbench;

/// A run as the menu asks about it.
struct AnalysedRun {
  std::int64_t run = 0;
  const Json* config = nullptr;                                ///< nullptr: unknown
  const std::vector<store::ArtifactRow>* artifacts = nullptr;  ///< nullptr: none
};

/// Whether what its architecture, task and data offer includes all that the analysis needs.
[[nodiscard]] bool canAnalyse(const Catalog& catalog, const AnalysedRun& run,
                              const ItemCard& analysis);
/// A checkpoint of a run, and how many samples an analysis of it reads at most.
struct AnalysedSamples {
  std::int64_t run = 0;
  std::int64_t samples = 0;  ///< 0: not known
};
/// "Cost: loading 2 checkpoints, and at most 1,000 samples in about 12 s"
[[nodiscard]] QString analysisCost(Workbench& workbench,
                                   const std::vector<AnalysedSamples>& checkpoints);
/// Whether anything can be computed of one of them now.
[[nodiscard]] bool canCompute(Workbench& workbench, const std::vector<std::int64_t>& runs);

/// "Compute…" with the menu of analyses that runs lack; Cancel in its place while it computes.
class AnalysisMenu final : public QWidget {
  Q_OBJECT
 public:
  using Runs = std::function<std::vector<AnalysedRun>()>;
  /// \param runs  those that the page shows, as they were read
  AnalysisMenu(Workbench& workbench, const QString& tip, Runs runs, QWidget* parent);
  /// Opens the menu in the middle of `over`; cancels while it computes.
  void press(QWidget& over);
  /// The computation in progress and its state; "" for none.
  [[nodiscard]] QString sentence() const { return queue_.sentence(); }

 Q_SIGNALS:
  /// sentence() is another one.
  void progressed();
  /// All runs have it.
  void computed(const std::string& analysis);
  /// What was computed before stays.
  void failed(const QString& sentence);

 private:
  void dress();
  void fill();

  Workbench& workbench_;
  Runs runs_;
  AnalysisQueue queue_;
  QToolButton *compute_, *cancel_;
};

}  // namespace vitrine::ui
