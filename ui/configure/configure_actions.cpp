// Starting, saving, opening: what the buttons of the New Experiment page do.
#include <QClipboard>
#include <QFile>
#include <QFileDialog>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>

#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/configure/configure_page.h"
#include "ui/configure/document.h"
#include "ui/configure/experiment_form.h"
#include "ui/configure/wording.h"

namespace vitrine::ui {

namespace {

constexpr qint64 kLargestFile = 8 << 20;

}  // namespace

void ConfigurePage::startFrom(std::int64_t run) {
  if (run == 0) {
    workbench_.say(
        QStringLiteral("Select a run in the list first: its configuration fills the form."));
    return;
  }
  if (form_->catalog() == nullptr) {
    fromRunLater_ = run;
    return;
  }
  try {
    const RunRow row = workbench_.store().run(run);
    Problem problem;
    std::optional<Document> document =
        parseDocument(toToml(workbench_.store().config(run)), problem);
    if (!document)
      throw Error("the configuration of run " + std::to_string(run) +
                  " is no TOML: " + problem.message);
    document->title = row.experiment;
    document->wholeTables.clear();
    // Only what differs from the defaults is said, so that the bars in the form mean something.
    form_->setDocument(*document);
    const Json standard = form_->defaults();
    for (const auto& [key, value] : flatten(document->tables)) {
      const FormRow* field = form_->row(key);
      if (field == nullptr || key == "model.architecture" || key == "task.name" ||
          key == "data.dataset")
        continue;
      const Json* plain = &standard;
      for (const std::string& part : split(key, '.')) {
        plain = plain != nullptr && plain->is_object() && plain->contains(part) ? &(*plain)[part]
                                                                                : nullptr;
      }
      const Field& schema = field->editor().field();
      if (plain != nullptr && normalized(schema, *plain) == normalized(schema, value))
        document->erase(key);
    }
    setText(toText(*document));
    workbench_.say(QStringLiteral("The form shows the configuration of run #%1.").arg(run));
  } catch (const Error& error) {
    workbench_.say(QString::fromUtf8(error.what()));
  }
}

void ConfigurePage::start(QueueEnd end) {
  planNow();
  if (!start_->isEnabled()) {
    workbench_.say(QStringLiteral("Nothing was started: %1.").arg(headline_->text().toLower()));
    return;
  }
  try {
    enqueue_.start(text_, plan_.title, workbench_.store().file(), end);
    workbench_.say(QStringLiteral("Trying one step of \"%1\" before %2 put into the queue \u2026")
                       .arg(QString::fromStdString(plan_.title),
                            plan_.runs.size() == 1 ? QStringLiteral("its run is")
                                                   : QStringLiteral("its runs are")));
  } catch (const Error& error) {
    workbench_.say(QString::fromUtf8(error.what()));
  }
  showCost();
}

void ConfigurePage::onEnqueued(const std::vector<std::int64_t>& runs) {
  showCost();
  workbench_.watcher().poll();
  workbench_.queue().refresh();
  if (runs.empty()) return;
  const QueueMode mode = workbench_.queue().view().mode;
  workbench_.say(
      QStringLiteral("%1 in the queue; %2.")
          .arg(runs.size() == 1
                   ? QStringLiteral("Run #%1 is").arg(runs.front())
                   : QStringLiteral("%1 are").arg(plural(runs.size(), QStringLiteral("run"))),
               mode != QueueMode::Running
                   ? QStringLiteral("it is paused: Resume queue lets it go on")
               : runs.size() == 1 ? QStringLiteral("it goes on when the window is closed")
                                  : QStringLiteral("they go on when the window is closed")));
  workbench_.selection().setRuns(runs, runs.front());
  workbench_.showPage(QStringLiteral("monitor"));
}

void ConfigurePage::save() {
  const QString offered = origin_.isEmpty() ? QStringLiteral("experiment.toml") : origin_;
  const QString file = QFileDialog::getSaveFileName(
      this, QStringLiteral("Save experiment"), offered, QStringLiteral("Experiments (*.toml)"));
  if (file.isEmpty()) return;
  QFile target(file);
  const QByteArray bytes = QByteArray::fromStdString(text_);
  if (!target.open(QIODevice::WriteOnly) || target.write(bytes) != bytes.size() ||
      !target.flush()) {
    workbench_.say(QStringLiteral("Cannot write %1: %2.").arg(file, target.errorString()));
    return;
  }
  origin_ = file;
  workbench_.say(QStringLiteral("Saved %1.").arg(file));
}

void ConfigurePage::open() {
  const QString file = QFileDialog::getOpenFileName(
      this, QStringLiteral("Open experiment"), origin_, QStringLiteral("Experiments (*.toml)"));
  if (!file.isEmpty()) openFile(file);
}

void ConfigurePage::openFile(const QString& file) {
  QFile source(file);
  if (!source.open(QIODevice::ReadOnly)) {
    workbench_.say(QStringLiteral("Cannot open %1: %2.").arg(file, source.errorString()));
    return;
  }
  if (source.size() > kLargestFile) {
    workbench_.say(QStringLiteral("%1 is larger than 8 MiB: it is no experiment file.").arg(file));
    return;
  }
  setText(source.readAll().toStdString(), file);
  workbench_.say(QStringLiteral("Opened %1.").arg(file));
}

void ConfigurePage::copyAsCommand() {
  const QString database = QString::fromStdString(workbench_.store().file().string());
  QString quotedDatabase = database;
  quotedDatabase.replace(QLatin1Char('\''), QStringLiteral("'\\''"));
  const QString command =
      QStringLiteral("vitrine train - --db '%1' <<'TOML'\n%2%3TOML\n")
          .arg(quotedDatabase, QString::fromStdString(text_),
               text_.empty() || text_.back() != '\n' ? QStringLiteral("\n") : QString());
  QGuiApplication::clipboard()->setText(command);
  workbench_.say(QStringLiteral("The command is on the clipboard."));
}

}  // namespace vitrine::ui
