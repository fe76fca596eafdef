// Shows the results of the planner and of `vitrine check` next to fields, in the text and in the
// footer.
#include <QAction>
#include <QApplication>
#include <QCompleter>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <algorithm>
#include <map>

#include "core/base/text.h"
#include "core/config/edit/document.h"
#include "core/config/edit/toml_outline.h"
#include "ui/configure/configure_page.h"
#include "ui/configure/form/experiment_form.h"
#include "ui/configure/form/sweep_editor.h"
#include "ui/configure/form/wording.h"
#include "ui/configure/plan/changes_view.h"
#include "ui/configure/plan/planned_runs.h"
#include "ui/configure/plan/side_panel.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/workbench/page_commands.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {

namespace {

/// "3.7 MFLOP", by the convention of `vitrine check`: a multiply-add counts as two.
QString flopText(double flops) {
  static const struct {
    double size;
    const char* unit;
  } kScales[] = {{1e12, "TFLOP"}, {1e9, "GFLOP"}, {1e6, "MFLOP"}, {1e3, "kFLOP"}};
  for (const auto& scale : kScales) {
    if (flops >= scale.size)
      return number(flops / scale.size, 1) + QChar(0x2009) + QString::fromLatin1(scale.unit);
  }
  return number(flops, 0) + QStringLiteral("\u2009FLOP");
}

constexpr const char* kExcludeLink = "exclude";  // no field has this key

/// Of a key that the sweep varies, the axis is wrong: the field has a value that no run takes.
Problem ofAxis(const Document& document, Problem problem) {
  if (document.axis(problem.key) != nullptr) problem.key = "sweep." + problem.key;
  return problem;
}

/// "0.4 GB"; from `vitrine check` or a run.
QString forecastMemory(double bytes) { return QString::fromStdString(formatBytes(bytes)); }

}  // namespace

void ConfigurePage::showWorking() {
  if (!planner_.isBusy()) return;
  workingTimer_.stop();
  side_->setPlannedRuns(side_->plannedRunsTitle(), tr("working \u2026"));
  details_->setTextFormat(Qt::PlainText);
  details_->setText(tr("planning the runs \u2026"));
  details_->setToolTip(QString());
  details_->show();
}

int ConfigurePage::variantOf(const Problem& problem) const {
  return problem.line > 0 ? variantAt(text_, problem.line) : -1;
}

void ConfigurePage::showPlan() {
  if (form_->catalog() == nullptr) return;
  std::vector<Problem> problems;
  for (const Problem& problem : plan_->problems)
    problems.push_back(ofAxis(form_->document(), problem));
  if (syntax_ && problems.empty()) problems.push_back(*syntax_);
  // A field says what the first run has: what a variant makes wrong stands next to the variant.
  std::map<int, QString> ofVariants;
  std::vector<Problem> ofFields;
  for (const Problem& problem : problems) {
    const int variant = variantOf(problem);
    if (variant < 0) {
      ofFields.push_back(problem);
      continue;
    }
    QString& text = ofVariants[variant];
    if (!text.isEmpty()) text += QLatin1Char('\n');
    text += sentenceOf(problem);
  }
  form_->showProblems(ofFields);
  side_->showProblems(problems);
  side_->sweep().showVariantProblems(ofVariants);
  QStringList keys;
  for (const auto& entry : flatten(form_->merged())) keys << QString::fromStdString(entry.first);
  side_->sweep().setKeys(keys);
  form_->setGridKeys(keys);
  form_->showRuns(*plan_);
  side_->plannedRuns().runs().setPlan(plan_);
  showSourceRuns();
  showForecast();
}

