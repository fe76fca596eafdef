#include "plugins/tasks/text_image/text_image.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <torch/csrc/autograd/function.h>
#include <torch/nn/module.h>

#include <cmath>
#include <fstream>
#include <set>
#include <tuple>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/config/experiment.h"
#include "core/files/png.h"
#include "core/files/read_png.h"
#include "core/model/weights.h"
#include "core/plugin/pipeline.h"
#include "core/plugin/text_session.h"
#include "core/text/token_rows.h"
#include "plugins/tasks/text_image/sequences.h"
#include "tests/plugins/text_image/small_setup.h"
#include "tests/support/fake_model.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace vitrine::text_image {
namespace {

using test::Names;

std::string refusal(const Options& options) {
  return test::refusal<ConfigError>([&] { (void)opened(options); });
}

Scores scoresOf(TaskSession& session) {
  const c10::NoGradGuard noGradient;
  StepContext context = contextOf(0);
  CollectedResults results;
  const Evaluation evaluation{"test", Split::Test};
  session.evaluate({evaluation, context, {}}, results);
  return results.scores;
}

double score(const Scores& scores, const std::string& name) {
  for (const auto& [each, value] : scores) {
    if (each == name) return value;
  }
  ADD_FAILURE() << "no score " << name;
  return std::nan("");
}

const std::vector<std::int64_t> kIds{0, 1, 2, 3, 4, 5, 6, 7};

TEST(TextImage, RowsHaveTheirImagesInTheSameColumns) {
  const TextImageModel::Sizes sizes{
      .imageTokens = 2, .beginText = 1, .endText = 2, .beginImage = 3, .endImage = 4};
  const JointRows drawn = jointRows({{7, 8}, {9}}, Order::CaptionFirst, sizes, 0, at::kCPU);
  EXPECT_TRUE(
      at::equal(drawn.sequences.tokens,
                at::tensor({1, 7, 8, 3, 0, 0, 4, 0, 1, 9, 3, 0, 0, 4}, at::kLong).view({2, 7})));
  EXPECT_TRUE(at::equal(drawn.sequences.imageIndex, at::tensor({0, 0, 0, 0, 1, 1, 0}, at::kLong)));
  EXPECT_TRUE(at::equal(
      drawn.targets,
      at::tensor({7, 8, 3, -100, -100, -100, -100, -100, 9, 3, -100, -100, -100, -100}, at::kLong)
          .view({2, 7})));
  EXPECT_TRUE(
      at::equal(drawn.sequences.positions[1], at::tensor({0, 0, 1, 2, 3, 4, 5}, at::kLong)));
  const JointRows told = jointRows({{7, 8}, {}}, Order::ImageFirst, sizes, 0, at::kCPU);
  EXPECT_TRUE(at::equal(
      told.sequences.tokens,
      at::tensor({1, 3, 0, 0, 4, 7, 8, 2, 1, 3, 0, 0, 4, 2, 0, 0}, at::kLong).view({2, 8})));
  EXPECT_TRUE(
      at::equal(told.targets[0], at::tensor({3, -100, -100, -100, 7, 8, 2, -100}, at::kLong)));
  EXPECT_TRUE(
      at::equal(told.sequences.documents[1], at::tensor({0, 0, 0, 0, 0, 0, -1, -1}, at::kLong)));
  EXPECT_THROW((void)jointRows({{7, 8}}, Order::ImageFirst, sizes, 7, at::kCPU), ConfigError);
}

TEST(TextImage, ASampleIsASequenceOfItsCaptionAndItsImage) {
  const auto session = opened();
  Batch batch = session->read(Split::Test, {0, 1});
  const auto& joint = dynamic_cast<const JointSession&>(*session);
  EXPECT_TRUE(at::equal(joint.sequenceOf(batch, 1).sequences.images[0], batch.at("image")[1]));
  batch.ragged.clear();
  EXPECT_EQ(test::refusal<ConfigError>([&] { (void)joint.sequenceOf(batch, 0); }),
            "an image without a caption is not a sequence of this task; choose a sample of the "
            "data");
}

TEST(TextImage, FrozenTextIsInNoGroupAndTakesNoGradient) {
  const auto session = opened();
  auto& model = *capabilityOf<TextImageModel>(session->model());
  std::set<std::string> grouped;
  for (const ParameterGroup& group : session->parameterGroups()) {
    for (const std::string& name : group.parameterNames) grouped.insert(name);
  }
  StepContext context = contextOf(1);
  const auto parts = session->loss(context, session->read(Split::Train, kIds));
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].name, "text");
  EXPECT_EQ(parts[1].weight, 5);
  EXPECT_EQ(parts[1].count.item<std::int64_t>(), 8);
  (parts[0].sum + parts[1].sum).backward();
  for (const auto& item : session->model().module().named_parameters()) {
    const bool isText = model.isOfText(item.key());
    EXPECT_EQ(grouped.contains(item.key()), !isText) << item.key();
    EXPECT_EQ(item.value().grad().defined(), !isText) << item.key();
  }
}

