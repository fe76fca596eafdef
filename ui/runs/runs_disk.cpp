// What runs have on the disk: their folder, and checkpoints that are removed while the rest stays.
#include <QDesktopServices>
#include <QMessageBox>
#include <QPushButton>
#include <QUrl>
#include <atomic>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include "core/base/text.h"
#include "core/store/run_facts.h"
#include "ui/kit/questions.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/runs/runs_panel.h"

namespace vitrine::ui {

void RunsPanel::openFolder() {
  const store::RunRow* run = workbench_.run(workbench_.selection().current());
  if (run == nullptr) return workbench_.showMessage(tr("Select a run to open its folder."));
  if (const RemoteLink* link = workbench_.link())
    return workbench_.showMessage(
        tr("The files of run %1 are on %2.").arg(run->id).arg(link->host()));
  const std::filesystem::path folder =
      std::filesystem::absolute(store::filesFolder(workbench_.store().file())) /
      store::runFolderName(run->uuid);
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    return workbench_.showMessage(
        tr("Run %1 has no files yet: its log and its checkpoints come with its first steps.")
            .arg(run->id));
  const QString place = QString::fromStdString(folder.string());
  if (QDesktopServices::openUrl(QUrl::fromLocalFile(place)))
    workbench_.showMessage(tr("Opened %1.").arg(place));
  else
    workbench_.showError(tr("No program opens the folder %1.").arg(place));
}

std::vector<std::int64_t> RunsPanel::endedTargets() const {
  std::vector<std::int64_t> ended;
  for (const std::int64_t id : workbench_.selection().targets()) {
    const store::RunRow* row = workbench_.run(id);
    if (row != nullptr && StudioWorkbench::canDelete(*row)) ended.push_back(id);
  }
  return ended;
}

void RunsPanel::askWithBytes(const std::vector<std::int64_t>& runs,
                             const std::function<void(std::int64_t bytes)>& ask) {
  disk_.run([of = std::set<std::int64_t>(runs.begin(), runs.end()), ask](
                store::RunReader& store, const std::atomic<bool>&) -> Background::Finish {
    std::int64_t bytes = 0;
    for (const auto& [run, size] :
         store::checkpointBytes([&store](const std::string& sql) { return store.query(sql); }, of))
      bytes += size;
    return [ask, bytes] { ask(bytes); };
  });
}

void RunsPanel::askPrune() {
  if (const RemoteLink* link = workbench_.link())
    return workbench_.showError(
        tr("Checkpoints are deleted where the database is: run `vitrine db prune` on %1.")
            .arg(link->host()));
  if (pruning_.isRunning())
    return workbench_.showMessage(
        tr("Checkpoints are still being deleted. Try again in a moment."));
  const std::vector<std::int64_t> ended = endedTargets();
  if (ended.empty()) return workbench_.showMessage(tr("Select a run that has ended."));
  askWithBytes(ended, [this, ended](std::int64_t bytes) { confirmPrune(ended, bytes); });
}

void RunsPanel::confirmPrune(const std::vector<std::int64_t>& ended, std::int64_t bytes) {
  if (bytes == 0) return workbench_.showMessage(tr("The selected runs have no checkpoints."));
  QMessageBox question(QMessageBox::NoIcon, tr("Delete checkpoints"),
                       tr("Delete the checkpoints of %1, %2?")
                           .arg(counted(std::ssize(ended), tr("run"), tr("runs")),
                                QString::fromStdString(formatBytes(bytes))),
                       QMessageBox::Cancel, this);
  question.setTextFormat(Qt::PlainText);
  question.setInformativeText(
      tr("Curves, artifacts and logs stay. A run without checkpoints cannot be resumed, evaluated "
         "or analysed. This cannot be undone."));
  QPushButton* const others = question.addButton(tr("Keep the best"), QMessageBox::AcceptRole);
  const QPushButton* all =
      asDangerous(question.addButton(tr("Delete all"), QMessageBox::DestructiveRole));
  question.setDefaultButton(QMessageBox::Cancel);
  question.exec();
  const QAbstractButton* clicked = question.clickedButton();
  if (clicked != all && clicked != others) return;
  QStringList words{QStringLiteral("db"), QStringLiteral("prune")};
  for (const std::int64_t id : ended) words << QString::number(id);
  words << QStringLiteral("--keep")
        << (clicked == all ? QStringLiteral("none") : QStringLiteral("best"))
        << QStringLiteral("--yes");
  pruning_.askAbout(workbench_.store().file(), words);
}

void RunsPanel::pruned(const Json& report) {
  std::int64_t checkpoints = 0, bytes = 0;
  QStringList kept;
  for (const Json& run : stateList(report, "runs")) {
    checkpoints += run.value("checkpoints", std::int64_t{0});
    bytes += run.value("bytes", std::int64_t{0});
    const std::string refusal = run.value("refusal", std::string());
    if (!refusal.empty())
      kept << tr("run %1: %2")
                  .arg(run.value("run", std::int64_t{0}))
                  .arg(QString::fromStdString(refusal));
  }
  QString sentence = tr("Deleted %1, %2.")
                         .arg(counted(checkpoints, tr("checkpoint"), tr("checkpoints")),
                              QString::fromStdString(formatBytes(bytes)));
  if (!kept.isEmpty())
    sentence += QLatin1Char(' ') + tr("Not deleted: %1.").arg(kept.join(QStringLiteral("; ")));
  workbench_.watcher().poll();
  workbench_.showMessage(sentence);
}

}  // namespace vitrine::ui
