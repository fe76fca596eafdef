// The half of ComputeSession that computes: infer, analyse and sample with a model in memory.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/film_strip.h"
#include "app/vitrine/run/findings.h"
#include "app/vitrine/run/model_outputs.h"
#include "app/vitrine/run/sampling.h"
#include "app/vitrine/serve/compute_session.h"
#include "app/vitrine/serve/own_image.h"
#include "app/vitrine/serve/serve_fields.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/text.h"
#include "core/data/shown_image.h"

namespace vitrine::app {

namespace {

constexpr std::int64_t kMostImagesPerPass = 65536;
constexpr std::int64_t kMostSamples = 1024;

/// The values of `settings`, checked against the item's schema and complete.
Json settingsFrom(const Json& request, const Schema& schema, const std::string& item) {
  Json values = request.value("settings", Json::object());
  if (!values.is_object()) throw BadRequest("'settings' has to be a map of keys and values");
  std::vector<Problem> problems = resolveItem(schema, item, values);
  std::string sentences;
  for (Problem& problem : problems) {
    problem.file.clear();
    sentences += (sentences.empty() ? "" : "; ") + problem.sentence();
  }
  if (!problems.empty()) throw ConfigError(sentences);
  return values;
}

/// The tensors of a request, by the names in `outputs`.
OutputChoice choiceFrom(const Json& request) {
  OutputChoice choice{.isEffective = flagOf(request, "effective")};
  const std::map<std::string, const char*> known{
      {"logits", "logits"},
      {"features", "features"},
      {"blocks", kBlockOutputs},
      {"attention", choice.isEffective ? kEffectiveOutputs : kAttentionOutputs}};
  for (const std::string& name : textsOf(request, "outputs")) {
    const auto found = known.find(name);
    if (found == known.end()) {
      throw ConfigError("'outputs' has '" + shorten(name, 80) +
                        "'; there are logits, features, blocks and attention");
    }
    choice.names.insert(found->second);
  }
  if (!request.contains("outputs")) choice.names = {"logits"};
  choice.batchSize = integerOf(request, "batch_size", choice.batchSize);
  if (choice.batchSize < 1 || choice.batchSize > kMostImagesPerPass) {
    throw ConfigError("'batch_size' is " + std::to_string(choice.batchSize) +
                      "; it has to be 1 to " + std::to_string(kMostImagesPerPass));
  }
  return choice;
}

std::vector<std::int64_t> integersOf(const Json& list, const char* key) {
  const BadRequest wrong(std::string("'") + key + "' has to be a list of integers");
  if (!list.is_array()) throw wrong;
  std::vector<std::int64_t> values;
  for (const Json& one : list) {
    if (!one.is_number_integer()) throw wrong;
    values.push_back(one.get<std::int64_t>());
  }
  return values;
}

void requireImageMap(const Json& image) {
  if (!image.is_object() || !image.contains("shape") || !image.contains("bytes") ||
      !image["bytes"].is_binary()) {
    throw BadRequest("'image' has to be a map of 'shape' and 'bytes', a byte string");
  }
}

/// {shape, bytes}: float32, little-endian, as the model reads them.
at::Tensor imagesFrom(const Json& image, const WarmModel& warm) {
  requireImageMap(image);
  const std::vector<std::int64_t> shape = integersOf(image["shape"], "shape");
  const std::string text = joined(shape, [](std::int64_t side) { return std::to_string(side); });
  if (!warm.image) throw RefusedError("model '" + warm.handle + "' reads no images");
  const auto [channels, height, width] = *warm.image;
  const auto& bytes = image["bytes"].get_binary();
  const std::int64_t perImage = channels * height * width * 4;
  const bool fits = shape.size() == 4 && shape[0] > 0 && shape[1] == channels &&
                    shape[2] == height && shape[3] == width;
  if (!fits || std::ssize(bytes) % perImage != 0 || std::ssize(bytes) / perImage != shape[0]) {
    throw ConfigError("'image' has shape [" + text + "] and " + std::to_string(bytes.size()) +
                      " bytes; the model reads [batch, " + std::to_string(channels) + ", " +
                      std::to_string(height) + ", " + std::to_string(width) +
                      "] of float32, 4 bytes each");
  }
  at::Tensor images = at::empty(shape, at::kFloat);
  std::memcpy(images.mutable_data_ptr(), bytes.data(), bytes.size());
  return images;
}

/// {shape: [height, width, 3], bytes}: pixels of an image from anywhere.
OwnImage ownImageFrom(const Json& image) {
  constexpr std::int64_t kMostSide = 65536;
  requireImageMap(image);
  const std::vector<std::int64_t> shape = integersOf(image["shape"], "shape");
  const auto& bytes = image["bytes"].get_binary();
  const bool fits = shape.size() == 3 && shape[2] == 3 && shape[0] > 0 && shape[1] > 0 &&
                    shape[0] <= kMostSide && shape[1] <= kMostSide &&
                    std::ssize(bytes) == 3 * shape[0] * shape[1];
  if (!fits) {
    throw ConfigError("'image' has shape [" +
                      joined(shape, [](std::int64_t side) { return std::to_string(side); }) +
                      "] and " + std::to_string(bytes.size()) +
                      " bytes; it has to be [height, width, 3] with one byte for each value");
  }
  return {shape[0], shape[1], {bytes.begin(), bytes.end()}};
}

TensorMap asImage(const at::Tensor& images) { return {{"image", images}}; }

std::vector<std::int64_t> sampleIdsOf(const Json& request) {
  if (!request.contains("sample_ids")) throw BadRequest("'sample_ids' is missing");
  std::vector<std::int64_t> ids = integersOf(request["sample_ids"], "sample_ids");
  if (ids.empty()) throw ConfigError("'sample_ids' is empty; name at least one sample");
  return ids;
}

/// Of samples that were read.
const at::Tensor& imagesOf(const Batch& batch) {
  const auto found = batch.fields.find("image");
  if (found == batch.fields.end()) throw RefusedError("the samples of this run have no image");
  return found->second;
}

/// What `image`, or `sample_ids` and `split`, mean.
InputSource sourceFrom(const Json& request, const WarmModel& warm) {
  if (request.contains("image") == request.contains("sample_ids"))
    throw BadRequest("give either 'image' or 'sample_ids'");
  if (request.contains("image")) {
    const at::Tensor images = imagesFrom(request["image"], warm);
    return {images.size(0), [images](std::int64_t first, std::int64_t number) {
              return asImage(images.narrow(0, first, number));
            }};
  }
  const TrainedModel& trained = warm.requireRun("'sample_ids'");
  const Split split = splitOf(trained, request.contains("split") ? textOf(request, "split") : "");
  const std::vector<std::int64_t> ids = sampleIdsOf(request);
  return {std::ssize(ids),
          [&session = *trained.run.session, split, ids](std::int64_t first, std::int64_t number) {
            const Batch batch =
                session.read(split, {ids.begin() + first, ids.begin() + first + number});
            return asImage(imagesOf(batch));
          }};
}

std::span<const std::byte> bytesOf(const at::Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()};
}

std::string dtypeOf(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return "float32";
    case at::kDouble:
      return "float64";
    case at::kLong:
      return "int64";
    default:
      throw Error(std::string("an output of type ") + c10::toString(tensor.scalar_type()) +
                  " cannot be sent");
  }
}