/// Nodes of a graph, and how many of them add up the gradient of a parameter.
struct Nodes {
  std::size_t all = 0, parameters = 0;
};
Nodes nodesOf(const at::Tensor& root) {
  std::set<torch::autograd::Node*> seen{root.grad_fn().get()};
  std::vector<torch::autograd::Node*> open{root.grad_fn().get()};
  Nodes nodes;
  while (!open.empty()) {
    torch::autograd::Node* node = open.back();
    open.pop_back();
    ++nodes.all;
    if (node->name() == "torch::autograd::AccumulateGrad") ++nodes.parameters;
    for (const torch::autograd::Edge& edge : node->next_edges()) {
      torch::autograd::Node* next = edge.function.get();
      if (next != nullptr && seen.insert(next).second) open.push_back(next);
    }
  }
  return nodes;
}

TEST(TextImage, FrozenTextCostsNoGradientWork) {
  const auto nodes = [](double ratio) {
    const auto session = opened({.ratio = ratio, .captionFirst = 1});
    StepContext context = contextOf(1);
    const auto parts = session->loss(context, session->read(Split::Train, kIds));
    auto& model = *capabilityOf<TextImageModel>(session->model());
    std::size_t images = 0, all = 0;
    for (const auto& item : session->model().module().named_parameters()) {
      ++all;
      if (!model.isOfText(item.key())) ++images;
    }
    return std::tuple{nodesOf(parts[1].sum), images, all};
  };
  const auto [frozen, images, all] = nodes(0);
  EXPECT_LE(frozen.parameters, images) << "of the text's parameters none has a node";
  const auto [trained, sameImages, sameAll] = nodes(1);
  EXPECT_GT(trained.parameters, images) << "where the text learns, its parameters have";
  EXPECT_LT(static_cast<double>(frozen.all), 0.8 * static_cast<double>(trained.all));
}

TEST(TextImage, ARatioGivesTheTextARateOfItsOwn) {
  const auto session = opened({.ratio = 0.1});
  auto& model = *capabilityOf<TextImageModel>(session->model());
  std::size_t count = 0;
  for (const ParameterGroup& group : session->parameterGroups()) {
    count += group.parameters.size();
    for (const std::string& name : group.parameterNames)
      EXPECT_EQ(group.learningRateScale, model.isOfText(name) ? 0.1 : 1) << name;
  }
  EXPECT_EQ(count, session->model().module().parameters().size());
}

/// Steps of Adam on one batch, each group at its rate.
void train(TaskSession& session, int steps = 60) {
  struct Moments {
    at::Tensor parameter, first, second;
    double rate;
  };
  std::vector<Moments> all;
  for (const ParameterGroup& group : session.parameterGroups()) {
    for (const at::Tensor& p : group.parameters)
      all.push_back({p, at::zeros_like(p), at::zeros_like(p), 3e-3 * group.learningRateScale});
  }
  const Batch batch = session.read(Split::Train, kIds);
  for (int step = 1; step <= steps; ++step) {
    StepContext context = contextOf(step);
    const auto parts = session.loss(context, batch);
    (parts[0].sum / parts[0].count + parts[1].weight * parts[1].sum / parts[1].count).backward();
    const c10::NoGradGuard noGradient;
    for (Moments& each : all) {
      const at::Tensor gradient = each.parameter.grad();
      each.first.mul_(0.9).add_(gradient, 0.1);
      each.second.mul_(0.99).addcmul_(gradient, gradient, 0.01);
      each.parameter.sub_(each.rate * (each.first / (1 - std::pow(0.9, step))) /
                          ((each.second / (1 - std::pow(0.99, step))).sqrt() + 1e-8));
      each.parameter.mutable_grad() = at::Tensor();
    }
  }
}

