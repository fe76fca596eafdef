// Exports of the Calibration page: its picture, its view and its help text.
#include <algorithm>
#include <utility>

#include "ui/calibration/calibration_page.h"
#include "ui/calibration/sample_strip.h"
#include "ui/figures/figure_view.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {

std::unique_ptr<Figure> CalibrationPage::figure() {
  if (shown_.empty()) return nullptr;
  std::unique_ptr<Figure> figure;
  switch (picture_) {
    case Picture::Temperature:
      return temperatureFigure(Words::All);
    case Picture::Confusion:
      if (figure = choice_.hasCues ? cueFigure() : nullptr; figure != nullptr) return figure;
      if (!choice_.hasCues && confusion_->figure() != nullptr) {
        ConfusionPicture picture = confusionPicture();
        const CalibrationRun& run = *current();
        picture.about = tr("%1 \u00b7 %2 images \u00b7 step %3")
                            .arg(runName(run.run), count(run.now.scores.samples), count(run.step));
        return makeConfusionFigure(std::move(picture), FigureStyle{});
      }
      break;
    case Picture::Film:
      if (!frames_.empty()) return makeFilmFigure(filmPicture(), FigureStyle{});
      break;
    case Picture::Sample:
      if (figure = sampleFigure(); figure != nullptr) return figure;
      break;
    case Picture::Reliability:
      break;
  }
  return makeReliabilityFigure(reliabilityPicture(), FigureStyle{});
}

std::int64_t CalibrationPage::chosenSample() const {
  if (wantedSample_ >= 0) return wantedSample_;
  const int at = strip_->current();
  return at < 0 ? -1 : strip_->entries()[static_cast<std::size_t>(at)].id;
}

void CalibrationPage::openInAttention() {
  const std::int64_t id = chosenSample();
  if (id < 0 || !choice_.which) return;
  Json view{{"image", id}, {"split", choice_.which->split}, {"weights", choice_.which->weights}};
  for (const SampleStrip::Entry& entry : strip_->entries()) view["listed"].push_back(entry.id);
  workbench_.showView(QStringLiteral("attention"), view);
}

Json CalibrationPage::viewState() const {
  // By UUID: another database has other numbers for the same runs.
  Json temperatures = Json::object();
  for (const auto& [run, temperature] : choice_.temperatures) {
    if (const store::RunRow* row = workbench_.run(run)) temperatures[row->uuid] = temperature;
  }
  return {{"edges", choice_.binning.edges == Binning::Edges::EqualMass ? "mass" : "width"},
          {"bins", choice_.binning.bins},
          {"target", choice_.binning.target},
          {"split", choice_.which ? Json(choice_.which->split) : Json(nullptr)},
          {"weights", choice_.which ? Json(choice_.which->weights) : Json(nullptr)},
          {"temperatures", std::move(temperatures)},
          {"gap", choice_.hasGap},
          {"only_errors", choice_.onlyErrors},
          {"cues", choice_.hasCues},
          {"bin", choice_.bin},
          {"cell", Json::array({choice_.label, choice_.predicted})},
          {"all_errors", choice_.hasAllErrors},
          {"sample", chosenSample()},
          {"step", step_ ? Json(*step_) : Json(nullptr)},
          {"picture", static_cast<int>(picture_)}};
}

void CalibrationPage::setViewState(const Json& state) {
  if (!state.is_object()) return;
  constexpr int kMost = 1'000'000;
  if (const std::string edges = stateText(state, "edges"); !edges.empty())
    choice_.binning.edges =
        edges == "mass" ? Binning::Edges::EqualMass : Binning::Edges::EqualWidth;
  choice_.binning.bins = stateInteger(state, "bins", 1, Binning::kMostBins, choice_.binning.bins);
  choice_.binning.target = stateInteger(state, "target", -1, kMost, choice_.binning.target);
  if (const std::string split = stateText(state, "split"); !split.empty()) {
    const std::string weights = stateText(state, "weights");
    choice_.which = {split, weights.empty() ? "model" : weights};
  }
  if (const auto found = state.find("temperatures"); found != state.end() && found->is_object()) {
    choice_.temperatures.clear();
    for (const auto& [uuid, temperature] : found->items()) {
      if (!temperature.is_number()) continue;
      const auto value = temperature.get<double>();
      const bool isOne = value == 0 || (value >= kLeastTemperature && value <= kMostTemperature);
      const std::int64_t run = isOne ? runOfUuid(workbench_, uuid) : 0;
      if (run != 0) choice_.temperatures[run] = value;
    }
  }
  for (const auto& [key, flag] :
       {std::pair("gap", &choice_.hasGap), std::pair("only_errors", &choice_.onlyErrors),
        std::pair("cues", &choice_.hasCues), std::pair("all_errors", &choice_.hasAllErrors)})
    *flag = stateFlag(state, key, *flag);
  choice_.bin = stateInteger(state, "bin", -1, Binning::kMostBins - 1, choice_.bin);
  if (const auto cell = state.find("cell"); cell != state.end() && cell->is_array() &&
                                            cell->size() == 2 && (*cell)[0].is_number_integer() &&
                                            (*cell)[1].is_number_integer()) {
    choice_.label = std::clamp((*cell)[0].get<int>(), -1, kMost);
    choice_.predicted = std::clamp((*cell)[1].get<int>(), -1, kMost);
  }
  wantedSample_ = std::max<std::int64_t>(stateInteger(state, "sample", -1), -1);
  if (state.contains("step"))
    workbench_.selection().setStep(std::max<std::int64_t>(stateInteger(state, "step", -1), -1));
  picture_ = static_cast<Picture>(stateInteger(state, "picture", 0, 4, static_cast<int>(picture_)));
  reload();
}

QString CalibrationPage::howToRead() const {
  return tr(
      "Bars are the accuracy of the current run in each bin of confidence, lines are all selected "
      "runs. On the dashed diagonal a model is as often right as it is sure; below it it is "
      "overconfident. Bins are closed on the right. Bars of fewer than 50 images are pale: they "
      "say little.\n\n"
      "ECE is the gap between accuracy and confidence, averaged over bins by their number of "
      "images. MCE is the largest gap. Classwise ECE is the mean over the classes' own "
      "probabilities. Brier score and negative log-likelihood need no bins. ECE depends on the "
      "bins: compare runs with the same ones.\n\n"
      "The temperature divides the logits. It changes no prediction and no accuracy. The fitted "
      "one has the least negative log-likelihood on the validation split, when that was evaluated "
      "at the same step. Otherwise it is fitted to the images shown, which flatters it.\n\n"
      "Shape or texture: the images have the shape of one class and the texture of another. A dot "
      "is the share of shape among the decisions for either cue, for each category. Decisions for "
      "a third class are left out, and counted in the tool tip.");
}

}  // namespace vitrine::ui