void ConfigurePage::showForecast() {
  if (isForecast_) side_->plannedRuns().runs().setForecast(forecast_, workbench_.runs());
  const std::size_t runs = plan_->total;
  int made = 0;
  int twice = 0;
  for (const RunForecast& one : forecast_.runs) {
    made += one.existing != 0 ? 1 : 0;
    twice += one.sameAs >= 0 ? 1 : 0;
  }
  QStringList note;
  if (isForecast_) {
    if (forecast_.seconds > 0)
      note << tr("%1 in all, %2").arg(aboutDuration(forecast_.seconds), forecast_.timeSource);
    if (made > 0)
      note << (made == static_cast<int>(forecast_.runs.size())
                   ? tr("already queued or run")
                   : tr("%1 already queued or run").arg(count(made)));
    if (twice > 0) note << tr("%1 the same as another here").arg(count(twice));
  }
  if (const auto out = static_cast<std::int64_t>(plan_->excluded.size()); out > 0)
    note.prepend(tr("%1 excluded").arg(count(out)));
  if (runs > plan_->runs.size()) {
    note.prepend(
        tr("the first %1 are listed").arg(count(static_cast<std::int64_t>(plan_->runs.size()))));
  }
  side_->setPlannedRuns(runs == 0
                            ? tr("Planned runs")
                            : tr("Planned runs: %1").arg(count(static_cast<std::int64_t>(runs))),
                        note.join(QStringLiteral(" \u00b7 ")));
  showChanges();
  showCost();
  showNotice();
}

void ConfigurePage::showChanges() {
  if (form_->catalog() == nullptr) return;
  const Json now = plan_->runs.empty() ? form_->merged() : plan_->runs.front().config;
  ChangesView& changes = side_->changes();
  Json before = form_->defaults();
  QString note;
  if (changes.against() != ChangesView::Against::Defaults) {
    const bool isNearest = changes.against() == ChangesView::Against::Nearest;
    const std::int64_t run = isNearest ? (isForecast_ ? forecast_.nearest : 0) : changes.run();
    const store::RunRow* row = run == 0 ? nullptr : workbench_.run(run);
    if (row == nullptr) {
      changes.show(
          {},
          isNearest ? tr("There is no earlier run to compare with.")
                    : tr("That run was deleted."),
          {});
      return;
    }
    const Json* stored = stored_.config(run);
    if (stored == nullptr) {
      changes.show({}, tr("Reading run #%1 \u2026").arg(run), {});
      return;  // comes back when it is read
    }
    before = *stored;
    note =
        tr("run #%1 \u201c%2\u201d, %3")
            .arg(run)
            .arg(QString::fromStdString(row->name), QString::fromStdString(toString(row->state)));
    if (isNearest) note += tr(": the most similar run");
  }
  const std::vector<Difference> different = difference(before, now);
  std::vector<std::pair<std::string, Json>> same;
  if (changes.showsAll()) {
    for (auto& [key, value] : flatten(now)) {
      const bool isOther =
          std::any_of(different.begin(), different.end(),
                      [&key = key](const Difference& one) { return one.key == key; });
      if (!isOther) same.emplace_back(key, value);
    }
  }
  changes.show(different, note, same);
}

void ConfigurePage::showNotice() {
  noticeOpen_->setVisible(!syntax_);
  // That runs are there already is a fact, as after every Start; text that is not TOML is a fault.
  restyle(*noticeText_, "role", syntax_ ? QStringLiteral("warn") : QString());
  if (syntax_) {
    noticeText_->setText(tr("Line %1 of the text: %2. The form can be edited again once the "
                            "text is corrected.")
                             .arg(syntax_->line)
                             .arg(QString::fromStdString(syntax_->message)));
    noticeSeed_->hide();
    notice_->show();
    return;
  }
  const std::size_t runs = plan_->runs.size();
  std::size_t made = 0;
  for (const RunForecast& one : forecast_.runs) made += one.existing != 0 ? 1 : 0;
  const bool isShown = isForecast_ && runs > 0 && made == runs && forecast_.runs.size() == runs;
  notice_->setVisible(isShown);
  if (!isShown) return;
  if (runs == 1) {
    const std::int64_t id = forecast_.runs.front().existing;
    const store::RunRow* row = workbench_.run(id);
    noticeText_->setText(
        tr("Already queued or run: #%1 (%2) has this configuration.")
            .arg(id)
            .arg(row == nullptr ? QString() : QString::fromStdString(toString(row->state))));
    noticeOpen_->setText(tr("Open run #%1").arg(id));
    noticeSeed_->setText(tr("Use seed %1").arg(forecast_.freeSeed));
    noticeSeed_->setToolTip(tr("The first seed that no run has with the rest as it is"));
  } else {
    noticeText_->setText(
        tr("All %1 runs are already queued or run.").arg(count(static_cast<std::int64_t>(runs))));
    noticeOpen_->setText(tr("Open them"));
  }
  noticeSeed_->setVisible(runs == 1);
}

