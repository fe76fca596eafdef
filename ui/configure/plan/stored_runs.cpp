#include "ui/configure/plan/stored_runs.h"

#include <utility>

namespace vitrine::ui {

StoredRuns::StoredRuns(std::filesystem::path database, QObject* parent)
    : QObject(parent), configReader_(database), stepReader_(std::move(database)) {
  connect(&configReader_, &Background::failed, this, [this](const QString& sentence) {
    configAsked_ = 0;
    Q_EMIT failed(sentence);
  });
  connect(&stepReader_, &Background::failed, this, &StoredRuns::failed);
}

const Json* StoredRuns::config(std::int64_t run) {
  if (const Json* known = configs_.object(run)) return known;
  if (configAsked_ == run && configReader_.isBusy()) return nullptr;
  configAsked_ = run;
  configReader_.run(
      [this, run](store::RunReader& store, const std::atomic<bool>&) -> Background::Finish {
        auto config = std::make_shared<Json>(store.config(run));
        return [this, run, config] {
          configs_.insert(run, new Json(std::move(*config)));
          Q_EMIT arrived();
        };
      });
  return nullptr;
}

const std::vector<std::int64_t>* StoredRuns::checkpoints(std::int64_t run, std::int64_t sign) {
  if (steps_.run == run && steps_.sign == sign) return &steps_.steps;
  const bool isAsked = stepsAsked_ == run && signAsked_ == sign && stepReader_.isBusy();
  if (!isAsked) {
    stepsAsked_ = run;
    signAsked_ = sign;
    stepReader_.run(
        [this, run, sign](store::RunReader& store, const std::atomic<bool>&) -> Background::Finish {
          Steps read{run, sign, {}};
          for (const store::CheckpointRow& one : store.checkpoints(run))
            read.steps.push_back(one.step);
          return [this, read] {
            steps_ = read;
            Q_EMIT arrived();
          };
        });
  }
  return steps_.run == run ? &steps_.steps : nullptr;
}

void StoredRuns::waitUntilIdle() {
  configReader_.waitUntilIdle();
  stepReader_.waitUntilIdle();
}

}  // namespace vitrine::ui
