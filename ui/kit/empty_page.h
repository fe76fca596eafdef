// The empty state of a page: a sentence on what will be here, and one action to get there.
#pragma once

#include <QPushButton>
#include <QWidget>

#include "ui/kit/fit_area.h"

namespace vitrine::ui {

class EmptyPage : public QWidget {
  Q_OBJECT
 public:
  /// \param action  the word on the button; empty: no button
  explicit EmptyPage(const QString& sentence, const QString& action, QWidget* parent = nullptr);
  /// Shows a button only where there is a word for it.
  void showMessage(const QString& sentence, const QString& action);
  /// Whether a reading can be cancelled.
  void setCancelShown(bool isShown) { cancel_->setVisible(isShown); }

 Q_SIGNALS:
  void actionRequested();
  void cancelRequested();

 private:
  WrapLabel* sentence_;
  QPushButton *action_, *cancel_;
};

}  // namespace vitrine::ui