TEST(TextImage, LearnsToDrawWhileFrozenTextStaysAsItWasToTheLastBit) {
  const auto session = opened();
  const at::Tensor tokens = at::arange(20, at::kLong).view({2, 10});
  const auto textLogits = [&] {
    const c10::NoGradGuard noGradient;
    return capabilityOf<LanguageModel>(session->model())
        ->next(tokens, nullptr, LanguageModel::Rows::All);
  };
  const at::Tensor before = textLogits();
  const Scores first = scoresOf(*session);
  train(*session);
  const Scores after = scoresOf(*session);
  EXPECT_LT(score(after, "image_loss"), 0.6 * score(first, "image_loss"));
  EXPECT_EQ(score(after, "text_loss"), score(first, "text_loss"));
  EXPECT_TRUE(at::equal(textLogits(), before));
}

TEST(TextImage, LearnsToDescribeWhereTheTextLearnsToo) {
  const auto session = opened({.ratio = 1, .captionFirst = 0.3});
  const Scores first = scoresOf(*session);
  train(*session);
  const Scores after = scoresOf(*session);
  EXPECT_LT(score(after, "caption_loss"), 0.3 * score(first, "caption_loss"));
  EXPECT_NE(score(after, "text_loss"), score(first, "text_loss"));
  EXPECT_GT(score(after, "cider"), score(first, "cider"));
}

/// Settings of the sampler: of two images of "dark", or of a description where `settings` have an
/// image.
Config sampling(const Json& settings) {
  Json values{{"seed", 4},       {"count", 2},      {"prompt", "dark"}, {"image", nullptr},
              {"steps", 4},      {"guidance", 2.0}, {"clip", 1.0},      {"max_tokens", 5},
              {"batch_size", 1}, {"previews", 0}, {"attention", Json::array()}};
  if (settings.contains("image")) values["prompt"] = "";
  values.update(settings);
  return Config(values);
}

CollectedResults sampled(TaskSession& session, const Json& settings) {
  CollectedResults results;
  TextImageSampler().sample({session, sampling(settings)}, results);
  return results;
}

