#include "ui/configure/plan/run_planner.h"

#include <utility>

namespace vitrine::ui {

RunPlanner::RunPlanner(std::filesystem::path database, QObject* parent, Work work)
    : QObject(parent), work_(std::move(work)), background_(std::move(database)) {
  if (!work_) {
    work_ = [](const std::string& text, const Catalog& catalog, const PlanLimits& limits) {
      return planExperiment(text, "", catalog, {}, limits);
    };
  }
  connect(&background_, &Background::failed, this, &RunPlanner::failed);
}

void RunPlanner::ask(std::string text, std::shared_ptr<const Catalog> catalog) {
  background_.run([this, work = work_, text = std::move(text), catalog = std::move(catalog)](
                      store::RunReader&, const std::atomic<bool>& isStale) -> Background::Finish {
    PlanLimits limits{.mostRuns = kMostRuns, .isStale = &isStale};
    auto plan = std::make_shared<const Plan>(work(text, *catalog, limits));
    return [this, plan] { Q_EMIT planned(plan); };
  });
}

}  // namespace vitrine::ui
