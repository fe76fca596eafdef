// The task of image generation: losses, evaluations, a judge, and what it refuses.
#include "plugins/tasks/generation/generation.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/base/error.h"
#include "tests/plugins/generation/blobs.h"
#include "tests/support/fake_model.h"
#include "tests/support/refusal.h"

namespace vitrine::generation {
namespace {

using baselines::DitArchitecture;
using test::Fails, test::Names;
using visionllama_diffusion::DitLlamaArchitecture, visionllama_diffusion::SitLlamaArchitecture;

StepContext contextOf(std::uint64_t seed) {
  return {.generator = at::detail::createCPUGenerator(seed)};
}

double total(const std::vector<LossPart>& parts, double batch) {
  double sum = 0;
  for (const LossPart& part : parts) sum += part.weight * part.sum.item<double>() / batch;
  return sum;
}

std::map<std::string, double> evaluated(TaskSession& session, const Evaluation& evaluation,
                                        CollectedResults& results) {
  const at::NoGradGuard noGradient;
  session.model().module().eval();
  StepContext context = contextOf(1);
  session.evaluate({evaluation, context, {}}, results);
  return {results.scores.begin(), results.scores.end()};
}

TEST(Generation, LossesBeginWhereAPredictionOfZeroStands) {
  const auto flow = GenerationTask().open(setupOf(smallModel<SitLlamaArchitecture>()));
  const auto stream = flow->trainingStream(0);
  const Batch batch = stream->next();
  StepContext context = contextOf(2);
  const std::vector<LossPart> parts = flow->loss(context, batch);
  ASSERT_EQ(parts.size(), 1U);
  // |data - noise|^2 has the mean of data^2 plus 1.
  const double power = batch.at("image").square().mean().item<double>();
  EXPECT_NEAR(total(parts, 16), power + 1, 0.25);

  const auto steps = GenerationTask().open(setupOf(smallModel<DitLlamaArchitecture>()));
  const std::vector<LossPart> both = steps->loss(context, batch);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].name, "mse");
  EXPECT_EQ(both[1].name, "vb");
  EXPECT_NEAR(both[0].sum.item<double>() / 16, 1, 0.15);
}

TEST(Generation, DrawsFromTheStepsGeneratorAlone) {
  const auto session = GenerationTask().open(setupOf(smallModel<SitLlamaArchitecture>()));
  const Batch batch = session->trainingStream(0)->next();
  const auto lossWith = [&](std::uint64_t seed) {
    StepContext context = contextOf(seed);
    return total(session->loss(context, batch), 16);
  };
  EXPECT_EQ(lossWith(3), lossWith(3));
  EXPECT_NE(lossWith(3), lossWith(4));
}

/// Adam by hand, so that the test holds no trainer.
double overfit(TaskSession& session, int steps, double rate) {
  std::vector<at::Tensor> parameters = session.model().module().parameters(), first, second;
  for (const at::Tensor& p : parameters) {
    first.push_back(at::zeros_like(p));
    second.push_back(at::zeros_like(p));
  }
  session.model().module().train();
  StepContext context = contextOf(9);
  const auto stream = session.trainingStream(0);
  double last = 0;
  for (int step = 1; step <= steps; ++step) {
    const Batch batch = stream->next();
    at::Tensor loss = at::zeros({});
    for (const LossPart& part : session.loss(context, batch))
      loss = loss + part.sum / static_cast<double>(batch.size());
    loss.backward();
    const at::NoGradGuard noGradient;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const at::Tensor g = parameters[i].grad();
      first[i].mul_(0.9).add_(g, 0.1);
      second[i].mul_(0.99).addcmul_(g, g, 0.01);
      parameters[i].sub_(rate * (first[i] / (1 - std::pow(0.9, step))) /
                         ((second[i] / (1 - std::pow(0.99, step))).sqrt() + 1e-8));
      parameters[i].mutable_grad() = at::Tensor();
    }
    last = loss.item<double>();
  }
  return last;
}

