#include "tests/support/golden/text.h"

#include <ATen/ATen.h>

#include <cstdio>
#include <fstream>

#include "core/base/error.h"
#include "core/eval/captions.h"
#include "core/model/weights.h"
#include "core/nn/norm.h"
#include "core/text/tokenizer.h"

namespace vitrine::testing {

namespace {

namespace fs = std::filesystem;

Json read(const fs::path& file) {
  std::ifstream stream(file);
  return Json::parse(stream);
}

at::Tensor bytesOf(const std::string& text) {
  at::Tensor bytes = at::empty({static_cast<std::int64_t>(text.size())}, at::kLong);
  for (std::size_t i = 0; i < text.size(); ++i)
    bytes.mutable_data_ptr<std::int64_t>()[i] = static_cast<unsigned char>(text[i]);
  return bytes;
}

at::Tensor integers(const text::TokenIds& values) { return at::tensor(values, at::kLong); }

std::string numbered(const char* what, std::size_t number) {
  char name[64];
  std::snprintf(name, sizeof name, "output/%s/%03zu", what, number);
  return name;
}

/// Ids and texts of every pair by one tokenizer.
Tensors tokenized(const Json& pairs, const text::Tokenizer& tokenizer) {
  Tensors pass;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const text::TokenIds ids = tokenizer.encode(pairs[i].at("text").get<std::string>(), "a text",
                                                text::SpecialNames::Recognised);
    text::TokenIds whole = ids;
    if (tokenizer.beginToken()) whole.insert(whole.begin(), *tokenizer.beginToken());
    pass[numbered("ids", i)] = integers(whole);
    pass[numbered("ids_without_special", i)] = integers(ids);
    pass[numbered("decoded", i)] = bytesOf(tokenizer.decode(ids));
    pass[numbered("decoded_with_special", i)] =
        bytesOf(tokenizer.decode(whole, text::ShowSpecials::Yes));
  }
  return pass;
}

std::vector<Tensors> tokenizers(const GoldenCase& golden) {
  const Json pairs = read(golden.folder / "pairs.json");
  std::vector<Tensors> passes;
  for (const char* file : {"tokenizer.json", "tokenizer.model"}) {
    const fs::path path = golden.folder / file;
    if (!fs::exists(path)) continue;
    try {
      passes.push_back(tokenized(
          pairs,
          path.extension() == ".json"
              ? *text::openTokenizer(path.string())
              : *text::readRankedTokenizer(
                    path, golden.json.at("model").at("specials").get<std::vector<std::string>>())));
    } catch (const FileError& refused) {
      throw Unmapped(refused.what());
    }
  }
  return passes;
}

Tensors captionScoresOf(const GoldenCase& golden) {
  Tensors pass;
  const Json sets = read(golden.folder / "cider.json");
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const eval::CaptionScores scores =
        eval::captionScores(sets[i].at("hypotheses").get<std::vector<std::string>>(),
                            sets[i].at("references").get<std::vector<std::vector<std::string>>>());
    pass[numbered("scores", i)] = at::tensor(scores.scores, at::kDouble);
    pass[numbered("mean", i)] = at::full({}, scores.mean, at::kDouble);
  }
  return pass;
}

Tensors clipScoresOf(const GoldenCase& golden) {
  // 100 times the cosine of the features of an image and of its caption, [pairs].
  const at::Tensor images = golden.io.at("input/image_features").to(at::kDouble),
                   captions = golden.io.at("input/text_features").to(at::kDouble);
  const at::Tensor scores =
      (images * captions).sum(1) / (images.norm(2, 1) * captions.norm(2, 1)) * 100;
  return {{"output/scores", scores},
          {"output/clipped_scores", scores.clamp_min(0)},
          {"output/mean", scores.mean()}};
}

/// RMSNorm over the channels, and of every head by itself.
Tensors rootMeanSquares(const GoldenCase& golden) {
  const Json& model = golden.settings();
  Tensors weights = readTensors(golden.weights());
  at::Tensor x = golden.io.at("input/x").clone().requires_grad_(true);
  at::Tensor h = golden.io.at("input/h").clone().requires_grad_(true);
  for (auto& [name, weight] : weights) weight.requires_grad_(true);
  const at::Tensor rms =
      nn::normalise(nn::NormKind::Rms, x, weights.at("weight"), {}, model.at("eps"));
  const at::Tensor heads =
      nn::normalise(nn::NormKind::Rms, h, {}, {}, model.at("multihead_eps")).transpose(1, 2);
  const at::Tensor multihead = heads.flatten(2) * weights.at("head_weight");
  const at::Tensor loss = (rms * golden.io.at("input/upstream_rms")).sum() +
                          (multihead * golden.io.at("input/upstream_multihead_rms")).sum();
  loss.backward();
  Tensors pass{{"output/rms", rms.detach()},
               {"output/multihead_rms", multihead.detach()},
               {"output/loss", loss.detach()},
               {"grad/input/x", x.grad()},
               {"grad/input/h", h.grad()}};
  for (auto& [name, weight] : weights) pass[name] = weight.grad();
  return pass;
}

}  // namespace

Tensors textExpectations(const fs::path& folder) {
  Tensors wanted;
  if (fs::exists(folder / "pairs.json")) {
    const Json pairs = read(folder / "pairs.json");
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      for (const char* ids : {"ids", "ids_without_special"})
        wanted[numbered(ids, i)] = integers(pairs[i].at(ids).get<text::TokenIds>());
      for (const char* words : {"decoded", "decoded_with_special"})
        wanted[numbered(words, i)] = bytesOf(pairs[i].at(words).get<std::string>());
    }
  } else if (fs::exists(folder / "cider.json")) {
    const Json sets = read(folder / "cider.json");
    for (std::size_t i = 0; i < sets.size(); ++i) {
      wanted[numbered("scores", i)] =
          at::tensor(sets[i].at("scores").get<std::vector<double>>(), at::kDouble);
      wanted[numbered("mean", i)] = at::full({}, sets[i].at("mean").get<double>(), at::kDouble);
    }
  }
  return wanted;
}

bool isTextCase(const GoldenCase& golden) {
  return fs::exists(golden.folder / "pairs.json") || fs::exists(golden.folder / "cider.json") ||
         golden.io.contains("input/upstream_multihead_rms") ||
         golden.io.contains("output/clipped_scores");
}

std::vector<Tensors> runTextCase(const GoldenCase& golden) {
  if (fs::exists(golden.folder / "pairs.json")) return tokenizers(golden);
  if (fs::exists(golden.folder / "cider.json")) return {captionScoresOf(golden)};
  if (golden.io.contains("output/clipped_scores")) return {clipScoresOf(golden)};
  return {rootMeanSquares(golden)};
}

}  // namespace vitrine::testing
