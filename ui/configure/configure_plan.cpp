// What the planner and `vitrine check` said, shown beside fields, in the text and in the footer.
#include <QLabel>
#include <QPushButton>

#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/configure/configure_page.h"
#include "ui/configure/document.h"
#include "ui/configure/experiment_form.h"
#include "ui/configure/side_panel.h"
#include "ui/configure/sweep_editor.h"
#include "ui/configure/wording.h"

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

}  // namespace

void ConfigurePage::showPlan() {
  if (form_->catalog() == nullptr) return;
  std::vector<Problem> problems = plan_.problems;
  if (syntax_ && problems.empty()) problems.push_back(*syntax_);
  form_->showProblems(problems);
  side_->showProblems(problems);
  QStringList keys;
  for (const auto& entry : flatten(form_->merged())) keys << QString::fromStdString(entry.first);
  side_->sweep().setKeys(keys);
  showChanges();
  showCost();
}

void ConfigurePage::showChanges() {
  if (form_->catalog() == nullptr) return;
  const Json now = plan_.runs.empty() ? form_->merged() : plan_.runs.front().config;
  Json before = form_->defaults();
  if (side_->against() == SidePanel::Against::Run) {
    try {
      before = workbench_.store().config(workbench_.selection().current());
    } catch (const Error& error) {
      workbench_.say(QString::fromUtf8(error.what()));
      return;
    }
  }
  side_->showChanges(difference(before, now));
}

void ConfigurePage::showCost() {
  const bool isSound = !syntax_ && plan_.problems.empty() && !plan_.runs.empty();
  for (QPushButton* button : {start_, front_}) button->setEnabled(isSound && !enqueue_.isRunning());
  QStringList details;
  QStringList warnings;
  if (!isSound) {
    const std::size_t problems = plan_.problems.empty() ? 1 : plan_.problems.size();
    headline_->setText(
        QStringLiteral("Not ready: %1").arg(plural(problems, QStringLiteral("problem"))));
    QStringList sentences;
    for (const Problem& problem : plan_.problems) {
      if (form_->row(problem.key) == nullptr) {
        sentences << (problem.key.empty()
                          ? QString()
                          : QString::fromStdString(problem.key) + QStringLiteral(": ")) +
                         QString::fromStdString(problem.message);
      }
    }
    if (syntax_ && sentences.isEmpty()) {
      sentences << QStringLiteral("line %1: %2")
                       .arg(syntax_->line)
                       .arg(QString::fromStdString(syntax_->message));
    }
    details_->setText(sentences.isEmpty() ? QStringLiteral("The fields in red say what to change.")
                                          : sentences.join(QLatin1Char('\n')));
    details_->show();
    warning_->hide();
    return;
  }
  headline_->setText((enqueue_.isRunning() ? QStringLiteral("Trying one step of %1")
                                           : QStringLiteral("This will start %1"))
                         .arg(plural(plan_.runs.size(), QStringLiteral("run"))));
  const QStringList factors = SweepEditor::factors(form_->document());
  if (!factors.isEmpty()) details << factors.join(QStringLiteral(" \u00d7 "));
  if (report_ && report_->contains("totals") && (*report_)["totals"].is_object()) {
    const Json& totals = (*report_)["totals"];
    details << QString::fromStdString(formatBytes(totals.value("memory_bytes", 0.0))) +
                   QStringLiteral(" memory");
    details << count(totals.value("parameters", std::int64_t{0})) + QStringLiteral(" parameters");
    details << flopText(totals.value("flops", 0.0)) + QStringLiteral(" per image");
    if (plan_.runs.size() > 1) details.last() += QStringLiteral(" (first run)");
  } else if (!costProblem_.isEmpty()) {
    warnings << costProblem_;
  } else {
    details << QStringLiteral("counting parameters \u2026");
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
  details_->setText(details.join(QStringLiteral(" \u00b7 ")));
  details_->setVisible(!details.isEmpty());
  warning_->setText(warnings.join(QLatin1Char('\n')));
  warning_->setVisible(!warnings.isEmpty());
}

}  // namespace vitrine::ui
