#include "ui/live/live_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/statistics.h"

namespace vitrine::ui {

namespace {

constexpr double kArrivalSeconds = 3;  // over which the rate of frames is counted

std::size_t bytesOf(const live::Frame& frame) {
  std::size_t bytes = sizeof frame + frame.pixels.bytes.size();
  for (const live::AttentionLayer& layer : frame.attention)
    bytes += (layer.weights.size() + layer.mean.size()) * sizeof(float) +
             (layer.queries.size() + layer.keys.size()) * sizeof(live::Place);
  if (frame.matrices)
    bytes += (frame.matrices->softmax.size() + frame.matrices->effective.size()) * sizeof(float);
  return bytes;
}

/// Appends a point; a curve never goes back.
void append(LiveCurve& curve, double step, double value) {
  while (!curve.empty() && curve.back().first >= step) curve.pop_back();
  curve.emplace_back(step, value);
}

}  // namespace

std::vector<float> maskOf(const live::Matrices& matrices) {
  constexpr float kFloor = 1e-6F;  // of a probability that a factor can be told from
  std::vector<float> mask(matrices.softmax.size());
  for (std::size_t i = 0; i < mask.size(); ++i) {
    mask[i] =
        matrices.softmax[i] > kFloor ? matrices.effective[i] / matrices.softmax[i] : std::nanf("");
  }
  return mask;
}

float partOf(const live::StepTime& time, StepPart part) {
  switch (part) {
    case StepPart::Data:
      return time.data;
    case StepPart::Forward:
      return time.forward;
    case StepPart::Backward:
      return time.backward;
    case StepPart::Optimizer:
      return time.optimizer;
    case StepPart::Observe:
      return time.observe;
    case StepPart::Store:
      return time.store;
    case StepPart::Watch:
      return time.watch;
  }
  return 0;
}

void LiveModel::begin(std::int64_t totalSteps) {
  if (newest_) sought_.reset();  // it was a moment of the run before
  newest_.reset();
  frozen_.reset();
  kept_.clear();
  keptBytes_ = 0;
  film_.reset();
  steps_.clear();
  throughput_.clear();
  arrivals_.clear();
  unit = "samples";
  classNames.clear();
  schedule_.clear();
  loss_.clear();
  gaps_.clear();
  scrubbed_.reset();
  totalSteps_ = totalSteps;
}

void LiveModel::add(live::Frame frame) {
  if (newest_ && frame.step < newest_->step) {
    // The run went back to a checkpoint: what came after it is not part of it any more.
    const double step = static_cast<double>(frame.step);
    std::erase_if(kept_, [&](const FramePointer& each) { return each->step >= frame.step; });
    keptBytes_ = 0;
    for (const FramePointer& each : kept_) keptBytes_ += bytesOf(*each);
    std::erase_if(gaps_, [&](const GapPoint& each) { return each.step >= step; });
    steps_.clear();
    throughput_.clear();
  }
  totalSteps_ = std::max(totalSteps_, frame.totalSteps);
  for (const live::StepTime& each : frame.steps) steps_.push_back(each);
  while (steps_.size() > kMostSteps) steps_.pop_front();
  if (frame.imagesPerSecond > 0) throughput_.emplace_back(frame.step, frame.imagesPerSecond);
  while (throughput_.size() > 1 && !steps_.empty() &&
         throughput_.front().first < steps_.front().step)
    throughput_.pop_front();
  const auto step = static_cast<double>(frame.step);
  for (const auto& [name, value] : frame.scheduled) append(schedule_[name], step, value);
  if (std::isfinite(frame.loss)) append(loss_, step, frame.loss);
  if (frame.gap) {
    const double gap = frame.gap->finished - frame.gap->now;
    if (gaps_.empty() || gaps_.back().gap != gap) gaps_.push_back({step, gap});
  }
  if (frame.film) film_ = std::move(frame.film);
  frame.film.reset();
  newest_ = std::make_shared<const live::Frame>(std::move(frame));
  keep(newest_);
  if (sought_ && *sought_ < step) scrub(sought_);
}

void LiveModel::keep(FramePointer frame) {
  keptBytes_ += bytesOf(*frame);
  kept_.push_back(std::move(frame));
  if (keptBytes_ <= kMostBytes) return;
  // Every other frame of the older half goes: the past stays, in coarser steps.
  std::deque<FramePointer> thinner;
  const std::size_t half = kept_.size() / 2;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (i >= half || i % 2 == 0) thinner.push_back(std::move(kept_[i]));
  }
  kept_ = std::move(thinner);
  keptBytes_ = 0;
  for (const FramePointer& each : kept_) keptBytes_ += bytesOf(*each);
}