TEST(TextImage, DrawsAndDescribesTheSameForTheSameSeed) {
  const auto session = opened();
  const c10::NoGradGuard noGradient;
  const at::Tensor state = at::detail::getDefaultCPUGenerator().get_state();
  const auto made = [&](const Json& settings) { return sampled(*session, settings); };
  const CollectedResults two = made(Json::object());
  ASSERT_EQ(two.images.size(), 2U);
  EXPECT_EQ(two.images[0].width, 4);
  EXPECT_NE(two.images[0].sha256, two.images[1].sha256);
  const CollectedResults second = made({{"seed", 5}, {"count", 1}});
  EXPECT_EQ(second.images[0].sha256, two.images[1].sha256) << "sample i depends on seed + i alone";
  const CollectedResults together = made({{"batch_size", 2}});
  for (std::size_t i = 0; i < 2; ++i) {
    const PngPixels one = decodePng(two.images[i].png, "one"),
                    other = decodePng(together.images[i].png, "other");
    for (std::size_t at = 0; at < one.pixels.size(); ++at)
      EXPECT_NEAR(one.pixels[at], other.pixels[at], 1);
  }
  // Three of the four steps show the way; the last one shows where it ends.
  const CollectedResults shown = made({{"batch_size", 2}, {"previews", 3}});
  ASSERT_EQ(shown.artifacts.size(), 3U);
  EXPECT_EQ(shown.images[1].sha256, together.images[1].sha256);
  const Artifact& last = shown.artifacts.back();
  EXPECT_EQ(last.kind, artifact_kind::kImageGrid);
  EXPECT_EQ(last.meta["shape"], Json::parse("[2, 4, 4, 1]"));
  EXPECT_EQ(last.meta["first_seed"], 4);
  EXPECT_EQ(last.meta["captions"], (Json{"dark", "dark"}));
  EXPECT_LT(last.meta["time"], shown.artifacts.front().meta["time"]);
  const PngPixels end = decodePng(shown.images[1].png, "end");
  for (std::size_t at = 0; at < end.pixels.size(); ++at)
    EXPECT_EQ(std::to_integer<int>(last.data[16 + at]), end.pixels[at]);
  const CollectedResults text = made({{"image", "test/3"}, {"count", 1}});
  ASSERT_EQ(text.texts.size(), 1U);
  EXPECT_EQ(text.texts[0].prompt, "test/3");
  EXPECT_TRUE(at::equal(state, at::detail::getDefaultCPUGenerator().get_state()));
  const auto refused = [&](const Json& settings) -> std::string {
    return test::refusal<Error>([&] { (void)made(settings); });
  };
  EXPECT_THAT(refused({{"prompt", std::string(70, 'x')}}), Names(76));
  EXPECT_THAT(refused({{"prompt", "ab\xFF"}}), Names("prompt", "byte 2"));
  EXPECT_THAT(refused({{"image", "test/3"}, {"max_tokens", 58}}), Names("max_tokens", 57));
  EXPECT_THAT(refused({{"image", "cat.png"}}), Names("cat.png"));
  EXPECT_THAT(refused({{"image", "test/3"}, {"prompt", "dark"}}), Names("image", "prompt"));
  EXPECT_THAT(refused({{"steps", 1001}}), Names(1001));
}

TEST(ImageFiles, OfEveryFormatAreDescribed) {
#ifndef VITRINE_HAS_CODECS
  GTEST_SKIP() << "this build has no OpenCV (Debian: libopencv-imgcodecs-dev)";
#endif
  const auto session = opened();
  const c10::NoGradGuard noGradient;
  const auto described = [&](const std::string& file) {
    const CollectedResults results = sampled(*session, {{"image", file}});
    EXPECT_EQ(results.texts.size(), 1U) << file;
    EXPECT_EQ(results.texts.at(0).recipe.at("image_sha256"), sha256OfFile(file));
    return results.texts.at(0).text;
  };
  const TemporaryFolder folder;
  const std::string file = (folder / "a file").string();
  const auto write = [&](const std::vector<std::byte>& bytes) {
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  };
  write(encodePng(std::vector<std::uint8_t>(16, 230), 4, 4, 1));
  EXPECT_EQ(described(file), sampled(*session, {{"image", "test/3"}, {"count", 1}}).texts[0].text);
  write(encodePng(std::vector<std::uint8_t>(24, 9), 4, 6, 1));
  (void)described(file);  // its middle
  const std::string seeds = VITRINE_SOURCE_DIR "/tests/fuzz/seeds/image/";
  const std::string plain = described(seeds + "colour.png");
  EXPECT_EQ(described(seeds + "deep_alpha.png"), plain);
  for (const char* lossy : {"baseline.jpg", "lossy.webp"}) (void)described(seeds + lossy);
  write(std::vector<std::byte>(100));
  EXPECT_THAT(test::refusal<FileError>([&] { (void)described(file); }), Names(file));
}

