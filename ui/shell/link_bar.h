// A bar above the pages that says why there is no link to the other machine, and what is done about
// it. Hidden while there is one.
#pragma once

#include <QAction>
#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QTimer>

#include "ui/kit/small_widgets.h"
#include "ui/workbench/remote_link.h"

namespace vitrine::ui {

/// Its actions() are what it offers, for the palette.
class LinkBar : public QFrame {
  Q_OBJECT
 public:
  explicit LinkBar(RemoteLink& link, QWidget* parent = nullptr);

 private:
  void show(const remote::RemoteState& state);

  RemoteLink& link_;
  ElidedLabel* text_;
  QPushButton* again_;
  QAction* try_;
  QTimer clock_;
  QString asOf_;      ///< when all that is shown was true
  qint64 tryAt_ = 0;  ///< ms since the epoch
};

}  // namespace vitrine::ui