void LiveModel::setStored(std::map<std::string, LiveCurve> schedule, LiveCurve loss) {
  // Frames may have come meanwhile: their points follow those stored.
  const auto join = [](LiveCurve& stored, const LiveCurve& seen) {
    for (const auto& [step, value] : seen) {
      if (stored.empty() || stored.back().first < step) stored.emplace_back(step, value);
    }
  };
  join(loss, loss_);
  loss_ = std::move(loss);
  for (auto& [name, curve] : schedule) {
    join(curve, schedule_[name]);
    schedule_[name] = std::move(curve);
  }
}

LiveModel::FramePointer LiveModel::shown() const {
  if (scrubbed_ && !kept_.empty()) {
    return *std::min_element(kept_.begin(), kept_.end(),
                             [this](const FramePointer& a, const FramePointer& b) {
                               return std::abs(static_cast<double>(a->step) - *scrubbed_) <
                                      std::abs(static_cast<double>(b->step) - *scrubbed_);
                             });
  }
  return frozen_ ? frozen_ : newest_;
}

std::vector<LiveModel::FramePointer> LiveModel::history(int count) const {
  std::vector<FramePointer> fitting;
  const FramePointer now = shown();
  if (!now) return fitting;
  for (const FramePointer& each : kept_) {
    if (each->image == now->image && !each->attention.empty()) fitting.push_back(each);
  }
  if (std::ssize(fitting) <= count) return fitting;
  std::vector<FramePointer> chosen;
  for (int i = 0; i < count; ++i) {
    const auto last = static_cast<double>(fitting.size() - 1);
    chosen.push_back(
        fitting[static_cast<std::size_t>(std::lround(last * i / std::max(count - 1, 1)))]);
  }
  return chosen;
}

std::vector<double> LiveModel::medians() const {
  std::vector<double> medians;
  const auto median = [this](auto&& valueOf) {
    std::vector<double> values;
    for (const live::StepTime& each : steps_) values.push_back(valueOf(each));
    return values.empty() ? 0.0 : upperMedian(std::move(values));
  };
  for (int part = 0; part < kStepParts; ++part)
    medians.push_back(
        median([&](const live::StepTime& each) { return partOf(each, StepPart(part)); }));
  // Frames come with few steps: their median is nothing, their mean is what they cost.
  double watch = 0;
  for (const live::StepTime& each : steps_) watch += each.watch;
  medians[static_cast<std::size_t>(StepPart::Watch)] =
      steps_.empty() ? 0 : watch / static_cast<double>(steps_.size());
  medians.push_back(median([](const live::StepTime& each) { return each.total(); }));
  return medians;
}

double LiveModel::throughput() const {
  std::vector<double> values;
  for (const auto& [step, value] : throughput_) values.push_back(value);
  return values.empty() ? 0.0 : upperMedian(std::move(values));
}

QString LiveModel::classOf(const live::Frame& frame) const {
  return frame.label >= 0 && frame.label < classNames.size()
             ? classNames[static_cast<qsizetype>(frame.label)]
             : QString();
}

QString LiveModel::filmName(int row) const {
  const auto at = static_cast<std::size_t>(row);
  if (film_ && at < film_->captions.size()) return QString::fromStdString(film_->captions[at]);
  if (!film_ || at >= film_->labels.size()) return tr("image %1").arg(row + 1);
  const std::int64_t label = film_->labels[at];
  return label >= 0 && label < classNames.size() ? classNames[static_cast<qsizetype>(label)]
                                                 : tr("class %1").arg(label);
}

void LiveModel::noteArrival(double now) {
  arrivals_.push_back(now);
  while (arrivals_.size() > 256) arrivals_.pop_front();
}

double LiveModel::framesPerSecond(double now) const {
  const auto recent = std::count_if(arrivals_.begin(), arrivals_.end(),
                                    [now](double each) { return now - each < kArrivalSeconds; });
  const double since = arrivals_.empty() ? kArrivalSeconds : now - arrivals_.front();
  return static_cast<double>(recent) / std::clamp(since, 0.5, kArrivalSeconds);
}

