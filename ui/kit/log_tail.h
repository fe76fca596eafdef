// The end of a run's log file, following it as it grows.
#pragma once

#include <QPlainTextEdit>
#include <QTimer>

namespace vitrine::ui {

/// The date and the fraction of a line's time are left out: the panel is narrow, the file has both.
class LogTail : public QPlainTextEdit {
  Q_OBJECT
 public:
  /// Only so much of the end of a file is read: a log may be gigabytes.
  static constexpr qint64 kMostBytes = 64 * 1024;

  explicit LogTail(QWidget* parent = nullptr);
  /// "" for none.
  void setFile(const QString& path);
  void setFollowing(bool isFollowing);
  /// Reads what the file has gained; polled every 500 ms while visible.
  void readMore();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  QString path_;
  qint64 position_ = 0;
  bool isFollowing_ = true;
  QTimer timer_;
};

}  // namespace vitrine::ui
