#include "plugins/tasks/text_image/sequences.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/text/token_rows.h"

namespace vitrine::text_image {

namespace {

constexpr std::int64_t kFiller = 0;  ///< token in the places of images and of filler

/// One row, token by token.
class Row {
 public:
  Row(std::int64_t* tokens, std::int64_t* targets, std::int64_t* documents, std::int64_t* positions)
      : tokens_(tokens), targets_(targets), documents_(documents), positions_(positions) {}
  void skip(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) put(kFiller, text::kNoTarget, -1, 0);
  }
  void add(std::int64_t token, std::int64_t target) { put(token, target, 0, next_++); }

 private:
  void put(std::int64_t token, std::int64_t target, std::int64_t document, std::int64_t position) {
    *tokens_++ = token;
    *targets_++ = target;
    *documents_++ = document;
    *positions_++ = position;
  }
  std::int64_t *tokens_, *targets_, *documents_, *positions_;
  std::int64_t next_ = 0;
};

/// What people call a token.
std::string wordOf(std::int64_t token, const TextImageModel::Sizes& sizes,
                   const text::Tokenizer& tokenizer) {
  if (token == sizes.beginText) return "begin of text";
  if (token == sizes.beginImage) return "begin of image";
  const std::string word = tokenizer.decode({&token, 1}, text::ShowSpecials::Yes);
  return word.find_first_not_of(' ') == std::string::npos ? "space" : word;
}

/// "<s> = 1"
std::string namedToken(const text::Tokenizer& tokenizer, std::int64_t token) {
  return tokenizer.decode({&token, 1}, text::ShowSpecials::Yes) + " = " + std::to_string(token);
}

/// The first special tokens of a tokenizer by number: "<unk> = 0, <s> = 1".
std::string someSpecials(const text::Tokenizer& tokenizer) {
  constexpr std::size_t kShown = 4;
  std::vector<std::int64_t> tokens;
  for (const auto& [name, token] : tokenizer.specials()) tokens.push_back(token);
  std::sort(tokens.begin(), tokens.end());
  tokens.resize(std::min(tokens.size(), kShown));
  return joined(tokens, [&](std::int64_t token) { return namedToken(tokenizer, token); });
}

}  // namespace

void requireTokensOf(const text::Tokenizer& tokenizer, const TextImageModel::Sizes& sizes) {
  const auto requireOwn = [&](const std::string& key, std::int64_t token,
                              const std::optional<std::int64_t>& own, const char* what) {
    if (!own || *own == token) return;
    throw ConfigError("model." + key + " = " + std::to_string(token) + " is not the token that " +
                      what + " a text in the tokenizer of data.pipeline, " +
                      namedToken(tokenizer, *own) + "; set model." + key + " = " +
                      std::to_string(*own));
  };
  requireOwn("bos_id", sizes.beginText, tokenizer.beginToken(), "begins");
  requireOwn("eos_id", sizes.endText, tokenizer.endToken(), "ends");
  for (const auto& [key, token] :
       {std::pair{"bos_id", sizes.beginText}, std::pair{"eos_id", sizes.endText},
        std::pair{"boi_id", sizes.beginImage}, std::pair{"eoi_id", sizes.endImage}}) {
    if (tokenizer.byteCount(token) == 0) continue;
    const std::string specials = someSpecials(tokenizer);
    throw ConfigError("model." + std::string(key) + " = " + std::to_string(token) +
                      " is a piece of text in the tokenizer of data.pipeline, '" +
                      tokenizer.decode({&token, 1}) + "'; " +
                      (specials.empty() ? "choose a tokenizer with special tokens"
                                        : "name a special token, as in " + specials));
  }
}

