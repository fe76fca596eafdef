// QProcess around `vitrine check` and `vitrine enqueue`.
#include "ui/workbench/headless.h"

#include <QDateTime>
#include <QFile>
#include <utility>

#include "core/base/cell_text.h"
#include "core/base/error_json.h"
#include "core/base/read_json.h"
#include "core/jobs/launcher.h"
#include "core/store/run_store.h"
#include "ui/workbench/remote_link.h"

namespace vitrine::ui {

HeadlessQuestion::~HeadlessQuestion() { cancel(); }

void HeadlessQuestion::askAbout(const std::filesystem::path& database, QStringList arguments) {
  arguments << QStringLiteral("--db")
            << QString::fromStdString(std::filesystem::absolute(database).string());
  ask(arguments);
}

void HeadlessQuestion::cancel() {
  QProcess* process = std::exchange(process_, nullptr);
  if (process == nullptr) return;
  // It goes by itself.
  process->disconnect(this);
  process->setParent(nullptr);
  connect(process, &QProcess::finished, process, &QObject::deleteLater);
  if (process->state() == QProcess::NotRunning) {
    process->deleteLater();
  } else {
    process->kill();
  }
}

void HeadlessQuestion::ask(const QStringList& arguments, const QByteArray& input) {
  cancel();
  QString program;
  try {
    program = QString::fromStdString(jobs::headlessProgram().string());
  } catch (const Error& error) {
    Q_EMIT failed(QString::fromUtf8(error.what()));
    return;
  }
  auto* process = new QProcess(this);
  process_ = process;
  connect(process, &QProcess::errorOccurred, this, [this, process](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;
    const QString reason =
        tr("%1 did not start (%2).").arg(process->program(), process->errorString());
    cancel();
    Q_EMIT failed(reason);
  });
  connect(process, &QProcess::finished, this, [this, process, verb = arguments.value(0)] {
    const Json report = readJson(process->readAllStandardOutput().toStdString());
    const QString reason =
        QString::fromStdString(errorMessage(report, process->readAllStandardError().toStdString()));
    process_ = nullptr;
    process->deleteLater();
    if (report.is_object() && !reportedError(report)) {
      Q_EMIT finished(report);
      return;
    }
    Q_EMIT failed(reason.isEmpty() ? tr("`vitrine %1` gave no answer.").arg(verb) : reason);
  });
  process->start(program, arguments + QStringList{QStringLiteral("--json")});
  process->write(input);
  process->closeWriteChannel();
}

CheckProcess::CheckProcess(QObject* parent) : QObject(parent) {
  connect(&here_, &HeadlessQuestion::finished, this, &CheckProcess::finished);
  connect(&here_, &HeadlessQuestion::failed, this, &CheckProcess::fail);
}

void CheckProcess::fail(const QString& reason) {
  Q_EMIT failed(tr("The costs are unknown: %1").arg(reason));
}

void CheckProcess::cancel() {
  here_.cancel();
  isAsked_ = false;
  ++question_;
}

void CheckProcess::ask(const std::string& experimentText) {
  cancel();
  if (link_ != nullptr) return askThere(experimentText);
  here_.ask({QStringLiteral("check"), QStringLiteral("-")},
            QByteArray::fromStdString(experimentText));
}

void CheckProcess::askThere(const std::string& experimentText) {
  isAsked_ = true;
  link_->send({{"op", "check"}, {"experiment", experimentText}}, this,
              [this, question = question_](const Json& answer) {
                if (question != question_) return;
                isAsked_ = false;
                try {
                  remote::throwAnswered(answer);
                  Q_EMIT finished(answer.at("report"));
                } catch (const std::exception& error) {
                  fail(QString::fromUtf8(error.what()));
                }
              });
}

EnqueueProcess::~EnqueueProcess() {
  if (process_ == nullptr) return;
  // It has what it needs: ending it half way would leave nothing in the queue.
  process_->disconnect(this);
  process_->setParent(nullptr);
}

void EnqueueProcess::start(const std::string& text, const std::string& title,
                           const std::filesystem::path& database, jobs::QueueEnd end) {
  if (isRunning()) return;
  if (link_ != nullptr) return startThere({{"experiment", text}}, end);
  launch(QByteArray::fromStdString(text), {QStringLiteral("enqueue"), QStringLiteral(".toml")},
         title, database, end);
}

void EnqueueProcess::startPlan(const Json& report, const std::string& title,
                               const std::filesystem::path& database, jobs::QueueEnd end) {
  if (isRunning()) return;
  if (link_ != nullptr) return startThere({{"plan", report}}, end);
  launch(QByteArray::fromStdString(report.dump()),
         {QStringLiteral("enqueue"), QStringLiteral("--plan"), QStringLiteral(".plan.json")}, title,
         database, end);
}

void EnqueueProcess::launch(const QByteArray& bytes, QStringList words, const std::string& title,
                            const std::filesystem::path& database, jobs::QueueEnd end) {
  // The program works in that folder: a relative name would mean another place there.
  const std::filesystem::path folder =
      std::filesystem::absolute(store::filesFolder(database)) / "experiments";
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    throw Error("cannot make " + folder.string() + ": " + failure.message() +
                "; choose a database in a folder you may write to");
  }
  const QString stamp =
      QDateTime::currentDateTimeUtc().toString(QStringLiteral("yyyyMMdd-HHmmss-zzz"));
  const QString base = QString::fromStdString(folder.string()) + QLatin1Char('/') + stamp +
                       QLatin1Char('-') + QString::fromStdString(fileSlug(title));
  out_ = base + QStringLiteral(".json");
  log_ = base + QStringLiteral(".log");
  in_ = words.last() = base + words.last();
  QFile file(in_);
  if (!file.open(QIODevice::WriteOnly | QIODevice::NewOnly) || file.write(bytes) != bytes.size() ||
      !file.flush()) {
    throw Error("cannot write " + file.fileName().toStdString() + ": " +
                file.errorString().toStdString());
  }
  file.close();
  auto* process = new QProcess(this);
  process->setProgram(QString::fromStdString(jobs::headlessProgram().string()));
  words << QStringLiteral("--json") << QStringLiteral("--db")
        << QString::fromStdString(std::filesystem::absolute(database).string());
  if (end == jobs::QueueEnd::Front) words << QStringLiteral("--front");
  process->setArguments(words);
  process->setWorkingDirectory(QString::fromStdString(folder.string()));
  process->setStandardInputFile(QProcess::nullDevice());
  process->setStandardOutputFile(out_);
  process->setStandardErrorFile(log_);
  process->start();
  if (!process->waitForStarted(5000)) {
    const QString reason = process->errorString();
    delete process;
    throw Error("the program that fills the queue did not start: " + reason.toStdString());
  }
  process_ = process;
  connect(process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
    answer(status == QProcess::NormalExit ? code : -1);
  });
}

