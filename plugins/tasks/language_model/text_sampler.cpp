#include <ATen/ATen.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/config/item_card.h"
#include "core/plugin/text_session.h"
#include "plugins/tasks/language_model/language_model.h"

namespace vitrine::language_model {

namespace {

/// \throws ConfigError  they are more than the context
void requireRoom(std::int64_t prompt, std::int64_t more, std::int64_t context) {
  if (context == 0) return;
  if (prompt > context) {
    throw ConfigError("the prompt has " + std::to_string(prompt) +
                      " tokens, the model's context is " + std::to_string(context) +
                      "; shorten the prompt");
  }
  if (prompt + more > context) {
    throw ConfigError("a prompt of " + std::to_string(prompt) +
                      " tokens and max_tokens = " + std::to_string(more) +
                      " are more than the model's context of " + std::to_string(context) +
                      "; set max_tokens to at most " + std::to_string(context - prompt));
  }
}

}  // namespace

ItemCard TextSampler::card() const {
  ItemCard card = itemCard(ItemKind::Sampler, "text", "Text", "Continues a prompt, token by token");
  card.needs = {LanguageModel::kId};
  card.schema.fields = {
      textField("prompt", "", "start of the text").titled("Prompt"),
      integerField("max_tokens", 64, "new tokens at most; the end token ends a text earlier")
          .titled("New tokens")
          .range(1, 1 << 20)
          .withUnit("tokens"),
      realField("temperature", 0.0,
                "0: the most likely token; 1: drawn from the model's probabilities")
          .titled("Temperature")
          .range(0, 100),
      integerField("top_k", nullptr, "draw among this many of the most likely; none: among all")
          .titled("Likeliest only")
          .atLeast(1)
          .orNone()};
  return card;
}

Sampler::Fit TextSampler::fit(TaskSession& session) const {
  return dynamic_cast<const TextSession*>(&session) == nullptr ? Fit::None : Fit::Possible;
}

void TextSampler::sample(const SampleRequest& request, Results& results) const {
  auto& model = requireCapability<LanguageModel>(request.session.model(), "sampler 'text'");
  const auto* session = dynamic_cast<const TextSession*>(&request.session);
  if (session == nullptr) {
    throw RefusedError(
        "sampler 'text' needs a run whose task reads texts; this run's task does not");
  }
  const text::TokenizeStage& texts = session->texts();
  const text::Tokenizer& tokenizer = *texts.tokenizer;
  const std::string prompt = request.config.text("prompt");
  const std::int64_t most = request.config.integer("max_tokens"),
                     count = request.config.integer("count");
  const text::TokenChoice choice{request.config.real("temperature"),
                                 request.config.maybeInteger("top_k")};

  text::TokenIds start;
  if (texts.begins && tokenizer.beginToken()) start.push_back(*tokenizer.beginToken());
  const text::TokenIds body = tokenizer.encode(prompt, "the prompt");
  start.insert(start.end(), body.begin(), body.end());
  if (start.empty())
    throw ConfigError("the prompt is empty and the model's texts have no first token; give prompt");
  requireRoom(std::ssize(start), most, model.contextLength());

  const auto cache = model.makeCache(1);
  const auto next = [&](const text::TokenIds& tokens) {
    const at::Tensor ids = at::tensor(tokens, at::kLong).unsqueeze(0).to(request.device);
    const at::Tensor logits = model.next(ids, cache.get(), LanguageModel::Rows::Last)[0][0];
    if (!logits.isnan().any().item<bool>()) return logits;
    throw RefusedError(
        "the model's scores of the next token are not numbers; take another checkpoint, or "
        "precision fp32");
  };
  const at::Tensor first = next(start);
  const auto firstSeed = static_cast<std::uint64_t>(request.config.integer("seed"));
  for (std::int64_t i = 0; i < count && !results.isCancelled(); ++i) {
    const std::uint64_t seed = firstSeed + static_cast<std::uint64_t>(i);
    const RandomStream stream(seed, "sample");
    cache->truncate(std::ssize(start));
    text::TokenIds made;
    at::Tensor logits = first;
    while (!results.isCancelled()) {
      const std::int64_t token = text::chooseToken(logits, choice, stream.uniform(0, made.size()));
      if (token == tokenizer.endToken()) break;
      made.push_back(token);
      if (std::ssize(made) >= most) break;
      logits = next({token});
    }
    if (results.isCancelled()) return;  // its recipe would tell of the whole text
    GeneratedText written;
    written.seed = seed;
    written.prompt = prompt;
    written.text =
        tokenizer.decode(made, text::ShowSpecials::No,
                         body.empty() ? text::TextPlace::Start : text::TextPlace::Inside);
    written.recipe = recipeOf(request, card().id, seed);
    results.text(std::move(written));
    results.progress(i + 1, count);
  }
}

}  // namespace vitrine::language_model
