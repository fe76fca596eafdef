#include "plugins/tasks/language_model/language_model.h"

#include <ATen/ATen.h>
#include <ATen/core/Reduction.h>

#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "core/model/packed_language_model.h"
#include "core/plugin/pipeline_session.h"
#include "core/plugin/text_session.h"

namespace vitrine::language_model {

namespace {

constexpr const char* kTokens = "tokens";

/// Rows of a batch as the model and the loss need them.
struct Rows {
  TokenRows input;
  at::Tensor targets;  ///< [B, N] int64
};

class Session final : public PipelineSession, public TextSession {
 public:
  explicit Session(const TaskSetup& setup)
      : PipelineSession(setup),
        model_(requireCapability<LanguageModel>(*setup.model, "language_model")),
        packed_(capabilityOf<PackedLanguageModel>(*setup.model)),
        texts_(text::tokenizeStageOf(setup.pipeline->plan())),
        mostOffset_(setup.task.integer("max_position_offset")) {
    for (const Phase phase : {Phase::Train, Phase::Evaluate}) requireRows(phase);
    if (texts_.tokenizer) {
      text::requireVocabulary(*texts_.tokenizer, model_.vocabularySize());
      byteCounts_ = text::byteCounts(*texts_.tokenizer);
    }
    if (mostOffset_ > 0 && packed_ == nullptr) {
      throw ConfigError("task.max_position_offset needs a model that offers " +
                        std::string(PackedLanguageModel::kId) + "; set it to 0 for this one");
    }
  }

  const text::TokenizeStage& texts() const override {
    if (!texts_.tokenizer) {
      throw ConfigError(
          "the data of this run are numbers without a tokenizer; a run whose data.pipeline has "
          "tokenize can write texts");
    }
    return texts_;
  }
  std::string bestBy() const override { return bestBySplit("token_accuracy"); }

  std::vector<LossPart> loss(StepContext& context, const Batch& batch) override {
    Rows rows = rowsOf(batch);
    if (mostOffset_ > 0) {
      const at::Tensor& tokens = rows.input.tokens;
      requireRoom(tokens.size(1), mostOffset_);  // pad may leave the length to the batch
      if (!rows.input.positions.defined())
        rows.input.positions = at::arange(tokens.size(1), tokens.options()).expand_as(tokens);
      rows.input.positions =
          rows.input.positions +
          at::randint(mostOffset_ + 1, {tokens.size(0), 1}, context.generator, tokens.options());
    }
    const at::Tensor logits = logitsOf(rows.input);
    return {{"",
             at::cross_entropy_loss(logits.to(at::kFloat).flatten(0, 1), rows.targets.flatten(), {},
                                    at::Reduction::Sum, text::kNoTarget),
             rows.targets.ne(text::kNoTarget).sum()}};
  }

  void evaluate(const EvaluationRequest& request, Results& results) override {
    const std::unique_ptr<BatchStream> stream = evaluationStream(request.evaluation.split);
    double loss = 0;
    std::int64_t tokens = 0, correct = 0, bytes = 0;
    for (std::int64_t i = 0; i < stream->batchesPerEpoch(); ++i) {
      const Rows rows = rowsOf(stream->next().to(request.context.device));
      const at::Tensor isCounted = rows.targets.ne(text::kNoTarget);
      const at::Tensor logits = logitsOf(rows.input).to(at::kFloat);
      loss += at::cross_entropy_loss(logits.flatten(0, 1), rows.targets.flatten(), {},
                                     at::Reduction::Sum, text::kNoTarget)
                  .item<double>();
      tokens += isCounted.sum().item<std::int64_t>();
      correct +=
          logits.argmax(-1).eq(rows.targets).logical_and(isCounted).sum().item<std::int64_t>();
      if (byteCounts_.defined()) {
        bytes += byteCounts_.index_select(0, rows.targets.masked_select(isCounted).to(at::kCPU))
                     .sum()
                     .item<std::int64_t>();
      }
    }
    if (tokens == 0) {
      throw ConfigError("the " + toString(request.evaluation.split) +
                        " split has no token that follows another; nothing can be scored");
    }
    const double count = static_cast<double>(tokens);
    results.score("loss", loss / count);
    results.score("perplexity", std::exp(loss / count));
    results.score("token_accuracy", static_cast<double>(correct) / count);
    if (bytes > 0)
      results.score("bits_per_byte", loss / (std::numbers::ln2 * static_cast<double>(bytes)));
    for (EvaluationListener* listener : request.listeners) listener->finish(results);
  }