TEST(TextImage, ShowsWhereAPatchReadsInThePromptAndTheImage) {
  const auto session = opened();
  const c10::NoGradGuard noGradient;
  const auto made = [&](std::vector<std::int64_t> patch, double guidance) {
    return sampled(*session, {{"count", 2},
                              {"guidance", guidance},
                              {"batch_size", 2},
                              {"previews", 2},
                              {"attention", std::move(patch)}});
  };
  for (const double guidance : {1.0, 2.0}) {
    SCOPED_TRACE(guidance);
    const CollectedResults plain = made({}, guidance), asked = made({1, 0}, guidance);
    EXPECT_EQ(plain.artifacts.size(), 2U);
    ASSERT_EQ(asked.artifacts.size(), 6U) << "at two steps a preview, and a map of each image";
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_EQ(asked.images[i].sha256, plain.images[i].sha256) << "looking changes nothing";
    const Artifact &preview = asked.artifacts[3], &map = asked.artifacts[5];
    EXPECT_EQ(map.kind, artifact_kind::kAttention);
    EXPECT_EQ(map.meta["seed"], 5);
    EXPECT_EQ(map.meta["time"], preview.meta["time"]);
    EXPECT_EQ(map.meta["query_positions"], Json::parse("[[1, 0]]"));
    // Of the evaluation with the prompt, whatever the guidance.
    EXPECT_EQ(map.meta["key_words"],
              (Json{"begin of text", "d", "a", "r", "k", "begin of image", "", "", "", ""}));
    EXPECT_EQ(map.meta["key_positions"][4], (Json{-1, -1}));
    EXPECT_EQ(map.meta["key_positions"][8], (Json{1, 0}));
    ASSERT_EQ(map.meta["shape"], (Json{2, 4, 1, 10}));
    const ArrayView view = arrayOf(map.meta, map.data);
    for (std::int64_t row = 0; row < 8; ++row) {
      double sum = 0;
      for (std::int64_t key = 0; key < 10; ++key) sum += view.at(row * 10 + key);
      EXPECT_NEAR(sum, 1, 1e-5) << "a row of the softmax";
    }
  }
  EXPECT_THAT(test::refusal<ConfigError>([&] {
                (void)made({0, 2}, 1);
              }),
              Names("attention = [0, 2]", "column from 0 to 1"));
}

TEST(TextImage, RefusesToWriteAnImageThatIsNotFinite) {
  const auto session = opened();
  const c10::NoGradGuard noGradient;
  for (const at::Tensor& parameter : session->model().module().parameters())
    parameter.detach().fill_(std::nan(""));
  CollectedResults results;
  EXPECT_THAT(
      [&] {
        const Config one = sampling({{"count", 1}, {"guidance", 1.0}});
        TextImageSampler().sample({*session, one}, results);
      },
      test::Fails<RefusedError>("seed", 4, "not finite"));
  EXPECT_TRUE(results.images.empty());
}

TEST(TextImage, GuidanceNeedsAModelThatLearnedWithoutCaptions) {
  const c10::NoGradGuard noGradient;
  const auto drawn = [](double captionDrop, const Json& guidance) {
    const auto session = opened({.captionDrop = captionDrop});
    const CollectedResults results = sampled(*session, {{"count", 1}, {"guidance", guidance}});
    return results.images.at(0).recipe.at("settings").at("guidance").get<double>();
  };
  EXPECT_EQ(drawn(0.1, nullptr), 1.55);
  EXPECT_EQ(drawn(0.1, 3.0), 3.0);
  EXPECT_EQ(drawn(0.0, nullptr), 1.0);
  EXPECT_EQ(drawn(0.0, 1.0), 1.0);
  const auto refused = [](const auto& act) -> std::string {
    return test::refusal<ConfigError>([&] { act(); });
  };
  EXPECT_THAT(refused([&] { (void)drawn(0.0, 2.0); }), Names("guidance = 2"));
  const auto begin = [](std::int64_t drawings) {
    (void)opened({.drawings = drawings, .captionDrop = 0, .guidance = 2.0})->trainingStream(0);
  };
  EXPECT_THAT(refused([&] { begin(1); }), Names("guidance = 2")) << "before the training";
  EXPECT_EQ(refused([&] { begin(0); }), "");
  const auto store = [](std::int64_t drawings, const Json& guidance) {
    const TaskSetup setup = setupOf({.drawings = drawings, .captionDrop = 0, .guidance = guidance});
    TextImageTask().requireStartable(setup.task, *setup.model);
  };
  EXPECT_THAT(refused([&] { store(1, 2.0); }), Names("guidance = 2")) << "before it is stored";
  EXPECT_EQ(refused([&] { store(1, nullptr); }), "");
  EXPECT_EQ(refused([&] { store(0, 2.0); }), "");
  const auto evaluate = [](const Json& guidance) {
    const auto session = opened({.drawings = 1, .captionDrop = 0, .guidance = guidance});
    StepContext context = contextOf(0);
    CollectedResults results;
    session->evaluate({session->evaluations().at(0), context, {}}, results);
  };
  EXPECT_THAT(refused([&] { evaluate(1.55); }), Names("caption_drop = 0", "guidance = 1"));
  EXPECT_EQ(refused([&] { evaluate(nullptr); }), "");
}