TEST(Generation, LearnsThreePicturesAndDrawsTheOneThatIsAskedFor) {
  const auto session = GenerationTask().open(
      setupOf(smallModel<SitLlamaArchitecture>(), {{"samples", {{"count", 9}, {"steps", 20}}}}));
  CollectedResults before, after;
  const Evaluation loss = session->evaluations().front();
  const double first = evaluated(*session, loss, before).at("loss");
  (void)overfit(*session, 250, 4e-3);
  EXPECT_LT(evaluated(*session, loss, after).at("loss"), 0.4 * first);

  CollectedResults samples;
  (void)evaluated(*session, session->evaluations().back(), samples);
  ASSERT_EQ(samples.artifacts.size(), 1U);
  const Artifact& grid = samples.artifacts.front();
  EXPECT_EQ(grid.kind, artifact_kind::kImageGrid);
  const at::Tensor pixels =
      at::from_blob(const_cast<std::byte*>(grid.data.data()), {9, kBlobSide, kBlobSide}, at::kByte)
          .to(at::kFloat);
  int right = 0;
  for (std::int64_t i = 0; i < 9; ++i) {
    const at::Tensor image = pixels[i];
    const at::Tensor halves =
        at::stack({image.narrow(1, 0, 4).mean() - image.narrow(1, 4, 4).mean(),
                   image.narrow(1, 4, 4).mean() - image.narrow(1, 0, 4).mean(),
                   image.narrow(0, 0, 4).mean() - image.narrow(0, 4, 4).mean()});
    right += halves.argmax().item<std::int64_t>() == i % kBlobClasses;
  }
  EXPECT_GE(right, 8);
}

TEST(Generation, StepsOfADiffusionAreLearnedToo) {
  const auto session = GenerationTask().open(setupOf(smallModel<DitArchitecture>()));
  CollectedResults before, after;
  const Evaluation loss = session->evaluations().front();
  const double first = evaluated(*session, loss, before).at("mse");
  EXPECT_NEAR(first, 1, 0.1);
  (void)overfit(*session, 120, 4e-3);
  const auto scores = evaluated(*session, loss, after);
  EXPECT_LT(scores.at("mse"), 0.4);
  EXPECT_NEAR(scores.at("loss"), scores.at("mse") + scores.at("vb"), 1e-9);
}

TEST(Generation, EvaluationsUseTheSameDrawsWhateverTheBatch) {
  const auto scoreWith = [](std::int64_t batch) {
    TaskSetup setup = setupOf(smallModel<DitArchitecture>());
    setup.evaluationBatchSize = batch;
    const auto session = GenerationTask().open(setup);
    CollectedResults results;
    return evaluated(*session, session->evaluations().front(), results).at("loss");
  };
  EXPECT_NEAR(scoreWith(5), scoreWith(12), 1e-6);
}

/// Says "left", "right" or "top" by the brighter half; the features are the brightness of four
/// corners.
class HalfJudge final : public test::FakeModel<ImageClassifier> {
 public:
  explicit HalfJudge(std::int64_t classes, std::int64_t side = kBlobSide)
      : classes_(classes), side_(side) {}
  at::Tensor classify(const at::Tensor& images) override { return head(features(images)); }
  at::Tensor features(const at::Tensor& images) override {
    if (images.size(2) != side_) throw ShapeError("16 rows of pixels are read");
    seen = images;
    return at::avg_pool2d(images, {4, 4}).flatten(1);
  }
  at::Tensor head(const at::Tensor& f) override {
    const at::Tensor horizontal = f.select(1, 0) + f.select(1, 2) - f.select(1, 1) - f.select(1, 3);
    const at::Tensor vertical = f.select(1, 0) + f.select(1, 1) - f.select(1, 2) - f.select(1, 3);
    return at::stack({horizontal, -horizontal, vertical}, 1).narrow(1, 0, classes_);
  }
  at::Tensor seen;

 private:
  std::int64_t classes_, side_;
};

