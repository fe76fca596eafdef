// Says above the pages what did not work: whole, and until the user has seen it.
#pragma once

#include <QAction>
#include <QFrame>
#include <QString>

class QLabel;

namespace vitrine::ui {

class WrapLabel;

/// Its actions() are what it offers, for the palette.
class ErrorBar final : public QFrame {
  Q_OBJECT
 public:
  explicit ErrorBar(QWidget* parent = nullptr);
  /// The newest one is shown; the same sentence again counts.
  void showError(const QString& sentence);
  /// "" while nothing is shown.
  [[nodiscard]] QString sentence() const;

 public Q_SLOTS:
  void dismiss();

 private:
  WrapLabel* text_;
  QLabel* count_;
  QString sentence_;
  int times_ = 0;
};

}  // namespace vitrine::ui