/// Takes bright images for class 1.
class BrightnessJudge final : public test::FakeModel<ImageClassifier> {
 public:
  at::Tensor classify(const at::Tensor& images) override { return head(features(images)); }
  at::Tensor features(const at::Tensor& images) override {
    return images.mean(at::IntArrayRef{1, 2, 3}).unsqueeze(1);
  }
  at::Tensor head(const at::Tensor& features) override {
    return at::cat({at::full_like(features, 0.5), features}, 1);
  }
};

AuxiliaryNetwork judge() {
  Json data = dataSchema().defaults();
  data["normalize"] = "none";
  return {"eyes", std::make_shared<BrightnessJudge>(),
          Json{{"model", Json::object()}, {"data", data}}, "eyes.safetensors",
          std::string(64, 'c')};
}

TEST(TextImage, DrawsTheCaptionsOfTheDataAndAJudgeLooksAtThem) {
  const auto session = opened({.drawings = 6, .judge = judge()});
  ASSERT_EQ(session->networks().size(), 2U);
  EXPECT_EQ(session->networks()[1].sha256, std::string(64, 'c'));
  const std::vector<Evaluation> evaluations = session->evaluations();
  ASSERT_EQ(evaluations.size(), 2U);
  EXPECT_EQ(evaluations[0].id, "test/drawings");
  EXPECT_EQ(evaluations[1].id, "test") << "the losses decide about the model";
  const auto drawn = [&] {
    const c10::NoGradGuard noGradient;
    StepContext context = contextOf(0);
    CollectedResults results;
    session->evaluate({evaluations[0], context, {}}, results);
    return results;
  };
  const CollectedResults before = drawn();
  EXPECT_EQ(before.artifacts.at(0).meta.at("shape"), Json({6, 4, 4, 1}));
  EXPECT_EQ(before.artifacts.at(0).meta.at("titles").at(0), "a dark one");
  EXPECT_EQ(before.artifacts.at(1).meta.at("judge").at("name"), "eyes");
  EXPECT_EQ(drawn().artifacts.at(0).data, before.artifacts.at(0).data) << "the same every time";
  // The judge's answer and the score, from the pixels themselves.
  constexpr std::size_t kImages = 6, kPixels = 16;
  double agreed = 0;
  for (std::size_t i = 0; i < kImages; ++i) {
    double sum = 0;
    for (std::size_t at = 0; at < kPixels; ++at)
      sum += std::to_integer<int>(before.artifacts[0].data[i * kPixels + at]);
    const std::string title = before.artifacts[0].meta.at("titles").at(i);
    const bool isBright = title.find("bright") != std::string::npos;
    if ((sum / kPixels > 127.5) == isBright) ++agreed;
  }
  EXPECT_DOUBLE_EQ(score(before.scores, "agreement"), agreed / kImages);
}

TEST(TextImage, SaysHowManyCaptionsAreRight) {
  const auto session = opened({.ratio = 1, .captionFirst = 0.3});
  EXPECT_EQ(score(scoresOf(*session), "caption_accuracy"), 0);
  train(*session, 150);
  EXPECT_EQ(score(scoresOf(*session), "caption_accuracy"), 1);
}

TEST(TextImage, RefusesDataThatDoNotFitTheModel) {
  EXPECT_THAT(refusal({.vocab = 300}), Names(264, 300));
  EXPECT_THAT(refusal({.latent = 8}), Names("1 x 8 x 8"));
  EXPECT_THAT(refusal({.addsEnds = true}), Names("begin = false", "end = false"));
}

}  // namespace
}  // namespace vitrine::text_image
