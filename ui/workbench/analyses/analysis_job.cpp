#include "ui/workbench/analyses/analysis_job.h"

#include "ui/kit/theme.h"
#include "ui/workbench/model_service.h"
#include "ui/workbench/page.h"
#include "ui/workbench/drawn_runs.h"

namespace vitrine::ui {

AnalysisJob::AnalysisJob(Workbench& workbench, QObject* parent)
    : QObject(parent), workbench_(workbench) {}

void AnalysisJob::start(const std::string& analysis, std::vector<std::int64_t> runs) {
  if (isRunning() || workbench_.models() == nullptr) return;
  analysis_ = analysis;
  waiting_ = std::move(runs);
  problem_.clear();
  next();
}

void AnalysisJob::next() {
  ticket_ = 0;
  if (waiting_.empty()) {
    say(QString());
    if (problem_.isEmpty()) {
      Q_EMIT finished(analysis_);
    } else {
      Q_EMIT failed(problem_);
    }
    return;
  }
  const std::int64_t run = waiting_.back();
  waiting_.pop_back();
  const QString name = runNameOf(workbench_, run), analysis = QString::fromStdString(analysis_);
  const QString what = tr("Computing %1 of %2").arg(analysis, name);
  ModelService::Listener listener;
  listener.onPart = [this, what](const Json& answer) {
    const auto done = answer.find("done"), total = answer.find("total");
    if (done == answer.end() || total == answer.end() || !done->is_number_integer() ||
        !total->is_number_integer())
      return;
    say(tr("%1: %2 of %3")
            .arg(what, count(done->get<std::int64_t>()), count(total->get<std::int64_t>())));
  };
  listener.onDone = [this](const Json&) { next(); };
  listener.onError = [this, name, analysis](const ModelError& error) {
    problem_ = error.kind == "cancelled"
                   ? tr("Computing was cancelled.")
                   : tr("%1 of %2 cannot be computed: %3").arg(analysis, name, error.sentence);
    waiting_.clear();
    next();
  };
  ModelChoice model;
  model.run = run;
  ticket_ = workbench_.models()->compute(
      model, {{"op", "analyse"}, {"item", analysis_}, {"store", true}}, this, listener);
  say(what);
}

void AnalysisJob::cancel() {
  waiting_.clear();
  if (isRunning() && workbench_.models() != nullptr) workbench_.models()->cancel(ticket_);
}

void AnalysisJob::say(const QString& sentence) {
  sentence_ = sentence;
  Q_EMIT progressed();
}

}  // namespace vitrine::ui
