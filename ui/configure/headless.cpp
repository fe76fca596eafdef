// QProcess around `vitrine check` and `vitrine train`.
#include "ui/configure/headless.h"

#include <QDateTime>
#include <QFile>
#include <QRegularExpression>
#include <cerrno>
#include <csignal>

#include "core/base/error.h"
#include "core/jobs/launcher.h"
#include "core/store/run_store.h"

namespace vitrine::ui {

namespace {

QString lastLine(const QByteArray& text) {
  const QList<QByteArray> lines = text.split('\n');
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (!line->trimmed().isEmpty()) return QString::fromUtf8(line->trimmed());
  }
  return {};
}

/// A title as part of a file name.
QString slug(const std::string& title) {
  static const QRegularExpression kOther(QStringLiteral("[^a-z0-9]+"));
  QString name =
      QString::fromStdString(title).toLower().replace(kOther, QStringLiteral("-")).left(60);
  while (name.startsWith(QLatin1Char('-'))) name.remove(0, 1);
  while (name.endsWith(QLatin1Char('-'))) name.chop(1);
  return name.isEmpty() ? QStringLiteral("experiment") : name;
}

}  // namespace

CheckProcess::~CheckProcess() { cancel(); }

void CheckProcess::cancel() {
  if (process_ == nullptr) return;
  QProcess* old = process_;
  process_ = nullptr;
  old->disconnect(this);
  old->setParent(nullptr);
  QObject::connect(old, &QProcess::finished, old, &QObject::deleteLater);
  if (old->state() == QProcess::NotRunning) {
    old->deleteLater();
  } else {
    old->kill();
  }
}

void CheckProcess::ask(const std::string& experimentText) {
  cancel();
  QString program;
  try {
    program = QString::fromStdString(headlessProgram().string());
  } catch (const Error& error) {
    Q_EMIT failed(QString::fromUtf8(error.what()));
    return;
  }
  auto* process = new QProcess(this);
  process_ = process;
  connect(process, &QProcess::errorOccurred, this, [this, process](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;
    const QString reason = process->errorString();
    cancel();
    Q_EMIT failed(QStringLiteral("The costs are unknown: %1 did not start (%2).")
                      .arg(process->program(), reason));
  });
  connect(process, &QProcess::finished, this, [this, process](int, QProcess::ExitStatus) {
    const QByteArray out = process->readAllStandardOutput();
    const QByteArray err = process->readAllStandardError();
    process_ = nullptr;
    process->deleteLater();
    const Json report = Json::parse(out.begin(), out.end(), nullptr, false);
    if (report.is_object()) {
      Q_EMIT finished(report);
      return;
    }
    const QString reason = lastLine(err);
    Q_EMIT failed(
        QStringLiteral("The costs are unknown: %1")
            .arg(reason.isEmpty() ? QStringLiteral("vitrine check gave no answer.") : reason));
  });
  process->start(program, {QStringLiteral("check"), QStringLiteral("-"), QStringLiteral("--json")});
  process->write(QByteArray::fromStdString(experimentText));
  process->closeWriteChannel();
}

Launched launchExperiment(const std::string& text, const std::string& title,
                          const std::filesystem::path& database) {
  Launched launched;
  const std::filesystem::path folder = filesFolder(database) / "experiments";
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    throw Error("cannot make " + folder.string() + ": " + failure.message() +
                "; choose a database in a folder you may write to");
  }
  const QString stamp =
      QDateTime::currentDateTimeUtc().toString(QStringLiteral("yyyyMMdd-HHmmss-zzz"));
  const std::string name = (stamp + QLatin1Char('-') + slug(title)).toStdString();
  launched.file = folder / (name + ".toml");
  launched.log = folder / (name + ".log");
  QFile file(QString::fromStdString(launched.file.string()));
  const QByteArray bytes = QByteArray::fromStdString(text);
  if (!file.open(QIODevice::WriteOnly | QIODevice::NewOnly) || file.write(bytes) != bytes.size() ||
      !file.flush()) {
    throw Error("cannot write " + launched.file.string() + ": " + file.errorString().toStdString());
  }
  file.close();
  QProcess process;
  process.setProgram(QString::fromStdString(headlessProgram().string()));
  process.setArguments({QStringLiteral("train"), file.fileName(), QStringLiteral("--db"),
                        QString::fromStdString(std::filesystem::absolute(database).string())});
  process.setWorkingDirectory(QString::fromStdString(folder.string()));
  process.setStandardInputFile(QProcess::nullDevice());
  process.setStandardOutputFile(QString::fromStdString(launched.log.string()), QIODevice::Append);
  process.setStandardErrorFile(QString::fromStdString(launched.log.string()), QIODevice::Append);
  qint64 pid = 0;
  if (!process.startDetached(&pid)) {
    throw Error("the training program " + process.program().toStdString() +
                " did not start: " + process.errorString().toStdString());
  }
  launched.pid = pid;
  return launched;
}

bool isAlive(const Launched& launched) {
  return launched.pid > 0 && (::kill(static_cast<pid_t>(launched.pid), 0) == 0 || errno == EPERM);
}

QString lastLogLine(const Launched& launched) {
  QFile file(QString::fromStdString(launched.log.string()));
  if (!file.open(QIODevice::ReadOnly)) return {};
  if (file.size() > 16384) file.seek(file.size() - 16384);
  return lastLine(file.readAll());
}

}  // namespace vitrine::ui
