#include "core/text/token_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/sha256.h"

namespace vitrine::text {

namespace {

constexpr const char* kBytes = "bytes";  ///< the one tokenizer that is not a file

/// A tokenizer as a pipeline names it.
struct NamedTokenizer {
  std::string name;
  std::vector<std::string> words;
};

/// Absent where the pipeline has no `tokenize`.
/// \param stage  takes whether texts have a first and a last token
/// \throws ConfigError  training and evaluation have different tokenizers
std::optional<NamedTokenizer> namedTokenizer(const Json& plan, TokenizeStage& stage) {
  std::optional<NamedTokenizer> named;
  if (!plan.is_object()) return named;
  for (const char* phase : {"train", "evaluate"}) {
    for (const Json& each : plan.value(phase, Json::array())) {
      if (each.value("name", "") != "tokenize") continue;
      NamedTokenizer own{each.value("tokenizer", std::string(kBytes)),
                         each.value("words", std::vector<std::string>{})};
      if (named && own.name != named->name) {
        throw ConfigError("data.pipeline: training has the tokenizer '" + named->name +
                          "' and evaluation '" + own.name + "'; give both the same");
      }
      if (named && own.words != named->words) {
        throw ConfigError(
            "data.pipeline: the tokenizers of training and evaluation have different words; give "
            "both the same");
      }
      named = std::move(own);
      stage.begins = each.value("begin", true);
      stage.ends = each.value("end", true);
    }
  }
  return named;
}

/// Whether two names are of files with one content; true as well where one cannot be read, as after
/// it was moved.
bool areSameFiles(const std::string& one, const std::string& other) {
  if (one == kBytes || other == kBytes) return false;
  try {
    return sha256OfFile(one) == sha256OfFile(other);
  } catch (const FileError&) {
    return true;
  }
}

}  // namespace

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
  const std::optional<NamedTokenizer> named = namedTokenizer(plan, stage);
  if (named) stage.tokenizer = openTokenizer(named->name, named->words);
  return stage;
}

std::string tokenizerChange(const Json& plan, const Json& before) {
  TokenizeStage ignored;
  const auto now = namedTokenizer(plan, ignored), then = namedTokenizer(before, ignored);
  if (!now || !then) return "";
  if (now->name != then->name) {
    if (areSameFiles(now->name, then->name)) return "";
    return "data.pipeline has the tokenizer '" + now->name +
           "', and the run that the weights are of has '" + then->name +
           "'; name the same tokenizer, or leave out the tables of tokens with init.skip";
  }
  const std::size_t both = std::min(now->words.size(), then->words.size());
  for (std::size_t i = 0; i < std::max(now->words.size(), then->words.size()); ++i) {
    if (i < both && now->words[i] == then->words[i]) continue;
    const auto wordOf = [i](const std::vector<std::string>& words) {
      return i < words.size() ? "'" + words[i] + "'" : std::string("missing");
    };
    return "word " + std::to_string(i) + " of the tokenizer is " + wordOf(now->words) +
           " in data.pipeline and " + wordOf(then->words) +
           " in the run that the weights are of; give the same words in the same order, or leave "
           "out the tables of tokens with init.skip";
  }
  return "";
}

void requireVocabulary(const Tokenizer& tokenizer, std::int64_t ofModel) {
  if (tokenizer.vocabularySize() == ofModel) return;
  throw ConfigError("the tokenizer has " + std::to_string(tokenizer.vocabularySize()) +
                    " tokens, the model a vocabulary of " + std::to_string(ofModel) +
                    "; set model.vocab = " + std::to_string(tokenizer.vocabularySize()) +
                    ", or name the model's tokenizer in data.pipeline");
}

}  // namespace vitrine::text
