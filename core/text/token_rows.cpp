#include "core/text/token_rows.h"

#include <ATen/ATen.h>

#include "core/base/error.h"

namespace vitrine::text {

at::Tensor nextTokens(const at::Tensor& tokens, const at::Tensor& documents) {
  const std::int64_t count = tokens.size(1);
  at::Tensor targets = at::full_like(tokens, kNoTarget);
  if (count < 2) return targets;
  at::Tensor next = tokens.narrow(1, 1, count - 1);
  if (documents.defined()) {
    const at::Tensor now = documents.narrow(1, 0, count - 1),
                     then = documents.narrow(1, 1, count - 1);
    next = at::where(now.eq(then).logical_and(now.ge(0)), next,
                     at::full({}, kNoTarget, next.options()));
  }
  targets.narrow(1, 0, count - 1).copy_(next);
  return targets;
}

at::Tensor documentBegins(const at::Tensor& documents) {
  const std::int64_t count = documents.size(1);
  const at::Tensor place = at::arange(count, documents.options()).expand_as(documents);
  if (count < 2) return place.contiguous();
  const at::Tensor isSame = documents.narrow(1, 1, count - 1).eq(documents.narrow(1, 0, count - 1));
  const at::Tensor starts =
      at::cat({at::ones_like(documents.narrow(1, 0, 1)), isSame.logical_not().to(at::kLong)}, 1);
  return std::get<0>((place * starts).cummax(1));
}

std::int64_t chooseToken(const at::Tensor& logits, const TokenChoice& choice, double uniform) {
  if (choice.temperature <= 0) return logits.argmax().item<std::int64_t>();
  at::Tensor scaled = logits.to(at::kCPU, at::kDouble) / choice.temperature;
  at::Tensor tokens;
  if (choice.topK && *choice.topK < scaled.size(0))
    std::tie(scaled, tokens) = scaled.topk(*choice.topK);
  const at::Tensor sums = scaled.softmax(0).cumsum(0);
  const auto place = std::min(sums.le(uniform).sum().item<std::int64_t>(), scaled.size(0) - 1);
  return tokens.defined() ? tokens[place].item<std::int64_t>() : place;
}

at::Tensor byteCounts(const Tokenizer& tokenizer) {
  std::vector<std::int64_t> counts;
  for (std::int64_t token = 0; token < tokenizer.vocabularySize(); ++token)
    counts.push_back(tokenizer.byteCount(token));
  return at::tensor(counts, at::kLong);
}

TokenizeStage tokenizeStageOf(const Json& plan) {
  TokenizeStage stage;
  std::string name;
  std::vector<std::string> words;
  for (const char* phase : {"train", "evaluate"}) {
    for (const Json& each : plan.value(phase, Json::array())) {
      if (each.value("name", "") != "tokenize") continue;
      const std::string own = each.value("tokenizer", "bytes");
      if (!name.empty() && own != name) {
        throw ConfigError("data.pipeline: training has the tokenizer '" + name +
                          "' and evaluation '" + own + "'; give both the same");
      }
      const auto ownWords = each.value("words", std::vector<std::string>{});
      if (!name.empty() && ownWords != words) {
        throw ConfigError(
            "data.pipeline: the tokenizers of training and evaluation have different words; give "
            "both the same");
      }
      name = own;
      words = ownWords;
      stage.begins = each.value("begin", true);
      stage.ends = each.value("end", true);
    }
  }
  if (!name.empty()) stage.tokenizer = openTokenizer(name, words);
  return stage;
}

void requireVocabulary(const Tokenizer& tokenizer, std::int64_t ofModel) {
  if (tokenizer.vocabularySize() == ofModel) return;
  throw ConfigError("the tokenizer has " + std::to_string(tokenizer.vocabularySize()) +
                    " tokens, the model a vocabulary of " + std::to_string(ofModel) +
                    "; set model.vocab = " + std::to_string(tokenizer.vocabularySize()) +
                    ", or name the model's tokenizer in data.pipeline");
}

}  // namespace vitrine::text
