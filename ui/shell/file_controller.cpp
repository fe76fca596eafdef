#include "ui/shell/file_controller.h"

#include <QCoreApplication>
#include <QDesktopServices>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QUrl>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/toml/to_toml.h"
#include "core/jobs/launcher.h"
#include "core/remote/place.h"
#include "core/store/exchange/file_probe.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/remote_link.h"

namespace vitrine::ui {
namespace {

constexpr qint64 kLargestExperiment = 8 << 20;  // bytes of a TOML file
constexpr int kFolderEntries = 2000;            // looked at to tell what a folder is

/// What a folder holds, as far as its first entries show.
enum class FolderKind { TensorBoard, Images, Checkpoint, Other };

FolderKind kindOfFolder(const QString& folder) {
  if (QFile::exists(folder + QStringLiteral("/manifest.json")) &&
      QFile::exists(folder + QStringLiteral("/model.safetensors"))) {
    return FolderKind::Checkpoint;
  }
  static const QStringList kPictures{QStringLiteral("png"), QStringLiteral("jpg"),
                                     QStringLiteral("jpeg"), QStringLiteral("webp")};
  QDirIterator entries(folder, QDir::Files, QDirIterator::Subdirectories);
  for (int seen = 0; entries.hasNext() && seen < kFolderEntries; ++seen) {
    const QFileInfo file(entries.next());
    if (store::kindByName(file.fileName().toStdString()) == store::FileKind::TensorBoard)
      return FolderKind::TensorBoard;
    if (kPictures.contains(file.suffix().toLower())) return FolderKind::Images;
  }
  return FolderKind::Other;
}

}  // namespace

FileController::FileController(Workbench& workbench, QObject* parent)
    : QObject(parent), workbench_(workbench) {
  connect(&exporting_, &HeadlessQuestion::finished, this, &FileController::exported);
  connect(&exporting_, &HeadlessQuestion::failed, this, [this](const QString& reason) {
    workbench_.showError(tr("The runs were not exported: %1").arg(reason));
  });
  connect(&import_, &HeadlessQuestion::finished, this, &FileController::imported);
  connect(&import_, &HeadlessQuestion::failed, this, [this](const QString& reason) {
    workbench_.showError(reason);
    endImport();
  });
}

FileController::~FileController() {
  probing_
      .request_stop();  // a file on a disk that hangs does not hold up the closing of the window
  if (probing_.joinable()) probing_.join();
}

void FileController::open(const QString& file) {
  if (remote::isRemotePlace(file.toStdString())) return openDatabase(file);
  const QFileInfo info(file);
  const QString shown = QDir::toNativeSeparators(file);
  if (!info.exists()) {
    workbench_.showError(tr("There is no file %1.").arg(shown));
    return;
  }
  if (info.isDir()) {
    openFolder(info.absoluteFilePath());
    return;
  }
  const QString path = info.absoluteFilePath();
  for (const Opener& opener : openers_) {
    if (opener(path)) return;
  }
  switch (store::kindByName(path.toStdString())) {
    case store::FileKind::Database:
      openDatabase(path);
      return;
    case store::FileKind::Export:
    case store::FileKind::TensorBoard:
      import(path);
      return;
    case store::FileKind::Experiment: {
      QFile text(path);
      if (info.size() > kLargestExperiment || !text.open(QIODevice::ReadOnly)) {
        workbench_.showError(tr("%1 cannot be read as an experiment file: %2.")
                                 .arg(shown, info.size() > kLargestExperiment
                                                 ? tr("it is larger than 8 MiB")
                                                 : text.errorString()));
        return;
      }
      workbench_.configure(text.readAll().toStdString(), path);
      return;
    }
    case store::FileKind::Weights:
      Q_EMIT weightsOpened(path);
      return;
    case store::FileKind::Foreign:
      workbench_.showError(
          tr("%1 may hold code that runs when it is opened, so Vitrine does not open "
             "it; convert it with `safetensors.torch.save_file(state_dict, "
             "\"weights.safetensors\")` and open that.")
              .arg(info.fileName()));
      return;
    case store::FileKind::Folder:
    case store::FileKind::Unknown:
      workbench_.showError(
          tr("%1 is not a file that Vitrine can open. It opens databases (.sqlite), experiment "
             "files (.toml), exports (.vitrine), TensorBoard event files, weights (.safetensors), "
             "figures drawn by Vitrine and folders of images. Other images open on the page "
             "Attention.")
              .arg(info.fileName()));
      return;
  }
}

void FileController::openFolder(const QString& folder) {
  switch (kindOfFolder(folder)) {
    case FolderKind::TensorBoard:
      import(folder);
      return;
    case FolderKind::Checkpoint:
      Q_EMIT weightsOpened(folder);
      return;
    case FolderKind::Images:
      workbench_.configure("title = " + tomlString(QFileInfo(folder).fileName().toStdString()) +
                               "\n\n[task]\nname = \"classification\"\n\n"
                               "[data]\ndataset = \"image_folder\"\nfolder = " +
                               tomlString(folder.toStdString()) + "\n",
                           QString());
      return;
    case FolderKind::Other:
      workbench_.showError(tr("%1 holds neither images nor TensorBoard event files.")
                               .arg(QDir::toNativeSeparators(folder)));
      return;
  }
}

void FileController::openWindow(const QString& place, const QString& what) {
  const bool isStarted = QProcess::startDetached(QCoreApplication::applicationFilePath(),
                                                 {QStringLiteral("--db"), place});
  if (isStarted)
    workbench_.showMessage(tr("Opened %1 in a window of its own.").arg(what));
  else
    workbench_.showError(tr("Cannot start %1.").arg(QCoreApplication::applicationFilePath()));
}

void FileController::openDatabase(const QString& file) {
  if (remote::isRemotePlace(file.toStdString())) {
    workbench_.attempt([&] {
      const remote::RemotePlace place = remote::remotePlace(file.toStdString());
      openWindow(QString::fromStdString(place.url()), QString::fromStdString(place.url()));
    });
    return;
  }
  if (isProbing_) {
    workbench_.showMessage(tr("Another file is still being opened. Try again in a moment."));
    return;
  }
  // A hostile file is looked at by a process that may crash over it, and may take its time.
  isProbing_ = true;
  if (probing_.joinable()) probing_.join();  // it has posted its answer: nothing to wait for
  probing_ = std::jthread([this, file](const std::stop_token& stop) {
    store::ProbedFile probed;
    try {
      probed = store::probeFile(file.toStdString(), jobs::headlessProgram(),
                                std::chrono::seconds(10), stop);
    } catch (const Error& error) {
      probed.refusal = error.what();
    }
    // Joined in the destructor, so `this` is alive; the event is dropped when the service is gone
    // first.
    QMetaObject::invokeMethod(
        this, [this, file, probed] { databaseProbed(file, probed); }, Qt::QueuedConnection);
  });
}

void FileController::databaseProbed(const QString& file, const store::ProbedFile& probed) {
  isProbing_ = false;
  if (!probed.isUsable) {
    workbench_.showError(QString::fromStdString(probed.refusal));
    return;
  }
  const QString here =
      QFileInfo(QString::fromStdString(workbench_.store().file().string())).canonicalFilePath();
  if (QFileInfo(file).canonicalFilePath() == here) {
    workbench_.showMessage(tr("%1 is open in this window.").arg(QFileInfo(file).fileName()));
    return;
  }
  // A window shows one database: another one opens next to it.
  openWindow(file, tr("%1, %2,").arg(QDir::toNativeSeparators(file),
                                     counted(probed.runs, tr("run"), tr("runs"))));
}

void FileController::import(const QString& file) {
  if (RemoteLink* link = workbench_.link()) {
    workbench_.showError(
        tr("%1 is imported where the database is: copy it to %2 and run `vitrine import` "
           "there.")
            .arg(QFileInfo(file).fileName(), link->host()));
    return;
  }
  if (import_.isRunning()) {
    imports_ << file;
    return;
  }
  importName_ = QFileInfo(file).fileName();
  Q_EMIT importing(file);
  import_.askAbout(workbench_.store().file(), {QStringLiteral("import"), file});
}

void FileController::exportRuns(const std::vector<std::int64_t>& runs, const QString& file,
                                const QString& checkpoints) {
  if (const RemoteLink* link = workbench_.link()) {
    workbench_.showError(tr("Runs are exported where the database is: run `vitrine export` on %1.")
                             .arg(link->host()));
    return;
  }
  if (exporting_.isRunning()) {
    workbench_.showMessage(tr("Another export is still being written. Try again in a moment."));
    return;
  }
  exportFile_ = QFileInfo(file).absoluteFilePath();
  QStringList words{QStringLiteral("export")};
  for (const std::int64_t run : runs) words << QString::number(run);
  words << exportFile_ << QStringLiteral("--checkpoints") << checkpoints;
  workbench_.showMessage(
      tr("Exporting %1\u2026")
          .arg(counted(static_cast<std::int64_t>(runs.size()), tr("run"), tr("runs"))));
  exporting_.askAbout(workbench_.store().file(), words);
}

void FileController::exported(const Json& report) {
  const QString folder = QFileInfo(exportFile_).absolutePath();
  workbench_.offer(
      tr("Exported %1 to %2, %3.")
          .arg(counted(stateInteger(report, "runs", 0), tr("run"), tr("runs")),
               QDir::toNativeSeparators(exportFile_),
               QString::fromStdString(formatBytes(stateInteger(report, "bytes", 0)))),
      tr("Open folder"), [folder] { QDesktopServices::openUrl(QUrl::fromLocalFile(folder)); });
}

void FileController::imported(const Json& report) {
  std::vector<std::int64_t> ids;
  std::int64_t fresh = 0;
  for (const Json& run : report.value("runs", Json::array())) {
    ids.push_back(stateInteger(run, "id", 0));
    fresh += stateFlag(run, "imported") ? 1 : 0;
  }
  workbench_.showMessage(tr("%1: %2 imported, %3 already in the database.")
                             .arg(importName_, counted(fresh, tr("run"), tr("runs")),
                                  count(static_cast<std::int64_t>(ids.size()) - fresh)));
  workbench_.watcher().poll();
  if (!ids.empty()) workbench_.selection().setRuns(ids, ids.front());
  endImport();
}

void FileController::cancelImport() {
  imports_.clear();
  if (!import_.isRunning()) return;
  import_.cancel();  // an import is one transaction per run
  workbench_.showMessage(
      tr("The import of %1 was cancelled; runs that were complete stay.").arg(importName_));
  endImport();
}

void FileController::endImport() {
  Q_EMIT importing(QString());
  if (!imports_.isEmpty()) import(imports_.takeFirst());
}

}  // namespace vitrine::ui