/// Between an evaluation's batches: is it still wanted?
class Watcher final : public EvaluationListener {
 public:
  explicit Watcher(const Reply& reply) : reply_(reply) {}
  void batch(const EvaluationBatch&) override { reply_.stopIfCancelled(); }
  void finish(Results&) override {}

 private:
  const Reply& reply_;
};

/// Sends what a sampler makes as it comes.
class Delivery final : public Results {
 public:
  /// \param store  null: nothing is kept
  Delivery(Reply& reply, store::RunStore* store, const WarmModel& warm, bool wantsPreviews)
      : reply_(reply), store_(store), warm_(warm), wantsPreviews_(wantsPreviews) {}

  /// The steps of an image become artifacts of the run, where all of them have room.
  /// \param within  bytes of all images together
  void keepSteps(store::RunStore& store, std::int64_t within) {
    stepStore_ = &store;
    room_ = within;
  }
  void score(const std::string& name, double value) override { scores[name] = finite(value); }
  void artifact(Artifact artifact) override {
    if (stepStore_ != nullptr) static_cast<void>(strip_.take(artifact));
    if (!wantsPreviews_) return;
    reply_.data("preview",
                {{"name", artifact.name}, {"kind", artifact.kind}, {"meta", artifact.meta}},
                artifact.data);
  }
  void image(GeneratedImage image) override {
    image.step = warm_.trained->checkpoint.step;
    Json head{{"seed", image.seed},
              {"width", image.width},
              {"height", image.height},
              {"sha256", image.sha256},
              {"recipe", image.recipe}};
    if (store_ != nullptr) head["stored"] = store_->addImage(warm_.run.id, image);
    reply_.data("image", std::move(head), image.png);
    ++images;
    if (stepStore_ != nullptr) storeSteps(image);
  }
  void text(GeneratedText text) override {
    text.step = warm_.trained->checkpoint.step;
    Json fields{
        {"seed", text.seed}, {"prompt", text.prompt}, {"text", text.text}, {"recipe", text.recipe}};
    if (store_ != nullptr) fields["stored"] = store_->addText(warm_.run.id, text);
    reply_.part({{"text", std::move(fields)}});
    ++texts;
  }
  void progress(std::int64_t done, std::int64_t total) override { reply_.progress(done, total); }
  bool isCancelled() override { return reply_.isCancelled(); }