std::vector<std::string> LiveModel::scheduleNames() const {
  std::vector<std::string> names;
  for (const auto& [name, curve] : schedule_) names.push_back(name);
  return names;
}

const LiveCurve* LiveModel::schedule(const std::string& name) const {
  const auto found = schedule_.find(name);
  return found == schedule_.end() ? nullptr : &found->second;
}

std::optional<double> LiveModel::at(const LiveCurve& curve, double step) {
  const auto after = std::upper_bound(curve.begin(), curve.end(), step,
                                      [](double s, const auto& point) { return s < point.first; });
  if (after == curve.begin()) return std::nullopt;
  return std::prev(after)->second;
}

std::optional<double> LiveModel::gapAt(double step) const {
  const GapPoint* best = nullptr;
  for (const GapPoint& each : gaps_) {
    if (each.step <= step) best = &each;
  }
  if (best == nullptr) return std::nullopt;
  return best->gap;
}

void LiveModel::freeze(bool isOn) { frozen_ = isOn ? shown() : nullptr; }

void LiveModel::scrub(std::optional<double> step) {
  sought_.reset();
  if (step && newest_) {
    const auto last = static_cast<double>(newest_->step);
    *step = std::clamp(*step, 0.0, last);
    if (*step >= last) step.reset();  // at the last trained step the picture follows again
  }
  scrubbed_ = step;
}

double LiveModel::moment() const {
  const FramePointer frame = shown();
  return scrubbed_.value_or(frame ? static_cast<double>(frame->step) : 0.0);
}

void LiveModel::seek(std::optional<double> step) {
  const bool isTrained = step && newest_ && *step < static_cast<double>(newest_->step);
  scrub(isTrained ? step : std::nullopt);
  if (!isTrained) sought_ = step;
}

const live::AttentionLayer* LiveModel::layerShown() const {
  const FramePointer frame = shown();
  if (!frame || frame->attention.empty()) return nullptr;
  // The frame is held by this model: the pointer stays good while nothing is added.
  const auto found =
      std::find_if(frame->attention.begin(), frame->attention.end(),
                   [this](const live::AttentionLayer& each) { return each.layer == layer; });
  return found == frame->attention.end() ? &frame->attention.front() : &*found;
}

LiveQuery::Kind LiveModel::queryKind() const {
  const live::AttentionLayer* now = layerShown();
  const bool isMissing =
      query.kind == LiveQuery::Kind::Class && now != nullptr && !hasClassToken(*now);
  return isMissing ? LiveQuery::Kind::Patch : query.kind;
}

void LiveModel::moveLayer(int by) {
  const FramePointer frame = shown();
  if (!frame || frame->attention.empty()) return;
  layer = std::clamp(layer + by, 0, static_cast<int>(frame->attention.back().layer));
}

void LiveModel::moveHead(int by) {
  const live::AttentionLayer* now = layerShown();
  if (now != nullptr) head = std::clamp(head + by, 0, static_cast<int>(now->heads) - 1);
}

void LiveModel::moveImage(int by) {
  const FramePointer frame = shown();
  if (frame && frame->images > 0) image = std::clamp(image + by, 0, frame->images - 1);
}

void LiveModel::moveQuery(int rows, int columns) {
  const live::AttentionLayer* now = layerShown();
  if (now == nullptr) return;
  const auto [high, wide] = keyGrid(*now);
  if (high < 1 || wide < 1) return;
  if (query.kind != LiveQuery::Kind::Patch) query = {LiveQuery::Kind::Patch, 0.5, 0.5};
  const auto moved = [](double share, int by, int cells) {
    const int cell = std::clamp(static_cast<int>(share * cells) + by, 0, cells - 1);
    return (cell + 0.5) / cells;
  };
  query.row = moved(query.row, rows, high);
  query.column = moved(query.column, columns, wide);
}

live::Wishes LiveModel::wishes() const {
  live::Wishes wishes{.rate = rate, .image = image, .layer = layer, .head = head};
  if (queryKind() == LiveQuery::Kind::Patch) {
    wishes.queryRow = query.row;
    wishes.queryColumn = query.column;
  }
  return wishes;
}

}  // namespace vitrine::ui
