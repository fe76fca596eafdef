// Watches the runs in progress for as long as the window is open, whichever page is in front.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "ui/kit/background.h"
#include "ui/monitor/alerts.h"
#include "ui/workbench/page.h"

namespace vitrine::ui {

/// Reads off the window's thread, at most once a second and only while there are rules and runs in
/// progress. Shows raised alerts in the status bar and on the desktop.
class AlertService : public QObject {
  Q_OBJECT
 public:
  static constexpr int kLeastMs = 1000;  ///< between two looks
  static constexpr int kStuckMs =
      10'000;  ///< a run that is stuck writes nothing that wakes this up

  /// That of a workbench, made with the first call: it goes with the workbench.
  [[nodiscard]] static AlertService& of(Workbench& workbench);

  [[nodiscard]] const std::vector<AlertRule>& rules() const { return watch_.rules(); }
  [[nodiscard]] std::vector<AlertRule> rulesOf(const std::string& metric) const {
    return watch_.rulesOf(metric);
  }
  /// Replaces those of a metric; stored for the next start.
  void setRulesOf(const std::string& metric, const std::vector<AlertRule>& rules);
  /// The next look is over and judged when this returns.
  void waitUntilIdle();

 Q_SIGNALS:
  void raised(const QString& sentence, qlonglong run);

 private:
  friend class Probe;  ///< of tests

  explicit AlertService(Workbench& workbench);
  void later();
  void look();

  Workbench& workbench_;
  AlertWatch watch_;
  Background reader_;
  QTimer timer_, stuck_;
  QElapsedTimer clock_;
  std::int64_t looks_ = 0;
};

}  // namespace vitrine::ui
