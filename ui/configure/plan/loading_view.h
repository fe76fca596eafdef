// The two other states of the page: schemas are being read, and they could not be.
#pragma once

#include <QTimer>
#include <QWidget>

class QLabel;

namespace vitrine::ui {

/// Grey bars where the form will be, after 200 ms.
class LoadingView : public QWidget {
  Q_OBJECT
 public:
  explicit LoadingView(const QString& sentence, QWidget* parent = nullptr);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  QString sentence_;
  QTimer delay_;
  bool isShown_ = false;
};

/// What failed, why, and Retry; the reason can be copied.
class ErrorView : public QWidget {
  Q_OBJECT
 public:
  explicit ErrorView(const QString& sentence, QWidget* parent = nullptr);
  [[nodiscard]] QLabel* reason() const { return reason_; }

 Q_SIGNALS:
  void retry();

 private:
  QLabel* reason_;
};

}  // namespace vitrine::ui
