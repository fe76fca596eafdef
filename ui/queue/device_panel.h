// The devices of this machine in a row: what each computes, how busy and how full it is.
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

#include "ui/queue/device_monitor.h"

class QGridLayout;

namespace vitrine::ui {

/// What lies under a bar that says how much: told from the bar in high contrast, too.
[[nodiscard]] QColor barGround();

/// One device; painted, with everything it shows as its accessible name.
class DeviceTile : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;
  /// \param runs  names of the runs that compute on it
  void show(const jobs::DeviceLoad& load, const QStringList& runs);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  jobs::DeviceLoad load_;
  QString title_;
  QStringList runs_;
};

class DevicePanel : public QWidget {
  Q_OBJECT
 public:
  explicit DevicePanel(QWidget* parent = nullptr);
  /// \param runs  for each device the names of the runs that compute on it
  void show(const std::vector<jobs::DeviceLoad>& loads, const std::vector<QStringList>& runs);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void arrange();

  QGridLayout* grid_;
  std::vector<DeviceTile*> tiles_;
  int columns_ = 0;
};

}  // namespace vitrine::ui
