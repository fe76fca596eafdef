#include "core/train/live_look.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "core/data/shown_image.h"
#include "core/plugin/loss_mean.h"

namespace vitrine::train {

namespace {

constexpr std::int64_t kProbeImages = 8;      // that a window can choose between
constexpr std::int64_t kGapSamples = 32;      // whose loss shows what the schedule still gives
constexpr double kGapSeconds = 0.5;           // between two of them
constexpr double kFilmSeconds = 2;            // between two films
constexpr std::int64_t kMostWhole = 1 << 18;  // values: above, only the rows of the query are shown
constexpr std::int64_t kMostMatrix = 1 << 18;  // values of a matrix in full
constexpr std::int64_t kMostPixels = 3 << 18;  // of a probe image, and of a film

/// One record of the tap, of the first image, on the CPU.
struct LiveRecord {
  std::int64_t layer = 0, window = -1;
  at::Tensor weights;        ///< [heads, queries, keys] float32
  at::Tensor queries, keys;  ///< [tokens, 2] float32, or undefined
};

class LiveTap {
 public:
  LiveTap(AttentionSource& source, AttentionTap::Kind kind, std::vector<std::int64_t> layers)
      : source_(source) {
    const auto tap = std::make_shared<AttentionTap>();
    tap->kind = kind;
    tap->layers = std::move(layers);
    tap->receive = [this](const AttentionRecord& record) {
      const auto places = [](const at::Tensor& tensor) {
        return tensor.defined() ? tensor.detach().to(at::kCPU, at::kFloat).contiguous() : tensor;
      };
      // A copy: the model may write the next layer over it.
      records.push_back(
          {record.layer, record.window,
           record.weights.detach().select(0, 0).to(at::kCPU, at::kFloat, false, true).contiguous(),
           places(record.queryPositions), places(record.keyPositions)});
    };
    source_.setAttentionTap(tap);
  }
  ~LiveTap() { source_.setAttentionTap(nullptr); }
  LiveTap(const LiveTap&) = delete;
  LiveTap& operator=(const LiveTap&) = delete;

  std::vector<LiveRecord> records;

