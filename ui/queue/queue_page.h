// The Queue page: runs in progress, waiting runs in their order, runs that can be resumed, and the
// devices of this machine.
#pragma once

#include <QBoxLayout>
#include <QFrame>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QStackedWidget>
#include <QTreeView>
#include <cstdint>
#include <optional>
#include <vector>

#include "ui/queue/device_monitor.h"
#include "ui/queue/device_panel.h"
#include "ui/queue/queue_model.h"
#include "ui/workbench/page.h"

namespace vitrine::ui {

class QueuePage : public Page {
  Q_OBJECT
 public:
  explicit QueuePage(Workbench& workbench, QWidget* parent = nullptr);

  void waitUntilIdle() override;
  QList<QAction*> tools() override;
  [[nodiscard]] QString howToRead() const override;

  [[nodiscard]] QueueModel& model() { return model_; }
  [[nodiscard]] QTreeView& view() { return *view_; }
  /// Everything that can be done with the selected runs.
  void fillMenu(QMenu& menu);

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeActions();
  void makeLimitMenu();
  QWidget* makeOffer();
  void showQueue();
  void showDevices();
  void showOffer();
  void updateActions();
  void readSelection();
  void showSelection();
  /// The run with the outline left the list: the arrow keys continue from the one in its place.
  /// \param place  in the section; -1: the section had the outline
  void keepOutline(int section, int place);
  void setColumns();
  /// The selected runs, of all sections or of one.
  [[nodiscard]] std::vector<std::int64_t> selected(
      std::optional<QueueModel::Section> section = {}) const;

  void pauseQueue(store::QueueMode mode);
  void pauseRuns();
  void resumeRuns(const std::vector<std::int64_t>& runs, jobs::QueueEnd end);
  void removeRuns();
  void move(const std::vector<std::int64_t>& runs, std::int64_t before);
  void moveBy(int places);
  void setLimit(double seconds);
  void askLimit();
  void setDevice(const std::string& device);
  void give(jobs::Command command, const std::vector<std::int64_t>& runs,
            QueueService::Sentence sentence = {});
  void give(jobs::Command::What what, const std::vector<std::int64_t>& runs,
            QueueService::Sentence sentence);
  void fillDeviceMenu();

  Workbench& workbench_;
  QueueModel model_;
  DeviceMonitor devices_;
  std::vector<std::int64_t> chosen_;  ///< runs that the page's actions concern
  bool isApplying_ = false;           ///< the selection is being set by this page
  bool isStale_ = true;
  bool isReset_ = true;  ///< runs came, went or moved since they were shown

  QStackedWidget* stack_;
  QLabel *headline_, *error_;
  QFrame* offer_;
  QBoxLayout* offerLine_;
  QLabel* offerText_;
  QTreeView* view_;
  DevicePanel* panel_;
  QAction *pauseQueue_, *resumeQueue_, *front_, *up_, *down_, *pauseRun_, *resumeRun_, *remove_,
      *limit_, *device_;
  QMenu *limitMenu_, *deviceMenu_;
};

}  // namespace vitrine::ui
