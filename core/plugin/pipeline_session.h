// A session whose samples are those of the run's pipeline. What a task has to say is its loss, its
// scores and what it does otherwise.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/plugin/pipeline.h"
#include "core/plugin/task.h"

namespace vitrine {

class PipelineSession : public TaskSession {
 public:
  /// \pre setup has a model and a pipeline
  explicit PipelineSession(const TaskSetup& setup) : setup_(setup), pipeline_(setup.pipeline) {}

  [[nodiscard]] Model& model() override { return *setup_.model; }
  [[nodiscard]] const DatasetInfo& dataset() const noexcept override { return pipeline_->info(); }
  [[nodiscard]] std::unique_ptr<BatchStream> trainingStream(std::int64_t firstBatch) override {
    return pipeline_->stream(Split::Train, trainingOptions(firstBatch));
  }
  [[nodiscard]] std::vector<Evaluation> evaluations() const override {
    return splitEvaluations({});
  }
  [[nodiscard]] Batch read(Split split, const std::vector<std::int64_t>& ids) override {
    return pipeline_->read(split, ids);
  }
  [[nodiscard]] std::vector<std::int64_t> chooseSamples(Split split, std::int64_t count) override {
    return pipeline_->samples().choose(split, count);
  }

 protected:
  [[nodiscard]] StreamOptions trainingOptions(std::int64_t firstBatch) const {
    return {setup_.batchSize, setup_.loaderWorkers, /*isTraining=*/true, firstBatch};
  }
  /// The samples of an evaluation, each once.
  [[nodiscard]] std::unique_ptr<BatchStream> evaluationStream(Split split) const {
    return pipeline_->stream(split, {setup_.evaluationBatchSize, setup_.loaderWorkers,
                                     /*isTraining=*/false, 0, setup_.evaluationLimit});
  }
  /// One of each split that evaluations read. \param outputs  that listeners hear
  [[nodiscard]] std::vector<Evaluation> splitEvaluations(
      const std::vector<std::string>& outputs) const {
    std::vector<Evaluation> all;
    for (const Split split : pipeline_->samples().evaluated())
      all.push_back({toString(split), split, outputs});
    return all;
  }
  /// What bestBy() returns of a score that is larger where it is better.
  [[nodiscard]] std::string bestBySplit(const std::string& score) const {
    const std::vector<Split> splits = pipeline_->samples().evaluated();
    const bool isValidated = !splits.empty() && splits.front() == Split::Validation;
    return toString(isValidated ? Split::Validation : Split::Test) + "/" + score;
  }

  TaskSetup setup_;
  std::shared_ptr<const Pipeline> pipeline_;
};

}  // namespace vitrine
