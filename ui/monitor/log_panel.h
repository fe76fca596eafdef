// The log of the current run below the plots, with a search.
#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QWidget>

#include "ui/kit/log_tail.h"

namespace vitrine::ui {

class LogPanel : public QWidget {
  Q_OBJECT
 public:
  explicit LogPanel(QWidget* parent = nullptr);
  void setFile(const QString& path);
  [[nodiscard]] LogTail& log() { return *log_; }
  /// Goes to the next line with the text of the search field; from the other end when there is none
  /// further on. \returns false where the log has none
  bool findNext(QTextDocument::FindFlags flags = {});
  [[nodiscard]] QLineEdit& field() { return *field_; }

 private:
  void mark();
  LogTail* log_;
  QLineEdit* field_;
  QLabel* found_;
};

}  // namespace vitrine::ui