void ConfigurePage::showSourceRuns() {
  for (const std::string& table : form_->sourceTables()) showSourceRun(table);
}

void ConfigurePage::showSourceRun(const std::string& table) {
  FormRow* field = form_->row(table + ".run");
  if (field == nullptr) return;
  const std::string uuid = form_->document().text(table + ".run");
  QString note;
  QStringList steps{QStringLiteral("latest"), QStringLiteral("best")};
  for (const auto& [id, row] : workbench_.runs()) {
    if (uuid.empty() || row.uuid != uuid) continue;
    note = tr("run #%1 \u201c%2\u201d, %3, at step %4")
               .arg(id)
               .arg(QString::fromStdString(row.name), QString::fromStdString(toString(row.state)),
                    count(row.step));
    if (const auto* saved = stored_.checkpoints(id, row.latestCheckpoint); saved != nullptr) {
      for (const std::int64_t step : *saved) steps << QString::number(step);
    }
    break;
  }
  field->setNote(note);
  FormRow* checkpoint = form_->row(table + ".checkpoint");
  auto* line =
      checkpoint == nullptr ? nullptr : qobject_cast<QLineEdit*>(checkpoint->editor().input());
  if (line == nullptr) return;
  checkpoint->setNote(steps.size() > 2
                          ? tr("latest, best or a step: ") + steps.mid(2).join(QStringLiteral(", "))
                          : QString());
  if (line->completer() == nullptr ||
      line->completer()->property("steps").toStringList() != steps) {
    auto* completer = new QCompleter(steps, line);
    completer->setProperty("steps", steps);
    connect(completer, qOverload<const QString&>(&QCompleter::activated), line,
            &QLineEdit::textEdited);
    line->setCompleter(completer);
  }
}

void ConfigurePage::showHistory() {
  const auto show = [](QAction* action, bool isOn, const QString& verb, const QString& label) {
    action->setEnabled(isOn);
    action->setProperty(kWhyNot, isOn ? QString() : tr("there is no such step"));
    action->setToolTip(label.isEmpty() ? verb : verb + QStringLiteral(": ") + label);
  };
  show(undoAction_, history_.canUndo(), tr("Undo"), history_.undoLabel());
  show(redoAction_, history_.canRedo(), tr("Redo"), history_.redoLabel());
}

void ConfigurePage::showOrigin() {
  originLabel_->setVisible(!origin_.isEmpty());
  const auto saved = saved_.find(origin_);
  const bool isSaved = saved != saved_.end() && saved->second == text_;
  originLabel_->setText(origin_ + (isSaved ? QString() : tr(" \u00b7 changed")));
}