AuxiliaryNetwork judgeOf(const std::shared_ptr<Model>& model) {
  Json data = dataSchema().defaults();
  data["normalize"] = "dataset";
  return {"judge", model, Json{{"model", Json::object()}, {"data", data}}, "judge.safetensors",
          std::string(64, 'b')};
}

TEST(Generation, AJudgeScoresSamplesAsItWasTrainedToSeeThem) {
  const auto judge = std::make_shared<HalfJudge>(3);
  TaskSetup setup = setupOf(smallModel<SitLlamaArchitecture>(),
                            {{"judge", "judge"}, {"samples", {{"count", 12}, {"steps", 4}}}});
  setup.auxiliaries = {judgeOf(judge)};
  const auto session = GenerationTask().open(setup);
  ASSERT_EQ(session->networks().size(), 2U);
  EXPECT_EQ(session->networks()[1].role, Network::Role::Frozen);
  CollectedResults results;
  const auto scores = evaluated(*session, session->evaluations().back(), results);
  for (const char* name : {"agreement", "frechet", "precision", "recall", "inception"})
    EXPECT_TRUE(scores.contains(name)) << name;
  EXPECT_LE(scores.at("agreement"), 1);
  // Real images were looked at last: black is (0 - mean) / deviation of the data set.
  EXPECT_NEAR(judge->seen.min().item<double>(), (20.0 / 255 - 0.3) / 0.4, 0.02);
  ASSERT_EQ(results.artifacts.size(), 2U);
  EXPECT_EQ(results.artifacts.back().meta.at("judge").at("sha256"), std::string(64, 'b'));
  EXPECT_EQ(results.artifacts.back().meta.at("images"), 12);
  EXPECT_EQ(results.artifacts.back().meta.at("real_images"), 12);
}

TEST(Generation, RefusesAJudgeOfFewerSamplesThanItsScoresNeed) {
  const auto flow = smallModel<SitLlamaArchitecture>();
  const auto task = [](std::int64_t count) -> Json {
    return {{"judge", "judge"}, {"samples", {{"count", count}, {"steps", 2}}}};
  };
  const auto refused = [&](std::int64_t count, bool isTrained) {
    TaskSetup setup = setupOf(flow, task(count));
    setup.auxiliaries = {judgeOf(std::make_shared<HalfJudge>(3))};
    const auto session = GenerationTask().open(setup);
    CollectedResults results;
    return test::refusal<ConfigError>([&] {
      if (isTrained) return (void)session->trainingStream(0);
      (void)evaluated(*session, session->evaluations().back(), results);
    });
  };
  for (const std::int64_t count : {1, 3}) {
    EXPECT_THAT(refusedStart(flow, task(count)), Names("task.samples.count", count, "task.judge"));
    EXPECT_THAT(refused(count, true), Names("task.samples.count", count, 4));
    EXPECT_THAT(refused(count, false), Names("task.samples.count", count, 4));
  }
  for (const std::int64_t count : {0, 4}) {
    EXPECT_EQ(refusedStart(flow, task(count)), "");
    EXPECT_EQ(refused(count, true), "");
    EXPECT_EQ(refused(count, false), "");
  }
}

