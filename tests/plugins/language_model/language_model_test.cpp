#include "plugins/tasks/language_model/language_model.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <torch/nn/module.h>

#include <cmath>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/model/capabilities.h"
#include "core/model/weights.h"
#include "core/plugin/pipeline.h"
#include "core/text/tokenizer.h"
#include "plugins/llamafusion/architectures.h"
#include "tests/plugins/transforms/registry.h"
#include "tests/support/refusal.h"

namespace vitrine::language_model {
namespace {

using test::Names;

/// Texts, the same in every split.
class Texts final : public Dataset {
 public:
  explicit Texts(std::vector<std::string> texts) : texts_(std::move(texts)) {
    info_.fields = {{"text", FieldKind::Text, at::kByte, {}, ""}};
  }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split split) const override {
    return split == Split::Validation ? 0 : std::ssize(texts_);
  }
  void read(Split split, std::int64_t id, Sample& sample) const override {
    requireSample(split, id);
    sample["text"].resizeTexts(1)[0] = texts_[static_cast<std::size_t>(id)];
  }

 private:
  std::vector<std::string> texts_;
  DatasetInfo info_;
};

const std::vector<std::string> kTexts{"a red shirt", "one shoe", "a photo of a bag", "hat"};

Json tokenizeStage(const std::string& tokenizer) {
  return {{"name", "tokenize"}, {"tokenizer", tokenizer}, {"choose", "first"}, {"window", "first"}};
}

struct Options {
  Json rows = {{"name", "pack"}, {"length", 40}};
  std::vector<std::string> texts = kTexts;
  std::string tokenizer = "bytes";
  std::int64_t vocab = 264, context = 64, offset = 0, batchSize = 4;
};

TaskSetup setupOf(const Options& options) {
  const llamafusion::LlamaArchitecture architecture;
  Json model{{"dim", 32},
             {"depth", 2},
             {"heads", 4},
             {"kv_heads", 2},
             {"ffn_hidden", 64},
             {"vocab", options.vocab},
             {"max_positions", options.context}};
  for (const Problem& problem : resolveItem(architecture.card().schema, "model", model))
    ADD_FAILURE() << problem.sentence();
  Json task{{"max_position_offset", options.offset}};
  Json data = dataSchema().defaults();
  const Json list = Json::array({tokenizeStage(options.tokenizer), options.rows});
  data["pipeline"] = {{"train", list}, {"evaluate", list}};
  TaskSetup setup;
  setup.task = Config(task);
  setup.data = Config(data);
  setup.model = architecture.build(Config(model), 3);
  setup.batchSize = options.batchSize;
  setup.evaluationBatchSize = options.batchSize;
  setup.loaderWorkers = 0;
  setup.registry = &test::transformRegistry();
  setup.pipeline = std::make_shared<const Pipeline>(test::transformRegistry(), setup.data,
                                                    std::make_shared<Texts>(options.texts), 0,
                                                    Pipeline::ImageShape{});
  return setup;
}

std::string refusal(const Options& options) {
  return test::refusal<Error>([&] { (void)LanguageModelTask().open(setupOf(options)); });
}

StepContext contextOf() { return {.generator = at::make_generator<at::CPUGeneratorImpl>(5)}; }

Scores scoresOf(TaskSession& session) {
  const c10::NoGradGuard noGradient;
  StepContext context = contextOf();
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

TEST(LanguageModel, PackedAndPaddedRowsHaveTheSameLossAndGradient) {
  const auto lossAndGradient = [](const Json& rows) {
    Options options{.rows = rows};
    const auto session = LanguageModelTask().open(setupOf(options));
    StepContext context = contextOf();
    const std::vector<LossPart> parts =
        session->loss(context, session->read(Split::Test, {0, 1, 2, 3}));
    parts.at(0).sum.backward();
    // Each text of n bytes has n + 1 targets.
    EXPECT_EQ(parts.at(0).count.item<std::int64_t>(), 11 + 8 + 16 + 3 + 4);
    return std::pair{
        parts.at(0).sum.item<double>(),
        session->model().module().named_parameters()["model.embed_tokens.weight"].grad()};
  };
  const auto packed = lossAndGradient({{"name", "pack"}, {"length", 40}});
  const auto padded = lossAndGradient({{"name", "pad"}});
  EXPECT_NEAR(packed.first / padded.first, 1, 1e-6);
  EXPECT_LT((packed.second - padded.second).abs().max().item<double>(),
            1e-5 * padded.second.abs().max().item<double>());
}

TEST(LanguageModel, ScoresAreThoseOfTheDefinitions) {
  const auto session = LanguageModelTask().open(setupOf({}));
  const Scores scores = scoresOf(*session);
  const double loss = score(scores, "loss");
  // A model that has learned nothing holds all 264 tokens equally likely.
  EXPECT_NEAR(loss, std::log(264.0), 0.1);
  EXPECT_NEAR(score(scores, "perplexity"), std::exp(loss), 1e-9 * std::exp(loss));
  EXPECT_NEAR(score(scores, "bits_per_byte"), loss * 42 / (std::log(2.0) * 38), 1e-6);
}

TEST(LanguageModel, LearnsAFewTextsByHeartAndWritesThem) {
  Options options{.offset = 10};
  const auto session = LanguageModelTask().open(setupOf(options));
  std::vector<at::Tensor> parameters = session->model().module().parameters();
  std::vector<at::Tensor> moments, squares;
  for (const at::Tensor& p : parameters) {
    moments.push_back(at::zeros_like(p));
    squares.push_back(at::zeros_like(p));
  }
  StepContext context = contextOf();
  for (int step = 1; step <= 120; ++step) {
    const auto parts = session->loss(context, session->read(Split::Train, {0, 1, 2, 3}));
    (parts.at(0).sum / parts.at(0).count).backward();
    const c10::NoGradGuard noGradient;
    for (std::size_t i = 0; i < parameters.size(); ++i) {  // Adam
      const at::Tensor gradient = parameters[i].grad();
      moments[i].mul_(0.9).add_(gradient, 0.1);
      squares[i].mul_(0.99).addcmul_(gradient, gradient, 0.01);
      parameters[i].sub_(5e-3 * (moments[i] / (1 - std::pow(0.9, step))) /
                         ((squares[i] / (1 - std::pow(0.99, step))).sqrt() + 1e-8));
      parameters[i].mutable_grad() = at::Tensor();
    }
  }
  const Scores scores = scoresOf(*session);
  // Which of four texts it is remains open: 4 ln 4 / 42 = 0.132 nats per token at best.
  EXPECT_LT(score(scores, "loss"), 0.16);
  EXPECT_GT(score(scores, "token_accuracy"), 0.9);

  const c10::NoGradGuard noGradient;
  const auto written = [&](Json settings) {
    Json values{{"seed", 1},        {"count", 2},         {"prompt", "one "},
                {"max_tokens", 30}, {"temperature", 0.0}, {"top_k", nullptr}};
    if (settings.is_object()) values.update(settings);
    CollectedResults results;
    TextSampler().sample({*session, Config(values)}, results);
    return results.texts;
  };
  const std::vector<GeneratedText> texts = written({});
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0].prompt, "one ");
  EXPECT_EQ(texts[0].text, "shoe") << "the end token ends it";
  EXPECT_EQ(texts[1].text, "shoe");
  EXPECT_EQ(texts[1].seed, 2U);
  EXPECT_EQ(written({{"temperature", 1.5}})[0].text, written({{"temperature", 1.5}})[0].text);
  EXPECT_EQ(written({{"max_tokens", 2}})[0].text, "sh");

