// Starting, saving, opening: what the buttons of the New Experiment page do.
#include <QClipboard>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/config/edit/document.h"
#include "core/config/edit/train_command.h"
#include "core/config/lookup.h"
#include "core/config/train_schema.h"
#include "ui/configure/configure_page.h"
#include "ui/configure/form/experiment_form.h"
#include "ui/configure/form/run_picker.h"
#include "ui/configure/form/sweep_editor.h"
#include "ui/configure/form/wording.h"
#include "ui/configure/plan/side_panel.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/questions.h"
#include "ui/kit/theme.h"
#include "ui/workbench/figure_file.h"

namespace vitrine::ui {

namespace {

constexpr qint64 kLargestFile = 8 << 20;

/// What the file has now; nothing where it has no name, or cannot be read.
std::optional<std::string> textOnDisk(const QString& file) {
  QFile source(file);
  if (file.isEmpty() || !source.open(QIODevice::ReadOnly) || source.size() > kLargestFile)
    return {};
  return source.readAll().toStdString();
}

}  // namespace

void ConfigurePage::startFrom(std::int64_t run) {
  if (run == 0) {
    workbench_.showMessage(tr("Select a run in the list first: its configuration fills the form."));
    return;
  }
  if (form_->catalog() == nullptr) {
    fromRunLater_ = run;
    return;
  }
  const Json* stored = stored_.config(run);
  if (stored == nullptr) {
    fromRunLater_ = run;  // until it is read
    return;
  }
  workbench_.attempt([&] {
    Problem problem;
    std::optional<Document> document = parseDocument(toToml(withOwnTrainKeys(*stored)), problem);
    if (!document)
      throw Error("the configuration of run " + std::to_string(run) +
                  " is not TOML: " + problem.message);
    if (const store::RunRow* row = workbench_.run(run); row != nullptr)
      document->title = row->experiment;
    // Only what differs from preset and defaults is said: the bars in the form mean something then.
    form_->setDocument(*document);
    const Json standard = form_->withPreset();
    for (const auto& [key, value] : flatten(document->tables)) {
      const FormRow* field = form_->row(key);
      if (field == nullptr || key == "model.architecture" || key == "model.preset" ||
          key == "task.name" || key == "data.dataset")
        continue;
      const Json* plain = valueAt(standard, key);
      const Field& schema = field->editor().field();
      if (plain != nullptr && normalized(schema, *plain) == normalized(schema, value))
        document->erase(key);
    }
    setText(toText(*document));
    workbench_.showMessage(tr("The form shows the configuration of run #%1.").arg(run));
  });
}

void ConfigurePage::cloneRun() {
  RunPicker picker(tr("Clone a run"), workbench_.runs(), nullptr, this);
  if (picker.exec() == QDialog::Accepted && picker.picked() != 0) startFrom(picker.picked());
}

void ConfigurePage::start(jobs::QueueEnd end) { enqueue(end, Afterwards::ShowRuns); }

void ConfigurePage::queueUp() { enqueue(jobs::QueueEnd::Back, Afterwards::Stay); }

void ConfigurePage::enqueue(jobs::QueueEnd end, Afterwards afterwards) {
  if (isPlanPending()) {  // what was typed last counts: enqueueWhenReady() comes back here
    wanted_ = {end, afterwards};
    askPlan();
    return;
  }
  if (!start_->isEnabled()) {
    workbench_.showError(tr("Nothing was started. %1.").arg(headline_->text()));
    return;
  }
  if (!report_) {  // the plan that is stored is the one that was checked
    wanted_ = {end, afterwards};
    checkTimer_.stop();
    if (!check_.isRunning()) check_.ask(text_);
    showCost();
    return;
  }
  const Json problems = report_->value("problems", Json::array());
  if (!problems.empty()) {
    workbench_.showError(
        tr("Nothing was started: %1")
            .arg(QString::fromStdString(problems.front().value("sentence", std::string()))));
    return;
  }
  workbench_.attempt([&] {
    enqueue_.startPlan(*report_, plan_->title, workbench_.store().file(), end);
    afterwards_ = afterwards;
    workbench_.showMessage(
        tr("Trying one step of \u201c%1\u201d before %2 put into the queue \u2026")
            .arg(QString::fromStdString(plan_->title),
                 plan_->runs.size() == 1 ? tr("its run is") : tr("its runs are")));
  });
  showCost();
}

void ConfigurePage::onEnqueued(const std::vector<std::int64_t>& runs) {
  showCost();
  workbench_.watcher().poll();
  workbench_.queue().refresh();
  if (runs.empty()) return;
  const store::QueueMode mode = workbench_.queue().view().mode;
  const bool isOne = runs.size() == 1;
  const QString who = isOne ? tr("run #%1").arg(runs.front()) : plural(runs.size(), tr("run"));
  QString sentence = tr("Queued %1. It keeps running if you close the window.");
  if (!isOne) sentence = tr("Queued %1. They keep running if you close the window.");
  if (mode != store::QueueMode::Running)
    sentence = tr("Queued %1. The queue is paused: Resume queue starts it.");
  workbench_.showMessage(sentence.arg(who));
  askForecast();
  if (afterwards_ == Afterwards::Stay) return;
  awaited_ = runs;
  showAwaited();
}

void ConfigurePage::showAwaited() {
  const auto isHere = [this](std::int64_t run) { return workbench_.runs().count(run) > 0; };
  if (awaited_.empty() || !std::all_of(awaited_.begin(), awaited_.end(), isHere)) return;
  const std::vector<std::int64_t> runs = std::exchange(awaited_, {});
  workbench_.selection().setRuns(runs, runs.front());
  workbench_.showPage(QStringLiteral("monitor"));
}

void ConfigurePage::save() {
  if (origin_.isEmpty()) {
    saveAs();
  } else if (isOthersWork(origin_)) {
    workbench_.showError(tr("%1 was changed by another program since it was read here, and was not "
                            "saved. Save it under another name, or save again to overwrite it.")
                             .arg(origin_));
  } else if (writeTo(origin_)) {
    workbench_.showMessage(tr("Saved %1.").arg(origin_));
  }
}

void ConfigurePage::saveAs() {
  const QString offered = origin_.isEmpty() ? QStringLiteral("experiment.toml") : origin_;
  const QString file =
      askSaveFile(this, tr("Save experiment"), offered, tr("Experiments (*.toml)"));
  if (!file.isEmpty() && writeTo(file)) workbench_.showMessage(tr("Saved %1.").arg(file));
}

bool ConfigurePage::isOthersWork(const QString& file) {
  // One that is gone is written again; one that cannot be read says so when it is written.
  const std::optional<std::string> there = textOnDisk(file);
  const auto known = saved_.find(file);
  if (!there || known == saved_.end() || known->second == *there) return false;
  return std::exchange(warnedOf_, *there) != *there;
}

bool ConfigurePage::writeTo(const QString& file) {
  bool isWritten = false;
  workbench_.attempt([&] {
    writeFile(file, QByteArray::fromStdString(text_));
    isWritten = true;
  });
  if (!isWritten) return false;
  origin_ = file;
  saved_[file] = text_;
  history_.setOrigin(file);
  showOrigin();
  return true;
}

void ConfigurePage::open() {
  const QString file = QFileDialog::getOpenFileName(this, tr("Open experiment"), origin_,
                                                    tr("Experiments (*.toml)"));
  if (!file.isEmpty()) openFile(file);
}

void ConfigurePage::openFile(const QString& file) {
  QFile source(file);
  if (!source.open(QIODevice::ReadOnly)) {
    workbench_.showError(tr("Cannot open %1: %2.").arg(file, source.errorString()));
    return;
  }
  if (source.size() > kLargestFile) {
    workbench_.showError(tr("%1 is larger than 8 MiB: it is not an experiment file.").arg(file));
    return;
  }
  setText(source.readAll().toStdString(), file);
  workbench_.showMessage(tr("Opened %1.").arg(file));
}

void ConfigurePage::copyAsCommand() {
  if (form_->catalog() == nullptr) return;
  // What a terminal would read: the file as it is on the disk now.
  const std::optional<std::string> there = textOnDisk(origin_);
  const std::string base = there.value_or("");
  const std::string path = there ? QFileInfo(origin_).absoluteFilePath().toStdString() : "";
  command_.run(
      [this, text = text_, path, base, database = workbench_.store().file().string(),
       catalog = catalog_](store::RunReader&, const std::atomic<bool>&) -> Background::Finish {
        const std::string command = trainCommand(text, path, base, database, *catalog);
        return [this, command] {
          QGuiApplication::clipboard()->setText(QString::fromStdString(command));
          workbench_.showMessage(tr("The command is on the clipboard."));
        };
      });
}

void ConfigurePage::find() {
  search_->setFocus(Qt::ShortcutFocusReason);
  search_->selectAll();
}

void ConfigurePage::reveal(const std::string& key) {
  if (key == "exclude") {
    dropEmptyExcludes();
    return;
  }
  QWidget* place = form_->place(key);
  if (place == nullptr) {
    workbench_.showMessage(
        tr("%1 has no field; edit it in the TOML.").arg(QString::fromStdString(key)));
    return;
  }
  search_->clear();
  form_->reveal(place);
  layOutNow();
  FormRow* row = form_->row(key);
  scroll_->ensureWidgetVisible(row != nullptr ? static_cast<QWidget*>(row) : place, 0, px(80));
  place->setFocus(Qt::ShortcutFocusReason);
}

void ConfigurePage::useFreeSeed() {
  Document document = form_->document();
  side_->sweep().applyTo(document);
  const auto seed = static_cast<std::int64_t>(forecast_.freeSeed);
  const bool isSwept = document.axis("train.seed") != nullptr;
  for (Document::Axis& axis : document.sweep) {
    if (axis.key == "train.seed") axis.values = {seed};
  }
  if (!isSwept) document.set("train.seed", seed);
  applyDocument(document, tr("seed"));
}

void ConfigurePage::exclude(const std::vector<int>& rows) {
  Document document = form_->document();
  side_->sweep().applyTo(document);
  QString label;
  int left = 0;
  for (const int at : rows) {
    if (at < 0 || static_cast<std::size_t>(at) >= plan_->runs.size()) continue;
    const PlannedRun& run = plan_->runs[static_cast<std::size_t>(at)];
    const Document::Exclude exclude = excludeOf(document, run.variant, run.point);
    // The stages of a chain go together.
    if (exclude.empty() || std::find(document.excludes.begin(), document.excludes.end(), exclude) !=
                               document.excludes.end())
      continue;
    document.excludes.push_back(exclude);
    label = QString::fromStdString(run.name);
    ++left;
  }
  const bool isAll = std::all_of(plan_->runs.begin(), plan_->runs.end(), [&](const auto& run) {
    return std::any_of(document.excludes.begin(), document.excludes.end(),
                       [&](const auto& one) { return isExcludedBy(one, run.variant, run.point); });
  });
  if (left == 0 || (isAll && plan_->total == plan_->runs.size())) {
    workbench_.showMessage(tr("One run must stay: change the form instead."));
    return;
  }
  applyDocument(document, left == 1 ? tr("exclude ") + label : tr("exclude %1 runs").arg(left));
}

void ConfigurePage::include(const std::vector<int>& rows) {
  Document document = form_->document();
  side_->sweep().applyTo(document);
  for (const int at : rows) {
    if (at >= 0 && static_cast<std::size_t>(at) < plan_->excluded.size())
      vitrine::include(document, plan_->excluded, static_cast<std::size_t>(at));
  }
  applyDocument(document, tr("include excluded runs"));
}

void ConfigurePage::dropEmptyExcludes() {
  Document document = form_->document();
  side_->sweep().applyTo(document);
  const auto isMeant = [&document](const std::pair<std::string, Json>& entry) {
    if (entry.first == "variant") {
      return std::any_of(document.variants.begin(), document.variants.end(),
                         [&](const auto& variant) { return entry.second == variant.name; });
    }
    const Document::Axis* axis = document.axis(entry.first);
    return axis != nullptr &&
           std::find(axis->values.begin(), axis->values.end(), entry.second) != axis->values.end();
  };
  std::vector<Document::Exclude> kept;
  for (const Document::Exclude& exclude : document.excludes) {
    if (!exclude.empty() && std::all_of(exclude.begin(), exclude.end(), isMeant) &&
        std::find(kept.begin(), kept.end(), exclude) == kept.end())
      kept.push_back(exclude);
  }
  // Where each of them means runs, it is all of them together that leave none.
  if (kept.size() == document.excludes.size()) kept.clear();
  document.excludes = std::move(kept);
  document.rest.erase("exclude");  // one that was not a list of tables
  applyDocument(document, tr("include excluded runs"));
}

void ConfigurePage::chooseSourceRun(const std::string& table) {
  const bool isInit = table == "init";
  RunPicker picker(
      isInit ? tr("Start from a run") : tr("Run for %1").arg(QString::fromStdString(table)),
      workbench_.runs(), [](const store::RunRow& row) { return row.latestCheckpoint >= 0; }, this);
  if (picker.exec() != QDialog::Accepted || picker.picked() == 0) return;
  const store::RunRow* row = workbench_.run(picker.picked());
  if (row == nullptr) return;
  Document document = form_->document();
  side_->sweep().applyTo(document);
  document.erase(table + ".weights");  // one of both
  document.erase(table + ".model");    // a run knows its own
  document.set(table + ".run", row->uuid);
  applyDocument(document, (isInit ? tr("start from run #%1") : tr("source: run #%1")).arg(row->id));
}

void ConfigurePage::chooseSourceWeights(const std::string& table) {
  const QString title = table == "init" ? tr("Start from weights")
                                        : tr("Weights for %1").arg(QString::fromStdString(table));
  const QString file = QFileDialog::getOpenFileName(this, title, QString(),
                                                    tr("Weights (*.safetensors);;All files (*)"));
  if (file.isEmpty()) return;
  Document document = form_->document();
  side_->sweep().applyTo(document);
  document.erase(table + ".run");
  document.set(table + ".weights", file.toStdString());
  applyDocument(document, table == "init" ? tr("start from a file") : tr("source: a file"));
}

void ConfigurePage::renameTable(const std::string& place, const std::string& from,
                                const std::string& to) {
  Document document = form_->document();
  side_->sweep().applyTo(document);
  document.rename(place, from, to);
  applyDocument(document, tr("name %1").arg(QString::fromStdString(to)));
}

}  // namespace vitrine::ui
