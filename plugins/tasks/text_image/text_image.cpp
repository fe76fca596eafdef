#include "plugins/tasks/text_image/text_image.h"

#include <ATen/ATen.h>
#include <ATen/core/Reduction.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "core/eval/captions.h"
#include "core/model/packed_language_model.h"
#include "core/plugin/pipeline_session.h"
#include "core/plugin/sampler.h"
#include "core/plugin/text_session.h"
#include "plugins/tasks/text_image/judged.h"
#include "plugins/tasks/text_image/noise_steps.h"
#include "plugins/tasks/text_image/sequences.h"

namespace vitrine::text_image {

namespace {

/// Random numbers of a sample, by lane.
constexpr std::uint32_t kOrderLane = 0, kDropLane = 1, kTimeLane = 2;
/// A dry step shows that drawing works, with a few images.
constexpr std::int64_t kDryImages = 2, kDrySteps = 2;
/// Tokens of a caption that an evaluation writes, at most.
constexpr std::int64_t kLongestCaption = 64;
/// Parts of the noise's steps whose image losses are separate.
constexpr std::int64_t kTimeBands = 4;

using Captions = std::vector<std::vector<std::int64_t>>;

at::Tensor crossEntropySum(const at::Tensor& logits, const at::Tensor& targets) {
  return at::cross_entropy_loss(logits.to(at::kFloat).flatten(0, 1), targets.flatten(), {},
                                at::Reduction::Sum, text::kNoTarget);
}

class Session final : public PipelineSession,
                      public TextSession,
                      public CaptionedSession,
                      public JointSession {
 public:
  explicit Session(const TaskSetup& setup)
      : PipelineSession(setup),
        model_(requireCapability<TextImageModel>(*setup.model, "text_image")),
        language_(requireCapability<LanguageModel>(*setup.model, "text_image")),
        packed_(requireCapability<PackedLanguageModel>(*setup.model, "text_image")),
        sizes_(model_.textImageSizes()),
        shares_(model_.keptShares()),
        texts_(text::tokenizeStageOf(setup.pipeline->plan())),
        stream_(setup.seed, "text_image"),
        captionFirst_(setup.task.real("caption_first")),
        captionDrop_(setup.task.real("caption_drop")),
        mostTime_(setup.task.integer("t_max_image_first")),
        ratio_(setup.task.real("lr_ratio")),
        countsVelocity_(setup.task.text("image_error") == "velocity") {
    requireFields();
    texts_.begins = texts_.ends = true;  // the tokens around captions are those of jointRows()
    if (mostTime_ >= sizes_.steps) {
      throw ConfigError("task.t_max_image_first = " + std::to_string(mostTime_) +
                        " is not a step of the noise; use 0 to " +
                        std::to_string(sizes_.steps - 1));
    }
    if (const std::string judge = setup.task.text("judge"); !judge.empty())
      judge_.emplace(setup.auxiliary(judge), dataset());
    if (ratio_ > 0) return;
    for (const auto& item : setup.model->module().named_parameters()) {
      if (model_.isOfText(item.key())) item.value().set_requires_grad(false);
    }
  }

  const text::TokenizeStage& texts() const override { return texts_; }
  double captionDrop() const override { return captionDrop_; }
  std::unique_ptr<BatchStream> trainingStream(std::int64_t firstBatch) override {
    // Before a training whose last evaluation would fail.
    if (setup_.task.integer("drawings.count") > 0) {
      (void)noiseSteps(shares_, drawSettings().steps);
      if (judge_) judge_->requireImages({sizes_.channels, sizes_.height, sizes_.width});
    }
    return PipelineSession::trainingStream(firstBatch);
  }
  Sequence sequenceOf(const Batch& batch, std::int64_t row) const override {
    if (!batch.ragged.contains("tokens")) {
      throw ConfigError(
          "an image without a caption is not a sequence of this task; choose a sample of the data");
    }
    return captionedSequence(captionsOf(batch).at(static_cast<std::size_t>(row)),
                             batch.at("image").narrow(0, row, 1), sizes_, language_.contextLength(),
                             *texts_.tokenizer);
  }
  std::vector<Network> networks() override {
    std::vector<Network> all{{"", &model().module()}};
    if (!judge_) return all;
    const AuxiliaryNetwork& network = setup_.auxiliary(judge_->name());
    all.push_back({network.name, &network.model->module(), Network::Role::Frozen, network.file,
                   network.sha256});
    return all;
  }

  std::vector<ParameterGroup> parameterGroups() override {
    const auto parameters = model().module().named_parameters();
    std::array<ParameterGroup, 4> groups{{{"image_decay", {}, {}, 1, 1},
                                          {"image_no_decay", {}, {}, 0, 1},
                                          {"text_decay", {}, {}, 1, ratio_},
                                          {"text_no_decay", {}, {}, 0, ratio_}}};
    for (const auto& [name, info] : model().parameterInfo()) {
      const bool isText = model_.isOfText(name);
      if (isText && ratio_ == 0) continue;
      ParameterGroup& group = groups[(isText ? 2U : 0U) + (info.decays ? 0U : 1U)];
      group.parameterNames.push_back(name);
      group.parameters.push_back(parameters[name]);
    }
    std::vector<ParameterGroup> used;
    for (ParameterGroup& group : groups) {
      if (!group.parameters.empty()) used.push_back(std::move(group));
    }
    return used;
  }

  std::vector<LossPart> loss(StepContext& context, const Batch& batch) override {
    const at::Tensor& images = batch.at("image");
    const Captions captions = captionsOf(batch);
    const auto step = static_cast<std::uint64_t>(context.position.step);
    std::array<Captions, 2> texts;
    std::array<std::vector<std::int64_t>, 2> rows, times;
    for (std::size_t i = 0; i < captions.size(); ++i) {
      const auto id = static_cast<std::uint64_t>(batch.sampleIds[i]);
      const bool isCaptionFirst = stream_.uniform(step, id, kOrderLane) < captionFirst_;
      const bool isDropped = isCaptionFirst && stream_.uniform(step, id, kDropLane) < captionDrop_;
      const std::size_t order = isCaptionFirst ? 0 : 1;
      const std::int64_t most = isCaptionFirst ? sizes_.steps - 1 : mostTime_;
      texts[order].push_back(isDropped ? std::vector<std::int64_t>() : captions[i]);
      rows[order].push_back(static_cast<std::int64_t>(i));
      times[order].push_back(static_cast<std::int64_t>(
          stream_.below(static_cast<std::uint64_t>(most + 1), step, id, kTimeLane)));
    }
    const at::Tensor noise = at::randn(images.sizes(), context.generator, images.options());
    at::Tensor textSum, imageSum;
    std::int64_t tokens = 0;
    const auto add = [](at::Tensor& sum, const at::Tensor& part) {
      sum = sum.defined() ? sum + part : part;
    };
    for (const Order order : {Order::CaptionFirst, Order::ImageFirst}) {
      const std::size_t of = order == Order::CaptionFirst ? 0 : 1;
      if (rows[of].empty()) continue;
      const at::Tensor places = at::tensor(rows[of], at::kLong).to(images.device());
      const Scored scored =
          score(texts[of], order, images.index_select(0, places), noise.index_select(0, places),
                at::tensor(times[of], at::kLong).to(images.device()));
      add(textSum, scored.textSum);
      add(imageSum, trainedErrors(scored.imageErrors, times[of]).sum());
      tokens += scored.tokens;
    }
    const auto counted = [&](std::int64_t count) {
      return at::full({}, count, textSum.options().requires_grad(false));
    };
    return {{"text", textSum, counted(tokens)},
            {"image", imageSum, counted(std::ssize(captions)), sizes_.diffusionWeight}};
  }

  std::vector<Evaluation> evaluations() const override {
    std::vector<Evaluation> all = splitEvaluations({});
    if (all.empty() || setup_.task.integer("drawings.count") == 0) return all;
    Evaluation drawings = all.back();
    drawings.id += "/drawings";
    drawings.everySteps = kNever;
    all.insert(all.begin(), drawings);  // the last one decides about the model
    return all;
  }

  void evaluate(const EvaluationRequest& request, Results& results) override {
    if (request.evaluation.id.ends_with("/drawings")) {
      evaluateDrawings(request, results);
    } else {
      evaluateLosses(request, results);
    }
    for (EvaluationListener* listener : request.listeners) listener->finish(results);
  }

 private:
  static constexpr std::int64_t kNever = 1000000000000;

  void evaluateLosses(const EvaluationRequest& request, Results& results) {
    const std::unique_ptr<BatchStream> stream = evaluationStream(request.evaluation.split);
    Sums image, caption, alone;
    std::array<Sums, kTimeBands> bands;
    std::vector<std::string> written;
    std::vector<std::vector<std::string>> references;
    const std::int64_t most = setup_.task.integer("captions");
    for (std::int64_t i = 0; i < stream->batchesPerEpoch(); ++i) {
      const Batch batch = stream->next().to(request.context.device);
      const at::Tensor& images = batch.at("image");
      const Captions captions = captionsOf(batch);
      const Fixed fixed = fixedOf(batch, images);
      const Scored drawn = score(captions, Order::CaptionFirst, images, fixed.noise, fixed.time);
      image.add(drawn.imageErrors.sum().item<double>(), images.size(0));
      addBands(drawn.imageErrors, fixed.time, bands);
      const Scored told = score(captions, Order::ImageFirst, images, at::zeros_like(images),
                                at::zeros_like(fixed.time), /*isClean=*/true);
      caption.add(told.textSum.item<double>(), told.tokens);
      addAlone(captions, images.device(), alone);
      describe(batch, images, most - std::ssize(written), written, references);
    }
    results.score("image_loss", image.mean());
    for (std::size_t i = 0; i < bands.size(); ++i) {
      if (bands[i].count > 0) results.score("image_loss/" + bandName(i), bands[i].mean());
    }
    results.score("caption_loss", caption.mean());
    results.score("text_loss", alone.mean());
    if (!written.empty() && !references.empty())
      results.score("cider", eval::captionScores(written, references).mean);
    addCaptions(written, references, results);
  }

  /// The evaluation's samples are of the classes in turn, each drawn from its caption.
  void evaluateDrawings(const EvaluationRequest& request, Results& results) {
    const bool isDry = setup_.evaluationLimit > 0;
    const std::int64_t asked = setup_.task.integer("drawings.count");
    const Batch batch =
        read(request.evaluation.split,
             chooseSamples(request.evaluation.split, isDry ? std::min(asked, kDryImages) : asked));
    CaptionedDrawing drawing{.captions = captionsOf(batch)};
    for (const text::TokenIds& caption : drawing.captions)
      drawing.titles.push_back(texts_.tokenizer->decode(caption));
    if (const auto found = batch.fields.find("label"); found != batch.fields.end()) {
      const at::Tensor labels = found->second.to(at::kCPU, at::kLong).contiguous();
      drawing.labels.assign(labels.const_data_ptr<std::int64_t>(),
                            labels.const_data_ptr<std::int64_t>() + labels.numel());
    }
    DrawSettings settings = drawSettings();
    if (isDry) settings.steps = kDrySteps;
    judgeDrawings(model_, language_, drawing, settings, judge_ ? &*judge_ : nullptr,
                  dataset().classes, request.context.device, results);
  }

  /// \throws ConfigError  see guidanceOf()
  DrawSettings drawSettings() const {
    return {setup_.task.integer("drawings.steps"),
            guidanceOf(setup_.task.maybeReal("drawings.guidance"), captionDrop_), 1.0};
  }

  struct Sums {
    double sum = 0;
    std::int64_t count = 0;
    void add(double part, std::int64_t of) {
      sum += part;
      count += of;
    }
    [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
  };
  struct Scored {
    at::Tensor textSum;      ///< 0-d
    at::Tensor imageErrors;  ///< [B], mean over each image
    std::int64_t tokens = 0;
  };
  struct Fixed {
    at::Tensor noise, time;
  };

  void requireFields() const {
    const auto wanted = std::vector{sizes_.channels, sizes_.height, sizes_.width};
    for (const Phase phase : {Phase::Train, Phase::Evaluate}) {
      const SampleField& image = pipeline_->field("image", phase);
      if (image.type != at::kFloat || image.shape != wanted) {
        throw ConfigError("the model draws images of " + std::to_string(sizes_.channels) + " x " +
                          std::to_string(sizes_.height) + " x " + std::to_string(sizes_.width) +
                          " numbers in [-1, 1]; end data.pipeline with resize and normalize (by = "
                          "\"half\"), or set model.latent_size and model.latent_channels");
      }
      const SampleField& tokens = pipeline_->field("tokens", phase);
      if (tokens.kind != FieldKind::Tokens || tokens.shape != std::vector<std::int64_t>{-1}) {
        throw ConfigError(
            "text_image needs tokens of each caption by itself; leave pack and pad out of "
            "data.pipeline");
      }
    }
    if (!texts_.tokenizer)
      throw ConfigError("text_image needs captions as tokens; put tokenize into data.pipeline");
    if (texts_.begins || texts_.ends) {
      throw ConfigError(
          "text_image adds the tokens around captions itself; set begin = false and end = false in "
          "data.pipeline, tokenize");
    }
    text::requireVocabulary(*texts_.tokenizer, language_.vocabularySize());
    requireTokensOf(*texts_.tokenizer, sizes_);
  }

  Captions captionsOf(const Batch& batch) const {
    const Ragged& ragged = batch.ragged.at("tokens");
    const at::Tensor values = ragged.values.to(at::kCPU).contiguous();
    const at::Tensor ends = ragged.offsets.to(at::kCPU).contiguous();
    const auto* value = values.const_data_ptr<std::int64_t>();
    const auto* end = ends.const_data_ptr<std::int64_t>();
    Captions captions;
    for (std::int64_t i = 0; i + 1 < ends.size(0); ++i)
      captions.emplace_back(value + end[i], value + end[i + 1]);
    return captions;
  }

  /// Noise and time of each sample that do not change from one evaluation to the next.
  Fixed fixedOf(const Batch& batch, const at::Tensor& images) const {
    std::vector<at::Tensor> noise;
    std::vector<std::int64_t> time;
    const RandomStream stream(0, "text_image/time");
    for (const std::int64_t sample : batch.sampleIds) {
      const auto id = static_cast<std::uint64_t>(sample);
      noise.push_back(sampleNoise(id, images.sizes().slice(1)));
      time.push_back(
          static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(sizes_.steps), 0, id)));
    }
    return {at::stack(noise).to(images.device()), at::tensor(time, at::kLong).to(images.device())};
  }