  Json scores = Json::object();
  std::int64_t images = 0, texts = 0;
  std::int64_t storedSteps = 0;  ///< artifacts

 private:
  void storeSteps(const GeneratedImage& image) {
    Film film = strip_.of(image);
    std::int64_t bytes = 0;
    for (const Artifact& one : film.artifacts) bytes += std::ssize(one.data);
    if (bytes > room_) return;
    room_ -= bytes;
    for (Artifact& one : film.artifacts) {
      one.step = image.step;
      static_cast<void>(stepStore_->addArtifact(warm_.run.id, one));
      ++storedSteps;
    }
  }

  Reply& reply_;
  store::RunStore* store_;
  const WarmModel& warm_;
  bool wantsPreviews_;
  store::RunStore* stepStore_ = nullptr;
  std::int64_t room_ = 0;
  FilmStrip strip_;
};

}  // namespace

void ComputeSession::infer(const Json& request, Reply& reply) {
  const std::shared_ptr<const WarmModel> warm = models_.use(textOf(request, "model"));
  const OutputChoice choice = choiceFrom(request);
  const InputSource source = sourceFrom(request, *warm);
  if (warm->trained) (void)beginLook(*warm->trained->run.session, warm->look);
  const std::shared_ptr<TensorProgram> program = programOf(warm->model());
  (void)checkedInputs(*program, source.read(0, 1), "the request");
  requireOutputs(*program, asImage({}), choice.names);
  const NamedTensors tensors = modelOutputs(*program, source, choice, warm->look.device,
                                            warm->look.precision, [&](std::int64_t done) {
                                              reply.stopIfCancelled();
                                              if (source.count > choice.batchSize)
                                                reply.progress(done, source.count);
                                            });
  Json names = Json::array();
  for (const auto& [name, tensor] : tensors) {
    names.push_back(name);
    reply.data("output",
               {{"name", name}, {"dtype", dtypeOf(tensor)}, {"shape", tensor.sizes().vec()}},
               bytesOf(tensor));
  }
  reply.last({{"model", warm->handle}, {"images", source.count}, {"outputs", std::move(names)}});
}

void ComputeSession::analyse(const Json& request, Reply& reply) {
  const std::shared_ptr<const WarmModel> warm = models_.use(textOf(request, "model"));
  const std::string item = textOf(request, "item");
  const Analysis& analysis = engine_.registry.analysis(item);
  const Config config(settingsFrom(request, analysis.card().schema, item));
  const std::string asked = request.contains("split") ? textOf(request, "split") : "";
  const bool isStored = flagOf(request, "store");
  const TrainedModel& trained = warm->requireRun("an analysis");
  requireAnalysable(engine_.registry, analysis, config, trained);
  const bool isProbe = analysis.kind() == Analysis::Kind::Probe;
  const Split split = splitOf(trained, asked);
  std::optional<Batch> own;
  if (request.contains("image")) {
    if (isStored) throw ConfigError("results of an analysis of an 'image' cannot be stored");
    own = batchOf(ownImageFrom(request["image"]), engine_.registry, trained.config,
                  *trained.run.session);
  }
  Watcher watcher(reply);
  Analysis::Findings findings =
      findingsOf(analysis, config, trained, split, &watcher, own ? &*own : nullptr);
  reply.stopIfCancelled();
  const FindingsOrigin origin{item, split, warm->opening.use, warm->opening.overrides};
  describeFindings(findings, origin, trained);
  std::optional<store::RunStore> store;
  std::int64_t bytes = 0;
  for (const Artifact& artifact : findings.artifacts) bytes += std::ssize(artifact.data);
  if (isStored && bytes <= integerOf(request, "store_within", bytes)) {
    store.emplace(database_, store::OpenMode::ReadWrite);
    storeScores(*store, warm->run.id, origin, findings.scores, trained);
  }
  for (const Artifact& artifact : findings.artifacts) {
    Json head{{"name", artifact.name}, {"kind", artifact.kind}, {"meta", artifact.meta}};
    if (store) head["stored"] = store->addArtifact(warm->run.id, artifact);
    reply.data("artifact", std::move(head), artifact.data);
  }
  Json scores = Json::object();
  for (const auto& [name, value] : findings.scores) scores[name] = finite(value);
  const train::Precision precision = isProbe ? train::Precision::Float32 : warm->look.precision;
  reply.last({{"model", warm->handle},
              {"run", warm->run.id},
              {"analysis", item},
              {"step", trained.checkpoint.step},
              {"split", toString(split)},
              {"precision", toString(precision)},
              {"scores", std::move(scores)},
              {"artifacts", findings.artifacts.size()}});
}