TEST(Generation, RefusesAJudgeOfOtherClassesOrOfUnknownPixels) {
  const auto tryWith = [](const AuxiliaryNetwork& network) {
    TaskSetup setup = setupOf(smallModel<SitLlamaArchitecture>(),
                              {{"judge", "judge"}, {"samples", {{"count", 6}, {"steps", 2}}}});
    setup.auxiliaries = {network};
    return test::refusal<ConfigError>([&] {
      const auto session = GenerationTask().open(setup);
      CollectedResults results;
      (void)evaluated(*session, session->evaluations().back(), results);
    });
  };
  EXPECT_THAT(tryWith(judgeOf(std::make_shared<HalfJudge>(2))), Names("2 classes"));
  const auto beginWith = [](const std::shared_ptr<Model>& model) {
    TaskSetup setup = setupOf(smallModel<SitLlamaArchitecture>(), {{"judge", "judge"}});
    setup.auxiliaries = {judgeOf(model)};
    const auto session = GenerationTask().open(setup);
    return test::refusal<ConfigError>([&] { (void)session->trainingStream(0); });
  };
  EXPECT_THAT(beginWith(std::make_shared<HalfJudge>(2)), Names("2 classes"));
  EXPECT_THAT(beginWith(std::make_shared<HalfJudge>(3, 16)), Names("aux.judge", "16 rows"));
  EXPECT_EQ(beginWith(std::make_shared<HalfJudge>(3)), "");
  AuxiliaryNetwork fileAlone = judgeOf(std::make_shared<HalfJudge>(3));
  fileAlone.config.erase("data");
  EXPECT_THAT(tryWith(fileAlone), Names("run = UUID"));
  EXPECT_THAT(
      tryWith({"judge", smallModel<SitLlamaArchitecture>(), judgeOf(nullptr).config, "", ""}),
      Names("image_classifier"));
}

/// Halves the size and doubles the values; its channels of latents are equal, and one is shown.
class HalfCodec final : public test::FakeModel<LatentCodec> {
 public:
  explicit HalfCodec(std::int64_t channels = 2, std::int64_t shown = 0)
      : channels_(channels), shown_(shown) {}
  Pixels pixels() const override { return {1, 0, 1}; }
  std::int64_t factor() const override { return 2; }
  std::int64_t latentChannels() const override { return channels_; }
  double scale() const override { return 0.5; }
  Latent encodeLatent(const at::Tensor& images) override {
    lowest = images.min().item<double>();
    encoded += images.size(0);
    return {at::avg_pool2d(images, {2, 2}).repeat({1, channels_, 1, 1}), {}};
  }
  at::Tensor decodeLatent(const at::Tensor& latent) override {
    return at::upsample_nearest2d(latent.narrow(1, shown_, 1), {kBlobSide, kBlobSide});
  }
  double lowest = 0;
  std::int64_t encoded = 0;  ///< images

 private:
  std::int64_t channels_, shown_;
};

TaskSetup latentSetup(const std::shared_ptr<HalfCodec>& codec, const Json& task = Json::object()) {
  Json values{{"codec", "codec"}};
  values.update(task);
  TaskSetup setup =
      setupOf(smallModel<SitLlamaArchitecture>({{"input_size", 4}, {"in_channels", 2}}), values);
  // Without a hash the latents stay in memory.
  setup.auxiliaries = {{"codec", codec, Json::object(), "codec.safetensors", ""}};
  setup.registry = &registry();
  return setup;
}

TEST(Generation, EncodesTheTrainingImagesOnceWhereTheyStayTheSame) {
  const auto codec = std::make_shared<HalfCodec>();
  const auto session = GenerationTask().open(latentSetup(codec));
  EXPECT_EQ(codec->encoded, 0) << "what only looks at a run needs no latents of its training";
  const auto stream = session->trainingStream(0);
  EXPECT_EQ(codec->encoded, 48) << "all training images";
  StepContext context = contextOf(1);
  double cached = 0;
  for (int i = 0; i < 6; ++i) {
    const Batch batch = stream->next();
    EXPECT_EQ(batch.fields.count("image"), 0U);
    cached += total(session->loss(context, batch), 16);
  }
  EXPECT_EQ(codec->encoded, 48) << "two epochs of steps";

  const auto other = std::make_shared<HalfCodec>();
  const auto plain = GenerationTask().open(latentSetup(other, {{"latent_cache", false}}));
  const auto images = plain->trainingStream(0);
  StepContext again = contextOf(1);
  double direct = 0;
  for (int i = 0; i < 6; ++i) direct += total(plain->loss(again, images->next()), 16);
  EXPECT_EQ(other->encoded, 96);
  EXPECT_NEAR(direct, cached, 1e-4) << "the same latents, noise and times";
}

