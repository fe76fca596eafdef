// Writes the report of runs as `vitrine report` does, and shows that it is being written.
#pragma once

#include <QString>
#include <QStringList>
#include <QWidget>
#include <cstdint>
#include <vector>

#include "ui/workbench/headless.h"

namespace vitrine::ui {

class ElidedLabel;
class Workbench;

/// Hidden unless a report is being written.
class ReportBar final : public QWidget {
  Q_OBJECT
 public:
  explicit ReportBar(Workbench& workbench, QWidget* parent = nullptr);

  /// Asks for a file, then writes. \param runs  not empty
  void ask(const std::vector<std::int64_t>& runs, const QString& title);
  /// Writes an HTML or PDF file. The message line offers to open it; what fails is said in the bar
  /// of errors.
  void write(const std::vector<std::int64_t>& runs, const QString& file);
  [[nodiscard]] bool isWriting() const { return question_.isRunning(); }
  void cancel();

 Q_SIGNALS:
  /// A report was begun, or came to its end.
  void changed();

 private:
  [[nodiscard]] QStringList subjectOf(const std::vector<std::int64_t>& runs) const;
  void take(const Json& report);
  void fail(const QString& reason);
  void end();

  Workbench& workbench_;
  HeadlessQuestion question_;
  ElidedLabel* text_;
  QString file_;
};

}  // namespace vitrine::ui
