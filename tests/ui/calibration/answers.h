// Stored answers with values that can be computed by hand.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/artifact/cue_decisions.h"
#include "core/artifact/predictions.h"

namespace vitrine::samples {

/// Logits of one sample and its label.
struct Answer {
  std::vector<double> logits;
  int label = 0;
};

inline Artifact predictions(const std::vector<Answer>& answers, std::int64_t step = 100,
                            const std::string& split = "test") {
  Artifact artifact{"calibration", "predictions", artifact_kind::kPredictions, step};
  const std::size_t classes = answers.front().logits.size();
  std::vector<float> rows;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    rows.push_back(static_cast<float>(i));
    rows.push_back(static_cast<float>(answers[i].label));
    for (const double logit : answers[i].logits) rows.push_back(static_cast<float>(logit));
  }
  setFloat32(artifact, rows, {std::ssize(answers), static_cast<std::int64_t>(classes) + 2},
             {"sample", "column"});
  artifact.meta["form"] = predictions_form::kLogits;
  artifact.meta["classes"] = classes;
  artifact.meta["samples"] = answers.size();
  artifact.meta["split"] = split;
  artifact.meta["weights"] = "model";
  return artifact;
}

/// Decisions on 10 images of each of three shapes.
inline Artifact cueDecisions(const std::vector<double>& counts, std::int64_t step = 100) {
  Artifact artifact{"shape_bias", "decisions", artifact_kind::kCueDecisions, step};
  setFloat64(artifact, counts, {std::ssize(counts) / 3, 3}, {"class", "images, shape, texture"});
  artifact.meta["class_names"] = {"circle", "square", "star"};
  artifact.meta["split"] = "test";
  artifact.meta["weights"] = "model";
  return artifact;
}

/// Two classes: 0.75 right, 0.75 wrong, 0.95 right, 0.95 right.
inline std::vector<Answer> fourAnswers() {
  const double three = std::log(3), nineteen = std::log(19);
  return {{{three, 0}, 0}, {{three, 0}, 1}, {{0, nineteen}, 1}, {{0, nineteen}, 1}};
}

/// As sure as 0.9 about each of 100 images and right about 75: T = 2 says 0.75 of each.
inline std::vector<Answer> overconfident() {
  std::vector<Answer> answers;
  for (int i = 0; i < 100; ++i) answers.push_back({{std::log(9), 0}, i < 75 ? 0 : 1});
  return answers;
}

/// Three classes, more than one bin, errors of different confidence.
inline std::vector<Answer> mixedAnswers() {
  std::vector<Answer> answers;
  for (int i = 0; i < 240; ++i) {
    const double sure = 0.4 + 0.55 * (i % 24) / 24.0;
    const int said = i % 3;
    std::vector<double> logits(3, std::log((1 - sure) / 2));
    logits[static_cast<std::size_t>(said)] = std::log(sure);
    answers.push_back({logits, i % 5 == 0 ? (said + 1) % 3 : said});
  }
  return answers;
}

}  // namespace vitrine::samples
