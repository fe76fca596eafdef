// The headless program as the form uses it: asked for costs in the background, started for good.
#pragma once

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QString>
#include <filesystem>
#include <optional>
#include <string>

#include "core/base/json.h"

namespace vitrine::ui {

/// `vitrine check - --json`, one at a time: a newer question ends the older one.
class CheckProcess : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  ~CheckProcess() override;

  /// Asks what an experiment costs; finished() or failed() answers, unless a newer question came.
  void ask(const std::string& experimentText);
  void cancel();
  [[nodiscard]] bool isRunning() const { return process_ != nullptr; }

 Q_SIGNALS:
  void finished(const vitrine::Json& report);  ///< problems, warnings, totals
  void failed(const QString& sentence);

 private:
  QPointer<QProcess> process_;
};

/// An experiment that was handed over.
struct Launched {
  std::filesystem::path file;  ///< `<db>.files/experiments/<time>-<title>.toml`
  std::filesystem::path log;   ///< beside it
  std::int64_t pid = 0;
};

/// Saves the text beside the database and starts one detached `vitrine train FILE --db DB`, which
/// runs all runs of the experiment in order and outlives the window. \throws Error  the file cannot
/// be written, the program does not start
[[nodiscard]] Launched launchExperiment(const std::string& text, const std::string& title,
                                        const std::filesystem::path& database);

/// Whether that process is still there.
[[nodiscard]] bool isAlive(const Launched& launched);
/// The last line of its log that says something; "" where there is none.
[[nodiscard]] QString lastLogLine(const Launched& launched);

}  // namespace vitrine::ui
