// The tour on the Start page: every experiment of experiments/tour into the queue, then the report.
#pragma once

#include <QFrame>
#include <QLabel>
#include <cstdint>
#include <string>
#include <vector>

#include "core/config/papers/tour.h"
#include "ui/start/start_parts.h"
#include "ui/workbench/headless.h"
#include "ui/workbench/page.h"

namespace vitrine::ui {

class TourOffer final : public QObject {
  Q_OBJECT
 public:
  explicit TourOffer(Workbench& workbench, QObject* parent = nullptr);

  /// Its card, made once; the caller places it.
  [[nodiscard]] QFrame* makeCard();
  /// Says where the tour stands.
  void show();

  [[nodiscard]] QPushButton& button() { return *button_; }
  [[nodiscard]] QString state() const { return state_->text(); }
  /// "about 8 minutes on 2 cores of ...", from the file that says what the tour does.
  [[nodiscard]] QString cost() const;

 Q_SIGNALS:
  void changed();  ///< runs were put into the queue, or that failed

 private:
  struct Part {
    std::string text, title;  ///< of its experiment file
  };
  enum class Stage { Missing, Preparing, Training, Broken, Trained, Reporting };
  struct Standing {
    Stage stage = Stage::Missing;
    std::vector<std::int64_t> runs, broken;
    std::vector<std::size_t> parts;  ///< that have no run yet
    std::int64_t step = 0, total = 0;
  };
  [[nodiscard]] Standing standing() const;
  void act();
  void enqueueNext();
  void writeReport();
  void takeReport(const Json& answer);
  void endReport(const QString& error);

  Workbench& workbench_;
  Tour tour_;
  std::vector<Part> parts_;
  EnqueueProcess enqueue_;
  std::vector<std::size_t> waiting_;  ///< parts that follow into the queue
  HeadlessQuestion report_;
  QString error_, reportFile_;
  StartButton* button_ = nullptr;
  QLabel* state_ = nullptr;
};

}  // namespace vitrine::ui
