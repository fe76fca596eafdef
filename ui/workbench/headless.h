// The headless program as the form uses it: asked for costs, and to put runs into the queue.
#pragma once

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/jobs/queue.h"

namespace vitrine::ui {

class RemoteLink;

/// `vitrine ARGUMENTS --json`, one question at a time: a newer one ends the older one, without
/// waiting for it.
class HeadlessQuestion : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  ~HeadlessQuestion() override;

  /// finished() or failed() answers, unless a newer question came or this one is cancelled.
  void ask(const QStringList& arguments, const QByteArray& input = {});
  /// The same with `--db DATABASE` at the end.
  void askAbout(const std::filesystem::path& database, QStringList arguments);
  void cancel();
  [[nodiscard]] bool isRunning() const { return process_ != nullptr; }

 Q_SIGNALS:
  void finished(const vitrine::Json& report);  ///< an object
  void failed(const QString& reason);          ///< a sentence

 private:
  QPointer<QProcess> process_;
};

/// `vitrine check - --json`, one at a time: a newer question ends the older one.
class CheckProcess : public QObject {
  Q_OBJECT
 public:
  explicit CheckProcess(QObject* parent = nullptr);

  /// From now on that machine is asked, by `check` of resources/docs/serve.md: it has the plugins.
  void setLink(RemoteLink* link) { link_ = link; }
  /// Asks what an experiment costs; finished() or failed() answers, unless a newer question came.
  void ask(const std::string& experimentText);
  void cancel();
  [[nodiscard]] bool isRunning() const { return here_.isRunning() || isAsked_; }

 Q_SIGNALS:
  void finished(const vitrine::Json& report);  ///< the plan, problems, warnings, totals
  void failed(const QString& sentence);

 private:
  void askThere(const std::string& experimentText);
  void fail(const QString& reason);

  RemoteLink* link_ = nullptr;
  bool isAsked_ = false;       ///< the other machine
  std::int64_t question_ = 0;  ///< number of the newest one there
  HeadlessQuestion here_;
};

/// `vitrine enqueue`: tries one step of each kind of run, then puts all of them into the queue.
/// Continues when the window is closed meanwhile.
class EnqueueProcess : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  ~EnqueueProcess() override;

  /// From now on runs are put into the queue of that machine, by `enqueue` of
  /// resources/docs/serve.md.
  void setLink(RemoteLink* link) { link_ = link; }
  /// Saves the text as `<db>.files/experiments/<time>-<title>.toml` and starts; finished() or
  /// failed() answers. \throws Error  the file cannot be written, the program does not start
  void start(const std::string& text, const std::string& title,
             const std::filesystem::path& database, jobs::QueueEnd end);
  /// The same from the answer of CheckProcess: nothing is planned again.
  void startPlan(const Json& report, const std::string& title,
                 const std::filesystem::path& database, jobs::QueueEnd end);
  [[nodiscard]] bool isRunning() const { return process_ != nullptr || isAsked_; }

 Q_SIGNALS:
  void finished(const std::vector<std::int64_t>& runs);
  void failed(const QString& sentence);

 private:
  /// \param words  of the command; the last one is the ending of the file's name
  void launch(const QByteArray& bytes, QStringList words, const std::string& title,
              const std::filesystem::path& database, jobs::QueueEnd end);
  void startThere(Json request, jobs::QueueEnd end);
  void answer(int exitCode);

  RemoteLink* link_ = nullptr;
  bool isAsked_ = false;  ///< the other machine
  QPointer<QProcess> process_;
  QString in_, out_, log_;  ///< files: a pipe would end with the window, and the process with it
};

}  // namespace vitrine::ui