void ComputeSession::sample(const Json& request, Reply& reply) {
  const std::shared_ptr<const WarmModel> warm = models_.use(textOf(request, "model"));
  const TrainedModel& trained = warm->requireRun("a sampler");
  TaskSession& session = *trained.run.session;
  Json asked{{"settings", request.value("settings", Json::object())}};
  Json& settings = asked["settings"];
  if (!settings.is_object()) throw BadRequest("'settings' has to be a map of keys and values");
  if (request.contains("sampler")) settings["sampler"] = textOf(request, "sampler");
  const std::string name = requestedSampler(engine_.registry, session, "", settings);
  const Sampler& sampler = samplerFor(engine_.registry, session, name);
  const ItemCard card = sampler.card();
  const SampleRequest wanted = sampleRequestFor(trained, warm->run, warm->sha256,
                                                settingsFrom(asked, settingsOf(card), card.id));
  const bool wantsPreviews = flagOf(request, "previews");
  const bool isStored = flagOf(request, "store");
  const std::int64_t room = integerOf(request, "store_steps", 0);
  std::optional<store::RunStore> store;
  if (isStored || room > 0) store.emplace(database_, store::OpenMode::ReadWrite);
  Delivery delivery(reply, isStored ? &*store : nullptr, *warm, wantsPreviews);
  if (room > 0) delivery.keepSteps(*store, room);
  {
    (void)beginLook(*trained.run.session, warm->look);
    const c10::NoGradGuard noGradient;
    const train::AutocastScope autocast(warm->look.precision, warm->look.device.type());
    sampler.sample(wanted, delivery);
  }
  reply.stopIfCancelled();
  reply.last({{"model", warm->handle},
              {"run", warm->run.id},
              {"sampler", card.id},
              {"step", trained.checkpoint.step},
              {"images", delivery.images},
              {"texts", delivery.texts},
              {"stored_steps", delivery.storedSteps},
              {"scores", std::move(delivery.scores)}});
}

void ComputeSession::samples(const Json& request, Reply& reply) {
  const std::shared_ptr<const WarmModel> warm = models_.use(textOf(request, "model"));
  const TrainedModel& trained = warm->requireRun("'samples'");
  const Split split = splitOf(trained, request.contains("split") ? textOf(request, "split") : "");
  const std::vector<std::int64_t> ids = sampleIdsOf(request);
  if (std::ssize(ids) > kMostSamples) {
    throw ConfigError("'sample_ids' has " + std::to_string(ids.size()) + " samples; ask for " +
                      std::to_string(kMostSamples) + " at most");
  }
  for (const std::int64_t id : ids) {
    reply.stopIfCancelled();
    const Batch batch = trained.run.session->read(split, {id});
    const ShownImage shown = shownImage(imagesOf(batch).select(0, 0));
    Json head{{"sample_id", id},
              {"width", shown.width},
              {"height", shown.height},
              {"scaling", ShownImage::kScaling}};
    const auto label = batch.fields.find("label");
    if (label != batch.fields.end() && label->second.numel() == 1 &&
        label->second.scalar_type() == at::kLong)
      head["label"] = label->second.item<std::int64_t>();
    reply.data("sample", std::move(head), shown.png);
  }
  reply.last({{"model", warm->handle}, {"split", toString(split)}, {"samples", ids.size()}});
}

}  // namespace vitrine::app
