// A session for probes that look at nothing but the model.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/plugin/task.h"

namespace vitrine {

class NoSession : public TaskSession {
 public:
  explicit NoSession(Model& model) : model_(model) {}
  Model& model() override { return model_; }
  const DatasetInfo& dataset() const noexcept override { return info_; }
  std::unique_ptr<BatchStream> trainingStream(std::int64_t) override { return nullptr; }
  std::vector<LossPart> loss(StepContext&, const Batch&) override { return {}; }
  std::vector<Evaluation> evaluations() const override { return {}; }
  void evaluate(const EvaluationRequest&, Results&) override {}
  Batch read(Split, const std::vector<std::int64_t>&) override { return {}; }
  std::vector<std::int64_t> chooseSamples(Split, std::int64_t) override { return {}; }

 private:
  Model& model_;
  DatasetInfo info_;
};

}  // namespace vitrine
