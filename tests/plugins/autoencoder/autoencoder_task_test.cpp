// The task that trains codecs, on images that are known.
#include "plugins/tasks/autoencoder/autoencoder_task.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <torch/nn/module.h>

#include <cmath>

#include "core/model/measured_scale.h"
#include "core/model/weights.h"
#include "plugins/tasks/autoencoder/reconstruction.h"
#include "tests/plugins/autoencoder/codecs.h"
#include "tests/support/core_items.h"

namespace vitrine::autoencoder_task {
namespace {

using test::Fails;
using namespace vitrine::autoencoder;  // NOLINT: the codecs that it trains

Json taskTable(const std::string& error = "l1", double weight = 1e-6) {
  return {{"name", "autoencoder"}, {"reconstruction", error}, {"kl_weight", weight}, {"images", 4}};
}

TaskSetup setupOf(std::shared_ptr<Model> model, const Json& task = taskTable(),
                  const Json& data = dataTable(), std::int64_t side = 8) {
  return {.task = Config(task),
          .data = Config(data),
          .model = std::move(model),
          .pipeline = pipelineOf(data, 0, side),
          .batchSize = 8,
          .evaluationBatchSize = 4};
}

StepContext contextOf(std::uint64_t seed = 1) {
  return {{}, at::make_generator<at::CPUGeneratorImpl>(seed), at::kCPU};
}

double valueOf(const Scores& scores, const std::string& name) {
  for (const auto& [each, value] : scores) {
    if (each == name) return value;
  }
  ADD_FAILURE() << "no score " << name;
  return NAN;
}

CollectedResults evaluated(TaskSession& session) {
  session.model().module().eval();
  CollectedResults results;
  const at::NoGradGuard noGrad;
  StepContext context = contextOf();
  const std::vector<Evaluation> all = session.evaluations();
  session.evaluate({all.back(), context, {}}, results);
  return results;
}

TEST(AutoencoderLoss, IsTheErrorOfTheDrawnLatentAndItsDivergence) {
  for (const std::string error : {"l1", "l2"}) {
    SCOPED_TRACE(error);
    const auto model = buildCodec(kKl, smallKl());
    const auto session = AutoencoderTask().open(setupOf(model, taskTable(error, 0.01)));
    const Batch batch = session->read(Split::Test, {0, 3, 7});
    StepContext context = contextOf();
    const std::vector<LossPart> parts = session->loss(context, batch);
    ASSERT_EQ(parts.size(), 2U);

    auto& codec = *capabilityOf<LatentCodec>(*model);
    const at::Tensor& images = batch.at("image");
    const auto latent = codec.encodeLatent(images);
    at::Generator generator = contextOf().generator;
    const at::Tensor z =
        latent.draw(at::randn(latent.mean.sizes(), generator, latent.mean.options()));
    const at::Tensor difference = codec.decodeLatent(z) - images;
    const double expected =
        (error == "l1" ? difference.abs() : difference.square()).mean().item<double>();
    EXPECT_NEAR((parts[0].sum / parts[0].count).item<double>(), expected, 1e-5);
    EXPECT_EQ(parts[0].name, "reconstruction");
    double divergence = 0;  // from its definition, element by element
    for (std::int64_t i = 0; i < latent.mean.numel(); ++i) {
      const double mean = latent.mean.flatten()[i].item<double>();
      const double logVariance = latent.logVariance.flatten()[i].item<double>();
      divergence += 0.5 * (mean * mean + std::exp(logVariance) - 1 - logVariance);
    }
    EXPECT_NEAR(parts[1].sum.item<double>(), divergence, 1e-3 * std::abs(divergence));
    EXPECT_EQ(parts[1].count.item<double>(), 3 * 64) << "the divergence is over pixel values";
    EXPECT_EQ(parts[1].weight, 0.01);
    parts[0].sum.backward();
    for (const auto& item : model->module().named_parameters())
      EXPECT_TRUE(item.value().grad().defined()) << item.key();
  }
}

TEST(AutoencoderLoss, DrawsFromTheGeneratorOfTheStepAlone) {
  const auto session = AutoencoderTask().open(setupOf(buildCodec(kKl, smallKl())));
  const Batch batch = session->read(Split::Test, {0, 1});
  const at::Tensor before = at::globalContext().defaultGenerator(at::kCPU).get_state();
  const auto lossAt = [&](std::uint64_t seed) {
    StepContext context = contextOf(seed);
    return session->loss(context, batch)[0].sum.item<double>();
  };
  EXPECT_EQ(lossAt(1), lossAt(1));
  EXPECT_NE(lossAt(1), lossAt(2));
  EXPECT_TRUE(before.equal(at::globalContext().defaultGenerator(at::kCPU).get_state()));
}

TEST(AutoencoderLoss, OfACodecOfPointsHasOnePartAndDrawsNothing) {
  const auto model = buildCodec(kTaesd, {{"image_size", 8},
                                         {"in_channels", 1},
                                         {"width", 8},
                                         {"layers_per_block", 1},
                                         {"downsample_factor", 2}});
  const auto session = AutoencoderTask().open(setupOf(model));
  StepContext context = contextOf();
  const at::Tensor state = context.generator.get_state();
  const auto parts = session->loss(context, session->read(Split::Test, {0, 1}));
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_TRUE(state.equal(context.generator.get_state()));
  const auto results = evaluated(*session);
  EXPECT_TRUE(std::none_of(results.scores.begin(), results.scores.end(),
                           [](const auto& each) { return each.first == "kl"; }));
}

TEST(AutoencoderScores, AreThoseOfTheMeanLatentInUnitPixels) {
  const auto model = buildCodec(kKl, smallKl());
  const auto session = AutoencoderTask().open(setupOf(model));
  const CollectedResults results = evaluated(*session);
  std::vector<std::int64_t> ids(10);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i);
  const at::NoGradGuard noGrad;
  auto& codec = *capabilityOf<LatentCodec>(*model);
  const at::Tensor images = session->read(Split::Test, ids).at("image");
  const at::Tensor made = codec.decodeLatent(codec.encodeLatent(images).mean).clamp(-1, 1);
  double psnr = 0;
  for (std::int64_t i = 0; i < 10; ++i) {
    const double error = ((made[i] - images[i]) / 2).square().mean().item<double>();
    psnr += 10 * std::log10(1 / error) / 10;
  }
  EXPECT_NEAR(valueOf(results.scores, "psnr"), psnr, 1e-4);
  EXPECT_NEAR(valueOf(results.scores, "l1"), ((made - images) / 2).abs().mean().item<double>(),
              1e-6);
  EXPECT_GT(valueOf(results.scores, "kl"), 0);
  ASSERT_EQ(results.artifacts.size(), 1U);
  const ArrayView grid = arrayOf(results.artifacts[0].meta, results.artifacts[0].data);
  EXPECT_EQ(grid.shape, (std::vector<std::int64_t>{4, 8, 3 * 8 + 2 * 2, 1}));
  EXPECT_EQ(grid.at(0), 20) << "the first pixel of the first input is dark";
}

TEST(AutoencoderScores, DoNotDependOnHowTheDataIsNormalised) {
  const auto model = buildCodec(kKl, smallKl());
  const double half = valueOf(
      evaluated(*AutoencoderTask().open(setupOf(model, taskTable(), dataTable("half")))).scores,
      "psnr");
  for (const char* by : {"dataset", "none"}) {
    const auto session = AutoencoderTask().open(setupOf(model, taskTable(), dataTable(by)));
    EXPECT_NEAR(valueOf(evaluated(*session).scores, "psnr"), half, 1e-4) << by;
  }
}

TEST(AutoencoderTask, RefusesModelsAndImagesThatDoNotFit) {
  const auto model = buildCodec(kKl, smallKl());
  EXPECT_THAT([&] { (void)AutoencoderTask().open(setupOf(model, taskTable(), dataTable(), 9)); },
              Fails<Error>("9 x 9 px", "model.image_size"));
  Json colour = smallKl();
  colour["in_channels"] = 3;
  EXPECT_THAT([&] { (void)AutoencoderTask().open(setupOf(buildCodec(kKl, colour))); },
              Fails<Error>("model.in_channels = 1"));
}

/// Adam over all parameters for some steps of the loss of the whole training split.
double trained(TaskSession& session, int steps) {
  std::vector<ParameterGroup> groups = session.parameterGroups();
  auto optimizer = test::optimizerOf({{"name", "adamw"}}, groups);
  StepContext context = contextOf();
  const auto stream = session.trainingStream(0);
  double loss = 0;
  for (int i = 0; i < steps; ++i) {
    const std::vector<LossPart> parts = session.loss(context, stream->next());
    at::Tensor total = at::zeros({});
    for (const LossPart& part : parts) total = total + part.weight * part.sum / part.count;
    optimizer.clearGradients();
    total.backward();
    optimizer.step(5e-3, at::zeros({}), {});
    loss = total.item<double>();
  }
  return loss;
}

TEST(AutoencoderTask, LearnsItsImagesByHeartAndMeasuresItsScale) {
  const auto model = buildCodec(kKl, smallKl());
  const auto session = AutoencoderTask().open(setupOf(model));
  // Many small layers: handing them to other threads takes longer than they do.
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const double before = valueOf(evaluated(*session).scores, "psnr");
  model->module().train();
  EXPECT_LT(trained(*session, 90), 0.15);
  at::set_num_threads(threads);
  const CollectedResults after = evaluated(*session);
  EXPECT_GT(valueOf(after.scores, "psnr"), before + 6);
  // The scale is that of the latents as they are drawn now.
  const at::NoGradGuard noGrad;
  auto& codec = *capabilityOf<LatentCodec>(*model);
  std::vector<std::int64_t> ids(24);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i);
  const auto latent = codec.encodeLatent(session->read(Split::Train, ids).at("image"));
  at::Generator generator = contextOf(3).generator;
  const at::Tensor drawn =
      latent.draw(at::randn(latent.mean.sizes(), generator, latent.mean.options()));
  EXPECT_NEAR(valueOf(after.scores, "latent_scale") * drawn.std().item<double>(), 1, 0.25);
}

