#include "core/data/used_samples.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/data/subset.h"

namespace vitrine {

namespace {

/// Scores and maps of two runs compare only where they saw the same samples.
constexpr std::uint64_t kSeedOfAllRuns = 0;

}  // namespace

UsedSamples::UsedSamples(std::shared_ptr<const Dataset> dataset, const Config& data,
                         std::uint64_t seed)
    : dataset_(std::move(dataset)),
      data_(data),
      trainingSeed_(
          data.has("subset_seed") ? static_cast<std::uint64_t>(data.integer("subset_seed")) : seed),
      // Runs from before there was a choice took the first samples, and do so when resumed.
      isStratified_(data.has("subset") && data.text("subset") == "stratified"),
      holdout_(data.maybeReal("holdout").value_or(0)) {
  if (data.has("evaluate_splits")) chooseEvaluated(data.texts("evaluate_splits"));
}

void UsedSamples::chooseEvaluated(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Split split = splitFromString(name);
    if (split == Split::Train || dataset_->size(stored(split)) < 1) {
      throw ConfigError("data.evaluate_splits names '" + name +
                        "', which this data does not have for evaluations; set data.holdout for a "
                        "validation split, or remove the name");
    }
    evaluated_.push_back(split);
  }
}

Split UsedSamples::stored(Split split) const noexcept {
  return split == Split::Validation && holdout_ > 0 ? Split::Train : split;
}

UsedSamples::Ids UsedSamples::draw(Split split, std::int64_t count, std::uint64_t seed) const {
  if (isStratified_) return stratifiedSubset(*dataset_, split, count, seed);
  Ids ids(static_cast<std::size_t>(std::min(count, dataset_->size(split))));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

/// Samples of a split that are used; 0: all.
std::int64_t UsedSamples::limitOf(Split split) const {
  if (split == Split::Validation) return 0;
  const std::string name = toString(split);
  if (const auto count = data_.maybeInteger(name + "_samples")) return *count;
  const auto share = data_.maybeReal(name + "_share");
  if (!share) return 0;
  const auto size = static_cast<double>(dataset_->size(split));
  return std::max<std::int64_t>(1, std::llround(*share * size));
}

/// Training samples that are used, those that are held out among them.
std::int64_t UsedSamples::usedForTraining() const {
  const std::int64_t all = dataset_->size(Split::Train), limit = limitOf(Split::Train);
  return limit > 0 ? std::min(limit, all) : all;
}

/// The same share of every class, a part of those that are used.
UsedSamples::Ids UsedSamples::heldOut() const {
  // A smaller stratified draw is part of a larger one of the same seed.
  const auto size =
      static_cast<double>(isStratified_ ? usedForTraining() : dataset_->size(Split::Train));
  return stratifiedSubset(*dataset_, Split::Train, std::llround(holdout_ * size), trainingSeed_);
}

/// The used training samples that are held out, or the others.
UsedSamples::Ids UsedSamples::held(bool isOut) const {
  const std::int64_t used = usedForTraining();
  const Ids from = draw(Split::Train, used, trainingSeed_), out = heldOut();
  Ids ids;
  std::copy_if(from.begin(), from.end(), std::back_inserter(ids), [&](std::int64_t id) {
    return std::binary_search(out.begin(), out.end(), id) == isOut;
  });
  if (!ids.empty()) return ids;
  throw ConfigError("data.holdout = " + formatReal(holdout_) + " of " + formatCount(used) +
                    " training samples leaves nothing to " +
                    (isOut ? "be scored on; hold out more" : "learn from; hold out less"));
}

std::shared_ptr<const std::vector<std::int64_t>> UsedSamples::of(Split split) const {
  const bool isHeld = holdout_ > 0 && split != Split::Test;
  const std::int64_t limit = limitOf(split);
  if (!isHeld && (limit == 0 || limit >= dataset_->size(split))) return nullptr;
  const std::lock_guard lock(mutex_);
  auto& samples = samples_[static_cast<std::size_t>(split)];
  if (!samples) {
    Ids ids = isHeld ? held(split == Split::Validation)
                     : draw(split, limit, split == Split::Train ? trainingSeed_ : kSeedOfAllRuns);
    if (limit > 0) warnOfMissingClasses(split, ids);
    samples = std::make_shared<const Ids>(std::move(ids));
  }
  return samples;
}

std::int64_t UsedSamples::size(Split split) const {
  const auto samples = of(split);
  return samples ? std::ssize(*samples) : dataset_->size(split);
}

std::vector<std::int64_t> UsedSamples::choose(Split split, std::int64_t count) const {
  if (holdout_ <= 0 || split == Split::Test) return draw(split, count, kSeedOfAllRuns);
  Ids ids;
  if (split == Split::Train) {
    const Ids out = heldOut();
    const Ids more = draw(split, count + std::ssize(out), trainingSeed_);
    std::set_difference(more.begin(), more.end(), out.begin(), out.end(), std::back_inserter(ids));
  } else {
    ids = *of(split);
    // Ids ascend, so the first ones may be of one class; a smaller draw is a part of this one.
    if (isStratified_) ids = draw(Split::Train, std::min(count, std::ssize(ids)), trainingSeed_);
  }
  ids.resize(std::min(ids.size(), static_cast<std::size_t>(std::max<std::int64_t>(count, 0))));
  return ids;
}

std::vector<Split> UsedSamples::evaluated() const {
  if (!evaluated_.empty()) return evaluated_;
  std::vector<Split> splits;
  for (const Split split : {Split::Validation, Split::Test}) {
    if (dataset_->size(stored(split)) > 0) splits.push_back(split);
  }
  return splits;
}

/// `first` of a folder takes whole classes; fewer samples than classes leave some out, too.
void UsedSamples::warnOfMissingClasses(Split split, const Ids& samples) const {
  const auto classes = std::ssize(dataset_->info().classes);
  if (classes == 0 || findField(fieldsOf(dataset_->info()), "label") == nullptr) return;
  std::set<std::int64_t> labels;
  for (const std::int64_t id : samples) labels.insert(dataset_->label(split, id));
  const auto there = std::ssize(labels);
  // Those that a stratified draw of so many leaves out have no samples in this split.
  if (there >= classes || (isStratified_ && std::ssize(samples) >= classes)) return;
  log::warning("data." + toString(split) + "_samples = " + formatCount(std::ssize(samples)) +
               " takes images of " + formatCount(there) + " of the " + formatCount(classes) +
               " classes only" +
               (isStratified_ ? "; take more" : "; data.subset = \"stratified\" takes all"));
}

}  // namespace vitrine