 private:
  AttentionSource& source_;
};

std::vector<live::Place> placesOf(const at::Tensor& positions, std::int64_t count) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  std::vector<live::Place> places(static_cast<std::size_t>(count), {kNone, kNone});
  if (!positions.defined() || positions.dim() != 2 || positions.size(0) != count) return places;
  const auto* data = positions.const_data_ptr<float>();
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = {data[2 * i], data[2 * i + 1]};
  return places;
}

/// Rows and columns of the patches that the records of a layer have between them.
struct LiveExtent {
  float rows = 1, columns = 1;
  void add(const std::vector<live::Place>& places) {
    for (const live::Place& place : places) {
      if (!place.isPatch()) continue;
      rows = std::max(rows, place.row + 1);
      columns = std::max(columns, place.column + 1);
    }
  }
};

std::vector<float> valuesOf(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.contiguous();
  const auto* data = plain.const_data_ptr<float>();
  return {data, data + plain.numel()};
}

/// Of each layer the record that holds the query: of windows one, of a whole grid the only one.
std::vector<std::pair<const LiveRecord*, std::int64_t>> chosenOf(
    const std::vector<LiveRecord>& records, const live::Wishes& wishes) {
  std::map<std::int64_t, LiveExtent> extents;
  for (const LiveRecord& record : records)
    extents[record.layer].add(placesOf(record.queries, record.weights.size(1)));
  std::map<std::int64_t, std::pair<const LiveRecord*, std::pair<std::size_t, double>>> best;
  for (const LiveRecord& record : records) {
    const LiveExtent& extent = extents[record.layer];
    const auto found = live::nearestPlace(placesOf(record.queries, record.weights.size(1)),
                                          {extent.rows, extent.columns},
                                          {wishes.queryRow, wishes.queryColumn});
    auto& known = best[record.layer];
    if (known.first == nullptr || found.second < known.second.second) known = {&record, found};
  }
  std::vector<std::pair<const LiveRecord*, std::int64_t>> chosen;
  for (const auto& [layer, each] : best)
    chosen.emplace_back(each.first, static_cast<std::int64_t>(each.second.first));
  return chosen;
}

live::AttentionLayer layerOf(const LiveRecord& record, std::int64_t query, bool isWhole) {
  live::AttentionLayer layer;
  layer.layer = static_cast<std::int32_t>(record.layer);
  layer.heads = static_cast<std::int32_t>(record.weights.size(0));
  layer.window = static_cast<std::int32_t>(record.window);
  layer.isWhole = isWhole;
  layer.queries = placesOf(record.queries, record.weights.size(1));
  layer.keys = placesOf(record.keys, record.weights.size(2));
  layer.mean = valuesOf(record.weights.mean(1));
  if (isWhole) {
    layer.weights = valuesOf(record.weights);
  } else {
    layer.queries = {layer.queries.at(static_cast<std::size_t>(query))};
    layer.weights = valuesOf(record.weights.narrow(1, query, 1));
  }
  return layer;
}

/// 8-bit values between the smallest and the largest: what it was normalised with is not known.
live::Pixels pixelsOf(const at::Tensor& image) {
  live::Pixels pixels;
  if (!image.defined() || image.dim() != 3 || image.numel() > kMostPixels) return pixels;
  const at::Tensor bytes = stretchedBytes(
      image.detach().narrow(0, 0, image.size(0) >= 3 ? 3 : 1).to(at::kCPU, at::kFloat));
  pixels.height = static_cast<std::int32_t>(bytes.size(0));
  pixels.width = static_cast<std::int32_t>(bytes.size(1));
  pixels.channels = static_cast<std::int32_t>(bytes.size(2));
  const auto* data = bytes.const_data_ptr<std::uint8_t>();
  pixels.bytes.assign(data, data + bytes.numel());
  return pixels;
}

/// Keeps what a sampler shows on its way: one film of all batches.
class FilmResults final : public Results {
 public:
  void score(const std::string&, double) override {}
  void image(GeneratedImage) override {}
  void text(GeneratedText) override {}
  void artifact(Artifact artifact) override {
    if (artifact.kind != artifact_kind::kImageGrid || !artifact.meta.contains("time")) return;
    const ArrayView view = arrayOf(artifact.meta, artifact.data);
    if (view.shape.size() != 4) return;
    const auto side = [&](std::size_t i) { return static_cast<std::int32_t>(view.shape[i]); };
    const auto size = static_cast<std::int64_t>(view.bytes.size());
    if (size_ + size > kMostPixels) return;
    const Json seed = artifact.meta.value("first_seed", Json());
    if (batches_.empty() || seed != seed_) {
      seed_ = seed;
      live::Film& begun = batches_.emplace_back();
      begun.images = side(0);
      begun.height = side(1);
      begun.width = side(2);
      begun.channels = side(3);
      begun.labels = artifact.meta.value("classes", std::vector<std::int64_t>());
      begun.captions = artifact.meta.value("captions", std::vector<std::string>());
    }
    live::Film& film = batches_.back();
    if (film.images != side(0) || film.height != side(1) || film.width != side(2) ||
        film.channels != side(3))
      return;
    film.times.push_back(artifact.meta["time"].get<float>());
    const auto* data = reinterpret_cast<const std::uint8_t*>(view.bytes.data());
    film.bytes.insert(film.bytes.end(), data, data + size);
    size_ += size;
  }

  /// The images of each batch below those of the one before; without those of other times.
  [[nodiscard]] live::Film film() const {
    if (batches_.empty()) return {};
    live::Film all = batches_.front();
    std::vector<const live::Film*> alike;
    all.images = 0;
    all.bytes.clear();
    all.labels.clear();
    all.captions.clear();
    for (const live::Film& each : batches_) {
      if (each.times != all.times || each.height != all.height || each.width != all.width ||
          each.channels != all.channels)
        continue;
      alike.push_back(&each);
      all.images += each.images;
      all.labels.insert(all.labels.end(), each.labels.begin(), each.labels.end());
      all.captions.insert(all.captions.end(), each.captions.begin(), each.captions.end());
    }
    for (std::size_t time = 0; time < all.times.size(); ++time) {
      for (const live::Film* each : alike) {
        const auto size = static_cast<std::ptrdiff_t>(each->bytes.size() / all.times.size());
        const auto first = each->bytes.begin() + static_cast<std::ptrdiff_t>(time) * size;
        all.bytes.insert(all.bytes.end(), first, first + size);
      }
    }
    const auto images = static_cast<std::size_t>(all.images);
    if (all.labels.size() != images) all.labels.clear();
    if (all.captions.size() != images) all.captions.clear();
    return all;
  }