TEST(AutoencoderTask, ALossOutsideTrainingLeavesTheMeasuredScale) {
  const auto model = buildCodec(kKl, smallKl());
  const auto session = AutoencoderTask().open(setupOf(model));
  const auto& measured = *capabilityOf<MeasuredScale>(*model);
  const Batch batch = session->read(Split::Train, {0, 1, 2, 3});
  StepContext context = contextOf();
  const at::NoGradGuard noGrad;
  model->module().eval();
  (void)session->loss(context, batch);
  EXPECT_FALSE(measured.isScaleKnown()) << "a probe's loss counts as a step of the training";
  model->module().train();
  (void)session->loss(context, batch);
  EXPECT_TRUE(measured.isScaleKnown());
}

TEST(ReconstructionAnalysis, ShowsInputBesideOutputWithTheirErrors) {
  const auto model = buildCodec(kKl, smallKl());
  const auto session = AutoencoderTask().open(setupOf(model));
  const Reconstruction analysis;
  const Batch batch = session->read(Split::Test, {2, 5});
  ProbeContext context{*session, *model, batch, contextOf().generator, {}};
  const at::NoGradGuard noGrad;
  const Analysis::Findings findings = analysis.probe(Config(), context)();
  ASSERT_EQ(findings.artifacts.size(), 2U);
  EXPECT_EQ(findings.artifacts[0].kind, artifact_kind::kImageGrid);
  EXPECT_EQ(findings.artifacts[0].meta.at("sample_ids"), (Json{2, 5}));
  const Json table =
      Json::parse(std::string(reinterpret_cast<const char*>(findings.artifacts[1].data.data()),
                              findings.artifacts[1].data.size()));
  ASSERT_EQ(table.at("rows").size(), 2U);
  EXPECT_NEAR(findings.scores[0].second,
              (table["rows"][0][1].get<double>() + table["rows"][1][1].get<double>()) / 2, 1e-9);
}

TEST(Psnr, OfAUniformErrorIsItsSquareInDecibels) {
  const at::Tensor zero = at::zeros({2, 1, 4, 4});
  EXPECT_TRUE(psnrOf(zero, zero + 0.1).allclose(at::full({2}, 20.0, at::kDouble), 1e-5, 1e-5));
  EXPECT_TRUE(std::isinf(psnrOf(zero, zero)[0].item<double>()));
}

}  // namespace
}  // namespace vitrine::autoencoder_task