void EnqueueProcess::startThere(Json request, jobs::QueueEnd end) {
  isAsked_ = true;
  request["op"] = "enqueue";
  request["front"] = end == jobs::QueueEnd::Front;
  link_->send(std::move(request), this, [this](const Json& answer) {
    isAsked_ = false;
    try {
      remote::throwAnswered(answer);
      Q_EMIT finished(answer.at("ids").get<std::vector<std::int64_t>>());
    } catch (const remote::LinkError& error) {
      // What was accepted there is done there.
      Q_EMIT failed(tr("%1. Check the queue when the link is back, before you start it again.")
                        .arg(QString::fromUtf8(error.what())));
    } catch (const std::exception& error) {
      Q_EMIT failed(QString::fromUtf8(error.what()));
    }
  });
}

void EnqueueProcess::answer(int exitCode) {
  process_->deleteLater();
  process_ = nullptr;
  QFile out(out_), log(log_);
  const QByteArray messages = log.open(QIODevice::ReadOnly) ? log.readAll() : QByteArray();
  const QByteArray text = out.open(QIODevice::ReadOnly) ? out.readAll() : QByteArray();
  const Json report = readJson(text.toStdString());
  if (exitCode == 0 && report.is_object() && report.contains("ids")) {
    out.remove();
    log.remove();
    if (in_.endsWith(QLatin1String(".plan.json"))) QFile::remove(in_);  // the database has it
    Q_EMIT finished(report["ids"].get<std::vector<std::int64_t>>());
    return;
  }
  const QString reason = QString::fromStdString(errorMessage(report, messages.toStdString()));
  Q_EMIT failed(
      tr("Nothing was put into the queue: %1").arg(reason.isEmpty() ? tr("see ") + log_ : reason));
}

}  // namespace vitrine::ui