  struct Impatient final : CollectedResults {
    bool isCancelled() override { return ++asked > 3; }
    int asked = 0;
  } results;
  const Json values{{"seed", 1},        {"count", 1},         {"prompt", "one "},
                    {"max_tokens", 30}, {"temperature", 0.0}, {"top_k", nullptr}};
  TextSampler().sample({*session, Config(values)}, results);
  EXPECT_TRUE(results.texts.empty()) << "two of its four letters were there";

  const auto refused = [&](Json settings) -> std::string {
    return test::refusal<ConfigError>([&] { (void)written(std::move(settings)); });
  };
  EXPECT_THAT(refused({{"prompt", std::string(80, 'x')}}), Names(81, 64));
  EXPECT_THAT(refused({{"max_tokens", 100}}), Names("max_tokens", 59));
  EXPECT_THAT(refused({{"prompt", "ab\xFF"}}), Names("prompt", "byte 2"));
}

TEST(LanguageModel, AContinuationKeepsTheSpaceBeforeItsFirstWord) {
  Options options;
  options.tokenizer = std::string(VITRINE_SOURCE_DIR) +
                      "/tests/golden/llama/tokenizer_sentencepiece/tokenizer.json";
  const auto tokenizer = text::openTokenizer(options.tokenizer);
  options.vocab = tokenizer->vocabularySize();
  const auto session = LanguageModelTask().open(setupOf(options));
  const text::TokenIds word = tokenizer->encode("the");
  ASSERT_EQ(word.size(), 1U);

  const c10::NoGradGuard noGradient;
  // A model that says "the" whatever it reads.
  for (const auto& parameter : session->model().module().named_parameters()) {
    if (parameter.key() == "model.embed_tokens.weight")
      parameter.value().fill_(1);
    else if (parameter.value().dim() == 2)
      parameter.value().zero_();
    if (parameter.key() == "lm_head.weight") parameter.value()[word[0]].fill_(1);
  }
  const auto written = [&](const std::string& prompt) {
    const Json values{{"seed", 1},       {"count", 1},         {"prompt", prompt},
                      {"max_tokens", 2}, {"temperature", 0.0}, {"top_k", nullptr}};
    CollectedResults results;
    TextSampler().sample({*session, Config(values)}, results);
    return results.texts.at(0).text;
  };
  EXPECT_EQ(written("a"), " the the");
  EXPECT_EQ(written(""), "the the") << "at the start of a text the space does not belong to it";
}