  Scored score(const Captions& captions, Order order, const at::Tensor& images,
               const at::Tensor& noise, const at::Tensor& time, bool isClean = false) const {
    JointRows rows = jointRows(captions, order, sizes_, language_.contextLength(), images.device());
    const at::Tensor kept = shares_.to(images.device()).index_select(0, time).view({-1, 1, 1, 1});
    rows.sequences.images =
        isClean ? images
                : kept.sqrt().to(at::kFloat) * images + (1 - kept).sqrt().to(at::kFloat) * noise;
    rows.sequences.time = time;
    const MixedPrediction out = model_.mixed(rows.sequences);
    // A caption's score is about its own tokens: that an image comes first is the caller's choice.
    if (isClean) rows.targets.select(1, 0).fill_(text::kNoTarget);
    Scored scored{.textSum = crossEntropySum(out.logits, rows.targets),
                  .imageErrors = (out.noise.to(at::kFloat) - noise).square().flatten(1).mean(1)};
    // BOI or EOS is a target, too, and where the image comes first BOI after BOS.
    const std::int64_t more = order == Order::CaptionFirst || isClean ? 1 : 2;
    for (const auto& caption : captions) scored.tokens += std::ssize(caption) + more;
    return scored;
  }

  /// [B]: the squared errors that are trained, of those of the noise. The velocity is
  /// sqrt(kept) noise - sqrt(1 - kept) image (Salimans & Ho 2022, arXiv:2202.00512).
  at::Tensor trainedErrors(const at::Tensor& errors, const std::vector<std::int64_t>& times) const {
    if (!countsVelocity_) return errors;
    const at::Tensor kept = shares_.index_select(0, at::tensor(times, at::kLong));
    return velocityErrors(errors, kept);
  }