TEST(Generation, RefusesToCacheLatentsOfImagesThatChange) {
  TaskSetup setup = latentSetup(std::make_shared<HalfCodec>());
  Json data = setup.data.json();
  data["augment"]["crop_padding"] = 1;
  setup.data = Config(data);
  setup.pipeline = std::make_shared<const Pipeline>(
      registry(), setup.data, std::make_shared<Blobs>(), 0, Pipeline::ImageShape{});
  EXPECT_THAT([&] { (void)GenerationTask().open(setup)->trainingStream(0); },
              Fails<ConfigError>("random_crop", "task.latent_cache"));
}

TEST(Generation, LearnsInTheLatentsOfACodec) {
  const auto codec = std::make_shared<HalfCodec>();
  TaskSetup setup =
      setupOf(smallModel<SitLlamaArchitecture>({{"input_size", 4}, {"in_channels", 2}}),
              {{"codec", "codec"}});
  setup.auxiliaries = {{"codec", codec, Json::object(), "codec.safetensors", std::string(64, 'c')}};
  const auto session = GenerationTask().open(setup);
  StepContext context = contextOf(1);
  EXPECT_GT(total(session->loss(context, session->trainingStream(0)->next()), 16), 0);
  EXPECT_NEAR(codec->lowest, 20.0 / 255, 1e-6) << "the codec reads pixels from 0 to 1";
  const auto& own = dynamic_cast<const GenerationSession&>(*session);
  // Latents are scaled by 0.5, decoded 0 to 1, and images lie in [-1, 1].
  EXPECT_NEAR(own.images(at::full({1, 2, 4, 4}, 0.5))[0][0][0][0].item<double>(), 1, 1e-6);
}

/// A velocity of 1 everywhere of a class, 0 of none.
class LabelledVelocity final : public test::FakeModel<Denoiser, diffusion::GuidedDenoiser> {
 public:
  Sizes denoiserSizes() const override { return {4, 4, 4, kBlobClasses, 4}; }
  at::Tensor denoise(const at::Tensor& x, const at::Tensor&, const Condition& condition) override {
    ++calls;
    return condition.label.ne(kBlobClasses).to(at::kFloat).view({-1, 1, 1, 1}).expand_as(x);
  }
  Time timeUnit() const override { return Time::Flow; }
  double labelDrop() const override { return 0.1; }
  int calls = 0;
};

TEST(Generation, EvaluationsGuideTheFirstThreeChannelsAsSamplersDo) {
  const auto pictures = [](std::int64_t shown, double guidance, const Json& more = Json::object()) {
    Json samples{{"count", 3}, {"steps", 2}, {"guidance", guidance}};
    samples.update(more);
    TaskSetup setup = latentSetup(std::make_shared<HalfCodec>(4, shown), {{"samples", samples}});
    setup.model = std::make_shared<LabelledVelocity>();
    const auto session = GenerationTask().open(setup);
    CollectedResults results;
    (void)evaluated(*session, session->evaluations().back(), results);
    return results.artifacts.at(0).data;
  };
  EXPECT_TRUE(pictures(3, 3.0) == pictures(3, 1.0)) << "the fourth channel is not guided";
  EXPECT_FALSE(pictures(2, 3.0) == pictures(2, 1.0)) << "the third is";
  EXPECT_FALSE(pictures(3, 3.0, {{"guidance_channels", 0}}) == pictures(3, 1.0)) << "all are";
  EXPECT_TRUE(pictures(2, 3.0, {{"guidance_channels", 2}}) == pictures(2, 1.0)) << "two are";
}