 private:
  std::vector<live::Film> batches_;
  std::int64_t size_ = 0;  ///< bytes of all
  Json seed_;              ///< of the newest batch
};

}  // namespace

struct LiveLook::State {
  State(TaskSession& theSession, LiveImages theImages)
      : session(theSession), images(std::move(theImages)), split(lastSplit(theSession)) {}

  TaskSession& session;
  LiveImages images;
  Split split;
  std::vector<std::int64_t> ids;
  std::map<std::int64_t, Batch> batches;  ///< of one probe image, on the device
  std::optional<Batch> gapBatch;
  std::optional<live::ScheduleGap> gap;
  std::optional<live::Film> film;
  double gapAt = -1e300, filmAt = -1e300;
  bool hasAttention = true, hasGap = true, hasFilm = true;
  std::string problem;

  const Batch& probeImage(std::int64_t index, const at::Device& device) {
    const auto found = batches.find(index);
    if (found != batches.end()) return found->second;
    Batch batch = session.read(split, {ids.at(static_cast<std::size_t>(index))}).to(device);
    return batches.emplace(index, std::move(batch)).first->second;
  }

  /// One pass of the model over a batch, by whichever way it has.
  void pass(const Batch& batch, const Look& look) {
    Model& model = session.model();
    StepContext context = beginLook(session, look);
    const bool hasImage = batch.fields.contains("image");
    if (auto* classifier = capabilityOf<ImageClassifier>(model); classifier && hasImage) {
      static_cast<void>(classifier->classify(batch.at("image")));
    } else if (auto* encoder = capabilityOf<TokenEncoder>(model); encoder && hasImage) {
      static_cast<void>(encoder->encode(encoder->embed(batch.at("image")), {}));
    } else {
      static_cast<void>(session.loss(context, batch));
    }
  }

  [[nodiscard]] double lossOf(const Batch& batch, const Look& look) {
    StepContext context = beginLook(session, look);
    double loss = 0;
    for (const LossPart& part : session.loss(context, batch))
      loss += part.weight * meanOf(part, batch.size()).item<double>();
    return loss;
  }

  void addAttention(live::Frame& frame, const live::Wishes& wishes, Look look) {
    auto* source = capabilityOf<AttentionSource>(session.model());
    if (source == nullptr) return;
    look.step = 0;  // the same noise in every frame, where a pass draws any
    const Batch& batch = probeImage(frame.image, look.device);
    std::vector<LiveRecord> records;
    {
      LiveTap tap(*source, AttentionTap::Kind::Effective, {});
      pass(batch, look);
      records = std::move(tap.records);
    }
    const auto chosen = chosenOf(records, wishes);
    std::int64_t total = 0;
    for (const auto& [record, query] : chosen) total += record->weights.numel();
    for (const auto& [record, query] : chosen)
      frame.attention.push_back(layerOf(*record, query, total <= kMostWhole));
    if (!wishes.matrices) return;
    for (const auto& [record, query] : chosen) {
      if (record->layer == wishes.layer) addMatrices(frame, *source, *record, wishes, batch, look);
    }
  }

  void addMatrices(live::Frame& frame, AttentionSource& source, const LiveRecord& effective,
                   const live::Wishes& wishes, const Batch& batch, const Look& look) {
    const std::int64_t head = std::min<std::int64_t>(wishes.head, effective.weights.size(0) - 1);
    const at::Tensor after = effective.weights.select(0, head);
    if (after.numel() > kMostMatrix) return;
    LiveTap tap(source, AttentionTap::Kind::Softmax, {effective.layer});
    pass(batch, look);
    for (const LiveRecord& record : tap.records) {
      if (record.window != effective.window || record.weights.sizes() != effective.weights.sizes())
        continue;
      live::Matrices& matrices = frame.matrices.emplace();
      matrices.layer = static_cast<std::int32_t>(effective.layer);
      matrices.head = static_cast<std::int32_t>(head);
      matrices.queries = static_cast<std::int32_t>(after.size(0));
      matrices.keys = static_cast<std::int32_t>(after.size(1));
      matrices.softmax = valuesOf(record.weights.select(0, head));
      matrices.effective = valuesOf(after);
      return;
    }
  }

