// A small trained model in a page of Studio, and how long what happens there takes.
#pragma once

#include <QElapsedTimer>
#include <QEventLoop>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTimer>
#include <cstdio>
#include <functional>
#include <string>

#include "tests/bench/frame_times.h"
#include "ui/workbench/studio_workbench.h"

namespace vitrine::bench {

/// \returns  false after a minute
inline bool waitFor(const std::function<bool()>& isThere) {
  QElapsedTimer clock;
  clock.start();
  while (!isThere()) {
    if (clock.elapsed() > 60'000) return false;
    // Asleep between events, as a window is: a loop that looks all the time takes a core away from
    // the model.
    QEventLoop loop;
    QTimer::singleShot(1, Qt::PreciseTimer, &loop, &QEventLoop::quit);
    loop.exec();
  }
  return true;
}

/// Trains an experiment as run 1. \returns  the database; "" where that failed, with the reason on
/// stderr
inline std::string trainedDatabase(const char* program, const char* experiment,
                                   const QTemporaryDir& folder) {
  const QString file = folder.filePath(QStringLiteral("experiment.toml"));
  const QString database = folder.filePath(QStringLiteral("experiment.sqlite"));
  if (QFile text(file); !text.open(QIODevice::WriteOnly) || text.write(experiment) < 0) return "";
  QProcess training;
  training.start(QString::fromLocal8Bit(program),
                 {QStringLiteral("train"), file, QStringLiteral("--db"), database});
  if (training.waitForFinished(300'000) && training.exitCode() == 0) return database.toStdString();
  std::fprintf(stderr, "%s\n", training.readAllStandardError().constData());
  return "";
}

/// Selects run 1 and waits for the plugins' schemas. \returns  false where none came
inline bool openRun(ui::StudioWorkbench& workbench) {
  workbench.start();
  workbench.selection().setRuns({1}, 1);
  return waitFor([&] { return !workbench.catalog().items.empty(); });
}

}  // namespace vitrine::bench