  static std::string bandName(std::size_t band) { return "part" + std::to_string(band); }

  void addBands(const at::Tensor& errors, const at::Tensor& time,
                std::array<Sums, kTimeBands>& bands) const {
    const at::Tensor error = errors.to(at::kCPU, at::kDouble).contiguous();
    const at::Tensor step = time.to(at::kCPU).contiguous();
    for (std::int64_t i = 0; i < error.numel(); ++i) {
      const std::int64_t band = step.const_data_ptr<std::int64_t>()[i] * kTimeBands / sizes_.steps;
      bands[static_cast<std::size_t>(band)].add(error.const_data_ptr<double>()[i], 1);
    }
  }

  /// Share of the captions that are one of their image's, word for word, and a table of them.
  static void addCaptions(const std::vector<std::string>& written,
                          const std::vector<std::vector<std::string>>& references,
                          Results& results) {
    if (written.empty() || references.empty()) return;
    std::int64_t right = 0;
    Json rows = Json::array();
    for (std::size_t i = 0; i < written.size(); ++i) {
      const bool isRight =
          std::find(references[i].begin(), references[i].end(), written[i]) != references[i].end();
      if (isRight) ++right;
      rows.push_back({written[i], references[i].front(), isRight});
    }
    Artifact table{"text_image", "captions", artifact_kind::kTable};
    setJson(table,
            {{"columns", {"written", "first caption of the image", "is one of its captions"}},
             {"rows", std::move(rows)}});
    table.meta["right"] = right;
    table.meta["captions"] = std::ssize(written);
    results.artifact(std::move(table));
    results.score("caption_accuracy",
                  static_cast<double>(right) / static_cast<double>(written.size()));
  }