JointRows jointRows(const std::vector<std::vector<std::int64_t>>& captions, Order order,
                    const TextImageModel::Sizes& sizes, std::int64_t context, at::Device device) {
  std::int64_t longest = 0;
  for (const auto& caption : captions) longest = std::max(longest, std::ssize(caption));
  const bool isCaptionFirst = order == Order::CaptionFirst;
  const std::int64_t width = longest + sizes.imageTokens + (isCaptionFirst ? 3 : 4);
  if (context > 0 && width > context) {
    throw ConfigError("a caption of " + std::to_string(longest) + " tokens and an image of " +
                      std::to_string(sizes.imageTokens) + " make a row of " +
                      std::to_string(width) + ", more than the model's context of " +
                      std::to_string(context) +
                      "; shorten captions (data.pipeline, tokenize: length) or raise "
                      "model.max_positions");
  }
  const auto count = std::ssize(captions);
  const auto table = [&] { return at::empty({count, width}, at::kLong); };
  at::Tensor tokens = table(), targets = table(), documents = table(), positions = table();
  at::Tensor index = at::zeros({width}, at::kLong);
  index.narrow(0, isCaptionFirst ? longest + 2 : 2, sizes.imageTokens).fill_(1);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto& caption = captions[static_cast<std::size_t>(i)];
    const auto rowOf = [&](at::Tensor& of) {
      return of.mutable_data_ptr<std::int64_t>() + i * width;
    };
    Row row(rowOf(tokens), rowOf(targets), rowOf(documents), rowOf(positions));
    const auto addText = [&](std::int64_t first, std::int64_t after) {
      row.add(first, caption.empty() ? after : caption.front());
      for (std::size_t k = 0; k < caption.size(); ++k)
        row.add(caption[k], k + 1 < caption.size() ? caption[k + 1] : after);
    };
    const auto addImage = [&] {
      row.add(sizes.beginImage, text::kNoTarget);
      for (std::int64_t k = 0; k < sizes.imageTokens; ++k) row.add(kFiller, text::kNoTarget);
    };
    const std::int64_t filler = longest - std::ssize(caption);
    if (isCaptionFirst) {
      row.skip(filler);
      addText(sizes.beginText, sizes.beginImage);
      addImage();
      row.add(sizes.endImage, text::kNoTarget);
    } else {
      row.add(sizes.beginText, sizes.beginImage);
      addImage();
      addText(sizes.endImage, sizes.endText);
      row.add(sizes.endText, text::kNoTarget);
      row.skip(filler);
    }
  }
  JointRows rows;
  rows.sequences.tokens = tokens.to(device);
  rows.sequences.imageIndex = index;
  rows.sequences.positions = positions.to(device);
  rows.sequences.documents = documents;
  rows.targets = targets.to(device);
  return rows;
}

text::TokenIds prompted(const text::TokenIds& caption, const TextImageModel::Sizes& sizes) {
  text::TokenIds tokens{sizes.beginText};
  tokens.insert(tokens.end(), caption.begin(), caption.end());
  tokens.push_back(sizes.beginImage);
  return tokens;
}

std::vector<std::string> wordsOf(const text::TokenIds& tokens, const TextImageModel::Sizes& sizes,
                                 const text::Tokenizer& tokenizer) {
  std::vector<std::string> words;
  for (const std::int64_t token : tokens) words.push_back(wordOf(token, sizes, tokenizer));
  return words;
}

JointSession::Sequence captionedSequence(const text::TokenIds& caption, const at::Tensor& image,
                                         const TextImageModel::Sizes& sizes, std::int64_t context,
                                         const text::Tokenizer& tokenizer) {
  JointSession::Sequence one;
  one.sequences =
      jointRows({caption}, Order::CaptionFirst, sizes, context, image.device()).sequences;
  one.sequences.images = image;
  one.sequences.time = at::zeros({1}, at::kLong).to(image.device());
  one.words = wordsOf(prompted(caption, sizes), sizes, tokenizer);
  one.words.resize(one.words.size() + static_cast<std::size_t>(sizes.imageTokens));
  one.words.emplace_back("end of image");  // by its place: it may be the token that begins texts
  return one;
}

std::int64_t captionRoom(const TextImageModel::Sizes& sizes, std::int64_t context,
                         std::int64_t most) {
  // BOS, BOI, the image and EOI come before.
  const std::int64_t before = sizes.imageTokens + 3;
  return context > 0 ? std::min(most, std::max<std::int64_t>(context - before, 0)) : most;
}

std::vector<std::vector<std::int64_t>> greedyCaptions(TextImageModel& model,
                                                      LanguageModel& language,
                                                      const at::Tensor& images, std::int64_t most) {
  const TextImageModel::Sizes sizes = model.textImageSizes();
  const std::int64_t count = images.size(0);
  const auto cache = language.makeCache(count);
  const auto ids = [&](std::vector<std::int64_t> tokens) {
    return at::tensor(tokens, at::kLong).to(images.device()).expand({count, -1});
  };
  (void)language.next(ids({sizes.beginText, sizes.beginImage}), cache.get(),
                      LanguageModel::Rows::Last);
  (void)model.noiseAfter(*cache, images, at::zeros({count}, at::kLong).to(images.device()),
                         TextImageModel::Keep::Yes);
  at::Tensor next =
      language.next(ids({sizes.endImage}), cache.get(), LanguageModel::Rows::Last).argmax(-1);
  std::vector<std::vector<std::int64_t>> captions(static_cast<std::size_t>(count));
  std::vector<bool> isDone(captions.size(), false);
  for (std::int64_t step = 0; step < most; ++step) {
    const at::Tensor chosen = next.to(at::kCPU).contiguous();
    bool goesOn = false;
    for (std::size_t i = 0; i < captions.size(); ++i) {
      const std::int64_t token = chosen.const_data_ptr<std::int64_t>()[i];
      if (token == sizes.endText) isDone[i] = true;
      if (isDone[i]) continue;
      captions[i].push_back(token);
      goesOn = true;
    }
    if (!goesOn || step + 1 == most) break;
    next = language.next(next, cache.get(), LanguageModel::Rows::Last).argmax(-1);
  }
  return captions;
}

}  // namespace vitrine::text_image
