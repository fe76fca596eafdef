// The first page: the way from nothing to the first curve, and back to what was left open.
#pragma once

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <cstdint>
#include <vector>

#include "ui/start/start_parts.h"
#include "ui/start/tour_offer.h"
#include "ui/workbench/headless.h"
#include "ui/workbench/page.h"

namespace vitrine::ui {

/// The line of ui/shell/pages.cpp. \param others  those with an `about` are offered on the page
[[nodiscard]] PageFactory startPage(std::vector<PageFactory> others);

class StartPage final : public Page {
  Q_OBJECT
 public:
  /// \param others  as startPage() takes them
  StartPage(Workbench& workbench, const std::vector<PageFactory>& others,
            QWidget* parent = nullptr);

  void waitUntilIdle() override;

  [[nodiscard]] QPushButton& demo() { return *demo_; }

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// The state of the demo, from the runs of its experiment.
  enum class Demo { Missing, Preparing, Waiting, Running, Broken, Done };
  [[nodiscard]] Demo demoNow(std::vector<std::int64_t>& runs) const;

  QFrame* makeFirst();
  QFrame* makeResumable();
  QFrame* makeRecent();
  QFrame* makePages(const std::vector<PageFactory>& others);
  void runDemo();
  void showAll();
  void showDemo();
  void showResumable();
  void showRecent();
  void later();

  Workbench& workbench_;
  EnqueueProcess enqueue_;
  QString demoTitle_;
  QString demoProblem_;
  bool isPlanned_ = false;  ///< a redraw is posted
  QLabel *headline_, *place_, *demoState_, *resumableText_;
  StartButton* demo_;
  QPushButton* resumeAll_;
  QVBoxLayout *resumableRows_, *recentRows_;
  TourOffer* tour_;
  QFrame *first_, *tourCard_, *resumable_, *recent_, *pages_;
  QList<QFrame*> placed_;  ///< in the grid as it is
  bool isPlacedWide_ = false;
  class QGridLayout* grid_;
};

}  // namespace vitrine::ui
