// The Attention page's view as JSON, and the words about how to read it.
#include <QSpinBox>

#include "ui/attention/attention_page.h"
#include "ui/attention/attention_panel.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr const char* kQueryWords[] = {"auto", "patch", "token", "mean"};
constexpr const char* kLayoutWords[] = {"map", "overlay", "beside"};
constexpr int kMostNumber = 1 << 20;  // of layers, heads, tokens
constexpr std::size_t kMostListed = 1000;

template <std::size_t N>
int wordIndex(const Json& value, const char* const (&words)[N], int otherwise) {
  if (!value.is_string()) return otherwise;
  for (std::size_t i = 0; i < N; ++i) {
    if (value.get<std::string>() == words[i]) return static_cast<int>(i);
  }
  return otherwise;
}

int smallNumber(const Json& state, const char* key, int otherwise) {
  return stateInteger(state, key, 0, kMostNumber, otherwise);
}

}  // namespace

Json AttentionPage::viewState() const {
  const QueryChoice& query = choice_.query;
  return {{"analysis", chosen_.analysis},
          {"matrix", chosen_.matrix},
          {"weights", use_},
          {"image", sample_},
          {"split", split_.empty() ? Json(nullptr) : Json(split_)},
          {"listed", listed_},
          {"time", atTime_ ? Json(*atTime_) : Json(nullptr)},
          {"step", atStep_ ? Json(*atStep_) : Json(nullptr)},
          {"layer", choice_.layer},
          {"head", choice_.head},
          {"query", kQueryWords[static_cast<std::size_t>(query.kind)]},
          {"place", {query.place[0], query.place[1]}},
          {"token", query.token},
          {"mass", choice_.share},
          {"same_scale", choice_.isSameScale},
          {"rollout", choice_.isRollout},
          {"distances", choice_.isDistances},
          {"layout", kLayoutWords[static_cast<std::size_t>(choice_.layout)]}};
}

void AttentionPage::setViewState(const Json& state) {
  if (!state.is_object()) return;
  chosen_.analysis = stateText(state, "analysis", chosen_.analysis);
  chosen_.matrix = stateText(state, "matrix", chosen_.matrix);
  // An image of the user's is in no file: what was drawn of it cannot be drawn again.
  const Json& image = stateMember(state, "image");
  const bool isImage = image.is_number_integer();
  if (isImage && image.get<std::int64_t>() < 0 && own_.isNull())
    workbench_.showMessage(
        tr("This view is of an image that the database does not have: open the image again."));
  if (isImage && image.get<std::int64_t>() >= 0) {
    if (!own_.isNull()) takeOwnImage(QImage(), QString());
    sample_ = image.get<std::int64_t>();
    isSampleChosen_ = true;
    // A number without a split is of the one that evaluations end with.
    const Json& split = stateMember(state, "split");
    const bool isSplit = split == "train" || split == "validation" || split == "test";
    split_ = isSplit ? split.get<std::string>() : std::string();
    listed_.clear();
    for (const Json& one : stateMember(state, "listed")) {
      if (one.is_number_integer() && listed_.size() < kMostListed)
        listed_.push_back(one.get<std::int64_t>());
    }
  }
  if (state.contains("time")) {
    const Json& time = stateMember(state, "time");
    atTime_ = time.is_number() ? std::optional(time.get<double>()) : std::nullopt;
  }
  if (state.contains("step")) {
    const Json& step = stateMember(state, "step");
    const bool isOne = step.is_number_integer() && step.get<std::int64_t>() >= 0;
    atStep_ = isOne ? std::optional(step.get<std::int64_t>()) : std::nullopt;
  }
  choice_.layer = smallNumber(state, "layer", choice_.layer);
  choice_.head = smallNumber(state, "head", choice_.head);
  QueryChoice& query = choice_.query;
  query.kind = static_cast<QueryChoice::Kind>(
      wordIndex(stateMember(state, "query"), kQueryWords, static_cast<int>(query.kind)));
  query.token = smallNumber(state, "token", query.token);
  if (const auto place = statePair(stateMember(state, "place"))) {
    const auto [down, right] = *place;
    if (down >= 0 && down <= 1 && right >= 0 && right <= 1) query.place = {down, right};
  }
  if (const Json& mass = stateMember(state, "mass");
      mass.is_number() && mass.get<double>() > 0 && mass.get<double>() <= 1)
    choice_.share = mass.get<double>();
  choice_.isSameScale = stateFlag(state, "same_scale", choice_.isSameScale);
  choice_.isRollout = stateFlag(state, "rollout", choice_.isRollout);
  choice_.isDistances = stateFlag(state, "distances", choice_.isDistances);
  if (const Json& use = stateMember(state, "weights"); use == kTrained || use == kAverage) {
    use_ = use.get<std::string>();
    isUseChosen_ = true;
  }
  choice_.layout = static_cast<AttentionChoice::Layout>(
      wordIndex(stateMember(state, "layout"), kLayoutWords, static_cast<int>(choice_.layout)));
  tellSelection();
  workbench_.selection().setStep(atStep_.value_or(-1));
  if (!isStale_ && !lists_.isBusy() && runsOf_ == runs() && !panels_.empty()) {
    fillWeights();  // as it was read
    fillSeries();
  } else {
    reload();
  }
}

QString AttentionPage::howToRead() const {
  return tr(
      "Left: every layer and head for one query. Right: the chosen head. A cell is a key; its "
      "colour says how much of the query's attention it gets. Click a patch, a word or the class "
      "token to ask from there, or choose the mean of all queries. Grey cells are masked: the "
      "query cannot see them. Signed maps diverge around zero and are not probabilities.\n\n"
      "What attention shows: where a head reads its values from, layer by layer. What it does not "
      "show: why the model decides. Values that are read may be small or cancel, the residual path "
      "bypasses every head, and other attention can lead to the same answer. Compare heads only "
      "while Same scale is on. Rollout multiplies the mean attention over layers as if the "
      "residual path were half of each: a summary, not a measurement.\n\n"
      "Mean distance is that between query and key in patches, weighted by the attention and "
      "averaged over all queries of a head. Entropy counts how evenly the query reads: b bits are "
      "as many as 2 to the b equal keys. With two runs selected, both show the same image, patch, "
      "layer and step.");
}

}  // namespace vitrine::ui