  void measureGap(const Look& look, const StepPosition& position) {
    auto* scheduled = capabilityOf<Scheduled>(session.model());
    if (scheduled == nullptr || scheduled->scheduledValues().empty()) {
      hasGap = false;
      return;
    }
    if (!gapBatch)
      gapBatch = session.read(split, session.chooseSamples(split, kGapSamples)).to(look.device);
    live::ScheduleGap measured;
    measured.samples = static_cast<std::int32_t>(gapBatch->size());
    measured.now = lossOf(*gapBatch, look);
    {
      /// Puts the schedule back where the training has it.
      struct Finished {
        explicit Finished(Scheduled& theModel, const StepPosition& at)
            : model(theModel), position(at), state(theModel.scheduledState()) {
          model.finish();
        }
        ~Finished() {
          if (!state.is_null()) model.restoreScheduled(state);
          model.beforeStep(position);
        }
        Scheduled& model;
        StepPosition position;
        Json state;
      } const finished(*scheduled, position);
      measured.finished = lossOf(*gapBatch, look);
    }
    gap = measured;
  }

  void makeFilm(const Look& look) {
    static_cast<void>(beginLook(session, look));
    FilmResults results;
    images(session, look, results);
    live::Film made = results.film();
    made.step = look.step;
    if (!made.times.empty()) film = std::move(made);
  }

  /// Does `work`; where it fails, says so and turns it off.
  template <class Work>
  void attempt(bool& isOn, const char* what, Work&& work) {
    if (!isOn) return;
    try {
      work();
    } catch (const std::exception& error) {
      isOn = false;
      problem = std::string(what) + " cannot be shown: " + error.what();
    }
  }
};

LiveLook::LiveLook(TaskSession& session, LiveImages images)
    : state_(std::make_unique<State>(session, std::move(images))) {
  state_->hasFilm = static_cast<bool>(state_->images);
}

LiveLook::~LiveLook() = default;

void LiveLook::into(live::Frame& frame, const live::Wishes& wishes, const Look& look,
                    const StepPosition& position, double now) {
  State& s = *state_;
  const at::NoGradGuard noGradients;
  s.attempt(s.hasAttention, "attention", [&] {
    if (s.ids.empty()) s.ids = s.session.chooseSamples(s.split, kProbeImages);
    if (s.ids.empty() || !wishes.attention) return;
    frame.images = static_cast<std::int32_t>(s.ids.size());
    frame.image = std::min(wishes.image, frame.images - 1);
    frame.split = toString(s.split);
    const Batch& batch = s.probeImage(frame.image, look.device);
    frame.sample = s.ids[static_cast<std::size_t>(frame.image)];
    if (const auto label = batch.fields.find("label");
        label != batch.fields.end() && label->second.numel() == 1)
      frame.label = label->second.item<std::int64_t>();
    if (const auto image = batch.fields.find("image");
        image != batch.fields.end() && image->second.dim() == 4)
      frame.pixels = pixelsOf(image->second.select(0, 0));
    s.addAttention(frame, wishes, look);
  });
  if (wishes.gap && now - s.gapAt >= kGapSeconds) {
    s.gapAt = now;
    s.attempt(s.hasGap, "the schedule's gap", [&] { s.measureGap(look, position); });
  }
  if (wishes.film && now - s.filmAt >= kFilmSeconds) {
    s.filmAt = now;
    s.attempt(s.hasFilm, "images being denoised", [&] { s.makeFilm(look); });
  }
  if (wishes.gap) frame.gap = s.gap;
  if (wishes.film) frame.film = s.film;
  frame.error = s.problem;
}

}  // namespace vitrine::train