 private:
  /// \throws ConfigError  see open()
  void requireRows(Phase phase) const {
    const SampleField& tokens = pipeline_->field(kTokens, phase);
    const bool isPacked = findField(pipeline_->fields(phase), "tokens_document") != nullptr;
    const bool isPadded = findField(pipeline_->fields(phase), "tokens_count") != nullptr;
    const bool isDense = tokens.shape.size() == 1 && (isPadded || isPacked || tokens.shape[0] > 0);
    if (tokens.kind != FieldKind::Tokens || !isDense) {
      throw ConfigError(
          "language_model needs tokens in rows; end data.pipeline with pack, or with pad");
    }
    if (isPacked && packed_ == nullptr) {
      throw ConfigError("packed rows need a model that offers " +
                        std::string(PackedLanguageModel::kId) + "; use pad for this one");
    }
    requireRoom(tokens.shape[0], phase == Phase::Train ? mostOffset_ : 0);
  }

  void requireRoom(std::int64_t length, std::int64_t offset) const {
    const std::int64_t context = model_.contextLength();
    if (context == 0 || length + offset <= context) return;
    throw ConfigError(
        "rows of " + std::to_string(length) + " tokens" +
        (offset > 0 ? " with positions up to " + std::to_string(offset) + " later" : "") +
        " are more than the model's context of " + std::to_string(context) +
        "; shorten the rows in data.pipeline, or raise the context (model.max_positions)");
  }

  Rows rowsOf(const Batch& batch) const {
    Rows rows;
    rows.input.tokens = batch.at(kTokens);
    const at::Tensor& tokens = rows.input.tokens;
    at::Tensor documents;
    if (const auto packed = batch.fields.find("tokens_document"); packed != batch.fields.end()) {
      documents = packed->second;
      rows.input.positions = batch.at("tokens_position");
      rows.input.firstKey = text::documentBegins(documents);
    } else if (const auto counts = batch.fields.find("tokens_count");
               counts != batch.fields.end()) {
      requireRoom(tokens.size(1), 0);
      const at::Tensor isFiller =
          at::arange(tokens.size(1), tokens.options()).ge(counts->second.unsqueeze(1));
      documents = isFiller.to(at::kLong).neg();
    }
    if (const auto given = batch.fields.find("targets"); given != batch.fields.end()) {
      rows.targets = given->second.masked_fill(given->second.lt(0), text::kNoTarget);
    } else {
      rows.targets = text::nextTokens(tokens, documents);
    }
    return rows;
  }

  at::Tensor logitsOf(const TokenRows& rows) const {
    return packed_ != nullptr ? packed_->logits(rows)
                              : model_.next(rows.tokens, nullptr, LanguageModel::Rows::All);
  }

  LanguageModel& model_;
  PackedLanguageModel* packed_;
  text::TokenizeStage texts_;
  at::Tensor byteCounts_;
  std::int64_t mostOffset_;
};

}  // namespace

ItemCard LanguageModelTask::card() const {
  ItemCard card =
      itemCard(ItemKind::Task, "language_model", "Language model", "The next token of every token");
  card.needs = {LanguageModel::kId, kTokens};
  card.metrics = {{"bits_per_byte", "loss", "perplexity", "token_accuracy"},
                  {"train/loss", "test/loss", "test/bits_per_byte"},
                  "texts",
                  {{"*/perplexity", "perplexity", "", "lower", "exp of the mean loss per token"},
                   {"*/bits_per_byte", "bits per byte", "bits", "lower",
                    "loss of all tokens over the bytes of their text"},
                   {"*/token_accuracy", "token accuracy", "fraction", "higher",
                    "share of the tokens that the model finds most likely"}}};
  card.schema.fields =
      runOnly({integerField("max_position_offset", 0,
                            "in training each row begins at a random position up to this one")
                   .titled("Random position offset")
                   .range(0, 1 << 20)
                   .withUnit("tokens")});
  return card;
}

std::unique_ptr<TaskSession> LanguageModelTask::open(const TaskSetup& setup) const {
  return std::make_unique<Session>(setup);
}

void registerAll(Registry& registry) {
  registry.add(std::make_unique<LanguageModelTask>());
  registry.add(std::make_unique<TextSampler>());
}

}  // namespace vitrine::language_model