void ConfigurePage::showCost() {
  // What cannot be read of the sweep's lines is not in the text: the planner knows nothing of it.
  const QStringList unread = side_->sweep().unread() + form_->unread();
  const bool isSound =
      !syntax_ && plan_->problems.empty() && !plan_->runs.empty() && unread.isEmpty();
  const bool canStart = isSound && !enqueue_.isRunning() && !wanted_;
  const QWidget* focused = QApplication::focusWidget();
  for (QPushButton* button : {start_, queue_, front_}) {
    if (!canStart && button == focused) pressed_ = button;  // the focus goes to another one
    button->setEnabled(canStart);
  }
  if (canStart && pressed_ != nullptr) {
    const QWidget* now = QApplication::focusWidget();
    if (now == nullptr || start_->parentWidget()->isAncestorOf(now)) pressed_->setFocus();
    pressed_ = nullptr;
  }
  for (QAction* action : {startAction_, queueAction_, frontAction_})
    action->setProperty(kWhyNot, canStart  ? QString()
                                 : wanted_ ? tr("the runs are checked")
                                 : isSound ? tr("one step of the runs is tried")
                                           : tr("the form has problems"));
  QStringList details;
  QStringList warnings;
  if (!isSound) {
    const std::size_t problems = plan_->problems.size() + static_cast<std::size_t>(unread.size());
    headline_->setText(
        tr("Not ready: %1").arg(plural(std::max<std::size_t>(problems, 1), tr("problem"))));
    QStringList sentences = unread;
    std::string first;  // with a field
    const QStringList names = side_->sweep().variantNames();
    for (const Problem& each : plan_->problems) {
      const Problem problem = ofAxis(form_->document(), each);
      if (const int variant = variantOf(problem); variant >= 0 && variant < names.size()) {
        sentences << tr("In the variant \u201c%1\u201d: %2")
                         .arg(names[variant], sentenceOf(problem));
      } else if (!form_->shows(problem.key)) {
        sentences << sentenceOf(problem);
      } else if (first.empty()) {
        first = problem.key;
      }
    }
    if (syntax_ && sentences.isEmpty()) {
      sentences
          << tr("line %1: %2").arg(syntax_->line).arg(QString::fromStdString(syntax_->message));
    }
    for (QString& sentence : sentences) sentence = sentence.toHtmlEscaped();
    const bool isExclude =
        std::any_of(plan_->problems.begin(), plan_->problems.end(), [](const Problem& problem) {
          return problem.key == "exclude" || problem.key.starts_with("exclude.");
        });
    if (isExclude && !syntax_) {
      sentences << tr("<a href='%1' style='color:%2'>Include these runs</a>")
                       .arg(QString::fromLatin1(kExcludeLink), themeColors().accent.name());
    }
    if (!first.empty()) {
      sentences << tr("Correct the fields in red: <a href='%1' style='color:%2'>show the "
                      "first</a>")
                       .arg(QString::fromStdString(first), themeColors().accent.name());
    }
    details_->setTextFormat(Qt::RichText);
    details_->setText(sentences.join(QStringLiteral("<br>")));
    details_->show();
    warning_->hide();
    return;
  }
  headline_->setText((wanted_                ? tr("Checking %1 before the start")
                      : enqueue_.isRunning() ? tr("Trying one step of %1")
                                             : tr("This will start %1"))
                         .arg(plural(plan_->total, tr("run"))));
  const QStringList factors = SweepEditor::factors(form_->document());
  if (!factors.isEmpty()) details << factors.join(QStringLiteral(" \u00d7 "));
  if (!factors.isEmpty() && !plan_->excluded.empty())
    details.last() +=
        tr(", %1 excluded").arg(count(static_cast<std::int64_t>(plan_->excluded.size())));
  QStringList sources;
  if (isForecast_ && forecast_.seconds > 0) {
    details << aboutDuration(forecast_.seconds);
    if (static_cast<std::size_t>(forecast_.timed) < plan_->total)
      details.last() += tr(" for %1 of them").arg(count(forecast_.timed));
    sources << tr("Time ") + forecast_.timeSource;
  } else if (isForecast_) {
    details << tr("time unknown");
    sources << forecast_.unknown;
  }
  if (isForecast_ && forecast_.memoryBytes > 0) {
    details << forecastMemory(forecast_.memoryBytes) + tr(" memory");
    if (plan_->runs.size() > 1) details.last() += tr(" at most");
    sources << tr("Memory ") + forecast_.memorySource;
  }
  if (report_ && report_->contains("totals") && (*report_)["totals"].is_object()) {
    const Json& totals = (*report_)["totals"];
    details << count(totals.value("parameters", std::int64_t{0})) + tr(" parameters");
    details << flopText(totals.value("flops", 0.0)) + tr(" per sample");
    if (plan_->runs.size() > 1) details.last() += tr(" (first run)");
  } else if (!costProblem_.isEmpty()) {
    warnings << costProblem_;
  } else {
    details << tr("counting parameters \u2026");
  }
  if (report_) {
    for (const char* key : {"problems", "warnings"}) {
      if (!report_->contains(key)) continue;
      for (const Json& entry : (*report_)[key]) {
        warnings << QString::fromStdString(
            entry.is_string() ? entry.get<std::string>() : entry.value("message", std::string()));
      }
    }
  }
  details_->setTextFormat(Qt::PlainText);
  details_->setText(details.join(QStringLiteral(" \u00b7 ")) +
                    (sources.isEmpty() || isShort()
                         ? QString()
                         : QLatin1Char('\n') + sources.join(QStringLiteral(". "))));
  // Where there is no room for it, the ground of the numbers is their tool tip.
  details_->setToolTip(isShort() ? sources.join(QStringLiteral(". ")) : QString());
  details_->setVisible(!details.isEmpty());
  sayIn(*warning_, warnings.join(QLatin1Char('\n')));
}

}  // namespace vitrine::ui