TEST(LanguageModel, DrawsPositionsFromTheRunsGeneratorAlone) {
  Options options{.offset = 20};
  const auto session = LanguageModelTask().open(setupOf(options));
  const at::Tensor before = at::detail::getDefaultCPUGenerator().get_state();
  StepContext context = contextOf();
  (void)session->loss(context, session->read(Split::Train, {0, 1}));
  EXPECT_TRUE(at::equal(before, at::detail::getDefaultCPUGenerator().get_state()));
  EXPECT_FALSE(at::equal(context.generator.get_state(), contextOf().generator.get_state()));
}

TEST(LanguageModel, RefusesToWriteWhereItsScoresAreNotNumbers) {
  const auto session = LanguageModelTask().open(setupOf(Options()));
  const c10::NoGradGuard noGradient;
  for (const at::Tensor& parameter : session->model().module().parameters())
    parameter.detach().fill_(std::nan(""));
  const Json values{{"seed", 1},       {"count", 1},         {"prompt", "one "},
                    {"max_tokens", 3}, {"temperature", 0.0}, {"top_k", nullptr}};
  CollectedResults results;
  EXPECT_THAT([&] { TextSampler().sample({*session, Config(values)}, results); },
              test::Fails<RefusedError>("next token", "checkpoint"));
  EXPECT_TRUE(results.texts.empty());
}

TEST(LanguageModel, RefusesRowsAndTokenizersThatDoNotFit) {
  Options longRows{.rows = {{"name", "pack"}, {"length", 65}}};
  EXPECT_THAT(refusal(longRows), Names(65, 64));
  Options moved{.offset = 30};
  EXPECT_THAT(refusal(moved), Names(40, 30));
  Options otherVocabulary{.vocab = 300};
  EXPECT_THAT(refusal(otherVocabulary), Names(264, 300));
  Options padded{.rows = {{"name", "pad"}}, .context = 8};
  const auto session = LanguageModelTask().open(setupOf(padded));
  StepContext context = contextOf();
  EXPECT_THROW((void)session->loss(context, session->read(Split::Test, {0})), ConfigError);
  // A row of 13 tokens fits, at positions up to 60 later it does not.
  padded.context = 64;
  padded.offset = 60;
  const auto later = LanguageModelTask().open(setupOf(padded));
  const Batch row = later->read(Split::Train, {0});
  EXPECT_THAT([&] { (void)later->loss(context, row); }, test::Fails<ConfigError>("13", "60", "64"));
  Options broken{.texts = {"fine", "br\xC3"}};
  const auto other = LanguageModelTask().open(setupOf(broken));
  EXPECT_THAT([&] { (void)other->read(Split::Test, {1}); },
              test::Fails<ConfigError>("text", "sample 1", "byte 2"));
}

}  // namespace
}  // namespace vitrine::language_model
