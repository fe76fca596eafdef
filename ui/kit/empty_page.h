// The empty state of a page: a sentence on what will be here, and one action to get there.
#pragma once

#include <QPushButton>
#include <QStackedWidget>
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

/// What a page shows, or its empty state in that place, which is there first. Either scrolls where
/// it has too little room.
class PageStack : public QStackedWidget {
  Q_OBJECT
 public:
  /// Fills `page`.
  explicit PageStack(QWidget* page);
  /// Its parts are made in it: a style sheet looks once more at all that is put into another
  /// widget.
  [[nodiscard]] QWidget* content() { return content_; }
  [[nodiscard]] EmptyPage& empty() { return *empty_; }
  [[nodiscard]] bool isContentShown() const { return currentIndex() == 0; }
  void showContent() { setCurrentIndex(0); }
  void showEmpty(const QString& sentence, const QString& action = {});

 private:
  QWidget* content_;
  EmptyPage* empty_;
};

}  // namespace vitrine::ui