TEST(Generation, EvaluationsDrawWithTheSamplerThatIsAskedFor) {
  const auto pictures = [](const std::shared_ptr<Model>& model, const Json& more) {
    Json samples{{"count", 3}, {"steps", 4}};
    samples.update(more);
    const auto session = GenerationTask().open(setupOf(model, {{"samples", samples}}));
    CollectedResults results;
    (void)evaluated(*session, session->evaluations().back(), results);
    return results.artifacts.at(0).data;
  };
  const auto flow = smallModel<SitLlamaArchitecture>();
  const auto ofFlow = pictures(flow, Json::object());
  EXPECT_TRUE(pictures(flow, {{"sampler", "ode"}}) == ofFlow);
  EXPECT_FALSE(pictures(flow, {{"sampler", "sde"}}) == ofFlow) << "with noise along the way";
  const auto steps = smallModel<DitArchitecture>();
  const auto ofSteps = pictures(steps, Json::object());
  EXPECT_TRUE(pictures(steps, {{"sampler", "ddim"}}) == ofSteps);
  EXPECT_FALSE(pictures(steps, {{"sampler", "ddpm"}}) == ofSteps) << "with noise along the way";
}

TEST(Generation, EvaluationsDrawWithTheSolverThatIsAskedFor) {
  const auto callsOf = [](const Json& more, bool isOfOldRun = false) {
    Json samples{{"count", 3}, {"steps", 4}};
    samples.update(more);
    TaskSetup setup = latentSetup(std::make_shared<HalfCodec>(4), {{"samples", samples}});
    if (isOfOldRun) {
      Json task = setup.task.json();
      for (const char* key : {"sampler", "solver", "guidance_channels"}) task["samples"].erase(key);
      setup.task = Config(task);
    }
    const auto model = std::make_shared<LabelledVelocity>();
    setup.model = model;
    const auto session = GenerationTask().open(setup);
    CollectedResults results;
    (void)evaluated(*session, session->evaluations().back(), results);
    return model->calls;
  };
  EXPECT_EQ(callsOf(Json::object()), 8) << "Heun: two evaluations a step";
  EXPECT_EQ(callsOf({{"solver", "euler"}}), 4);
  EXPECT_EQ(callsOf({{"solver", "rk4"}}), 16);
  EXPECT_EQ(callsOf(Json::object(), true), 8) << "stored before these keys were there";
}

TEST(Generation, RefusesLatentsOfAnotherCodecAndImagesOfAnotherSize) {
  TaskSetup setup = setupOf(smallModel<SitLlamaArchitecture>(), {{"codec", "codec"}});
  EXPECT_THAT([&] { (void)GenerationTask().open(setup); }, Fails<ConfigError>("aux.codec"));
  setup.auxiliaries = {{"codec", std::make_shared<HalfCodec>(), Json::object(), "", ""}};
  const std::string latents =
      test::refusal<ConfigError>([&] { (void)GenerationTask().open(setup); });
  EXPECT_THAT(latents, Names("2 x 4 x 4", "1 x 8 x 8", "model.in_channels = 2"));
  const auto tryModel = [](const Json& model, const Json& task = Json::object(),
                           const std::string& normalize = "half") {
    return test::refusal<ConfigError>([&] {
      (void)GenerationTask().open(setupOf(smallModel<DitArchitecture>(model), task, normalize));
    });
  };
  EXPECT_THAT(tryModel({{"input_size", 16}}), Names("1 x 8 x 8"));
  EXPECT_THAT(tryModel({{"num_classes", 7}}), Names("model.num_classes = 3"));
  EXPECT_THAT(tryModel(Json::object(), Json::object(), "dataset"), Names("data.normalize"));
  EXPECT_THAT(tryModel(Json::object(), {{"process", "transport"}}), Names("task.process", "sit"));
  EXPECT_THAT(tryModel({{"learn_sigma", false}}), Names("task.variance", "model.learn_sigma"));
  EXPECT_THAT(tryModel(Json::object(), {{"variance", "fixed_small"}}),
              Names("task.variance", "fixed_small"));
  EXPECT_EQ(tryModel({{"learn_sigma", false}}, {{"variance", "fixed_large"}}), "");
  EXPECT_THAT(tryModel({{"class_dropout_prob", 0}}, {{"label_drop", 0.1}}),
              Names("model.class_dropout_prob"));
}

}  // namespace
}  // namespace vitrine::generation