  /// The captions as plain texts: what the language model knew before it saw images.
  void addAlone(const Captions& captions, at::Device device, Sums& sums) const {
    for (const auto& caption : captions) {
      std::vector<std::int64_t> tokens{sizes_.beginText};
      tokens.insert(tokens.end(), caption.begin(), caption.end());
      tokens.push_back(sizes_.endText);
      const at::Tensor row = at::tensor(tokens, at::kLong).unsqueeze(0).to(device);
      sums.add(crossEntropySum(packed_.logits({row, {}, {}}), text::nextTokens(row)).item<double>(),
               row.size(1) - 1);
    }
  }

  void describe(const Batch& batch, const at::Tensor& images, std::int64_t wanted,
                std::vector<std::string>& written,
                std::vector<std::vector<std::string>>& references) const {
    const auto texts = batch.texts.find("captions");
    const std::int64_t count = std::min(wanted, images.size(0));
    if (count <= 0 || texts == batch.texts.end()) return;
    const std::int64_t most = captionRoom(sizes_, language_.contextLength(), kLongestCaption);
    for (const auto& caption : greedyCaptions(model_, language_, images.narrow(0, 0, count), most))
      written.push_back(texts_.tokenizer->decode(caption));
    references.insert(references.end(), texts->second.begin(), texts->second.begin() + count);
  }

