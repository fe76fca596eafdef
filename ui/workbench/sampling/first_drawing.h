// Runs that a sampler can draw with, and what pages of images offer where there is none yet.
#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/store/run_reader.h"
#include "ui/workbench/headless.h"

namespace vitrine::ui {

class Workbench;

/// Samplers that can draw with the model of a resolved configuration.
[[nodiscard]] std::vector<std::string> samplersFor(const Catalog& catalog, const Json& config);

/// In the queue or in progress, and not at its first checkpoint.
[[nodiscard]] bool isBeforeCheckpoint(const store::RunRow& row);

/// Runs that a sampler can draw with; 0: none.
struct DrawingRuns {
  std::int64_t ready = 0;   ///< one with a checkpoint
  std::int64_t coming = 0;  ///< the oldest that is before its first one
};
/// \param isStale  looked at between two runs
[[nodiscard]] DrawingRuns drawingRuns(store::RunReader& store, const Catalog& catalog,
                                      const std::atomic<bool>& isStale);

/// The text of an experiment whose runs can draw; "" where no plugin brings what that needs.
[[nodiscard]] std::string drawingExperiment(const Catalog& catalog);

/// The experiment that is offered where no run can draw yet.
struct FirstDrawing {
  std::string text, title;  ///< of the experiment file; "": no plugin brings what that needs
  double seconds = 0;       ///< that its run took on two cores; 0: it was not measured
};
/// The one that comes with the window where its model and a sampler are there; else one that the
/// plugins together can do.
[[nodiscard]] FirstDrawing firstDrawing(const Catalog& catalog);

/// The way to a run that draws, for the empty state of a page: a sentence with the cost, and one
/// button.
class DrawingOffer final : public QObject {
  Q_OBJECT
 public:
  explicit DrawingOffer(Workbench& workbench, QObject* parent = nullptr);

  /// \param run  of DrawingRuns: it is shown instead of a new one; 0: none
  void setComing(std::int64_t run) { coming_ = run; }
  [[nodiscard]] QString sentence() const;
  [[nodiscard]] QString action() const;  ///< the word on the button; "": none
  /// Does what the button says.
  void press();

 Q_SIGNALS:
  /// Starting began or failed: sentence() and action() are others.
  void changed();

 private:
  Workbench& workbench_;
  EnqueueProcess enqueue_;
  std::int64_t coming_ = 0;
};

}  // namespace vitrine::ui