  TextImageModel& model_;
  LanguageModel& language_;
  PackedLanguageModel& packed_;
  TextImageModel::Sizes sizes_;
  at::Tensor shares_;
  text::TokenizeStage texts_;
  RandomStream stream_;
  double captionFirst_, captionDrop_;
  std::int64_t mostTime_;
  double ratio_;
  bool countsVelocity_;
  std::optional<ImageJudge> judge_;
};

}  // namespace

ItemCard TextImageTask::card() const {
  ItemCard card =
      itemCard(ItemKind::Task, "text_image", "Texts and images",
               "Captions and images by one model: draws what a text says, and describes images");
  card.needs = {TextImageModel::kId, "image", "tokens"};
  card.metrics = {
      {"drawings/agreement", "caption_accuracy", "image_loss", "caption_loss", "text_loss",
       "cider"},
      {"train/loss/image", "train/loss/text", "test/image_loss", "test/caption_loss"},
      "images",
      {{"*/image_loss", "image loss", "", "lower",
        "squared error of the noise at a fixed time and noise of each sample"},
       {"*/image_loss/*", "image loss by noise", "", "lower",
        "the same in each quarter of the steps of the noise, the least noisy first"},
       {"*/drawings/agreement", "judge agrees", "fraction", "higher",
        "share of drawings that the judge assigns to the class of their caption"},
       {"*/caption_accuracy", "captions right", "fraction", "higher",
        "share of greedy captions that are one of their image's captions, word for word"},
       {"*/caption_loss", "caption loss", "nats", "lower",
        "loss per token of captions behind their clean images"},
       {"*/text_loss", "text loss", "nats", "lower", "loss per token of captions without images"},
       {"*/cider", "CIDEr-D", "", "higher",
        "agreement of greedy captions with references, 0 to 10"}}};
  card.schema.fields = runOnly(
      {realField("caption_first", 0.8, "share of the samples whose caption comes before the image")
           .titled("Caption first")
           .range(0, 1),
       integerField("t_max_image_first", 500,
                    "largest step of the noise where the image comes first")
           .titled("Largest time, image first")
           .atLeast(0),
       realField("caption_drop", 0.1,
                 "share of the captions left out before an image, for guidance")
           .titled("Caption drop")
           .range(0, 1),
       choiceField("image_error", "noise", {"noise", "velocity"},
                   "whose squared error is trained: velocity weights noisy images more, in which "
                   "the caption matters most")
           .titled("Trained error"),
       realField("lr_ratio", 0.0, "rate of the text's parameters over that of images; 0: frozen")
           .titled("Text rate")
           .range(0, 1000),
       integerField("captions", 64, "samples of an evaluation that are described, for CIDEr-D")
           .titled("Captions written")
           .atLeast(0),
       textField("judge", nullptr, "[aux] table of the classifier that looks at drawings")
           .titled("Judge")
           .orNone(),
       tableField("drawings",
                  {integerField("count", 0,
                                "images drawn at the end, of captions of the classes in "
                                "turn; 0: none")
                       .titled("Drawings")
                       .range(0, 100000),
                   integerField("steps", 50, "steps of the noise").titled("Steps").range(1, 1000),
                   realField("guidance", nullptr,
                             "1: the caption alone; none: 1.55, and 1 with caption_drop = 0")
                       .titled("Guidance")
                       .range(0, 100)
                       .orNone()},
                  "images that the evaluation at the end draws")
           .titled("Drawings")});
  return card;
}

std::unique_ptr<TaskSession> TextImageTask::open(const TaskSetup& setup) const {
  return std::make_unique<Session>(setup);
}

void TextImageTask::requireStartable(const Config& task, Model& /*model*/) const {
  if (task.integer("drawings.count") > 0)
    (void)guidanceOf(task.maybeReal("drawings.guidance"), task.real("caption_drop"));
}

void registerAll(Registry& registry) {
  registry.add(std::make_unique<TextImageTask>());
  registry.add(std::make_unique<TextImageSampler>());
}

}  // namespace vitrine::text_image
