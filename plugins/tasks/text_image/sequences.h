// Captions and images as joint sequences, whose images stand in the same columns of every row.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/text_image_model.h"
#include "core/plugin/text_session.h"

namespace vitrine::text_image {

enum class Order {
  CaptionFirst,  ///< BOS caption BOI image EOI: teaches to draw
  ImageFirst,    ///< BOS BOI image EOI caption EOS: teaches to describe
};

/// Rows of one order.
struct JointRows {
  MixedSequences sequences;  ///< without images and time
  at::Tensor targets;        ///< [B, N] int64, text::kNoTarget for none
};
/// Captions are filled up on the side away from the image; filler is a document of its own.
/// \param captions  tokens of each row
/// \param context   tokens that the model was made for; 0: any number
/// \throws ConfigError  a row does not fit into the context
[[nodiscard]] JointRows jointRows(const std::vector<std::vector<std::int64_t>>& captions,
                                  Order order, const TextImageModel::Sizes& sizes,
                                  std::int64_t context, at::Device device);

/// Refuses tokens of the model that mean something else in the tokenizer: another begin or end of a
/// text than its own, or one that stands for letters. The token that ends an image may be any
/// special one, also the one that begins a text.
/// \throws ConfigError  names the key of [model], the token and the one to take instead
void requireTokensOf(const text::Tokenizer& tokenizer, const TextImageModel::Sizes& sizes);

/// What an image is drawn behind: the first token of a text, the caption, and the one that begins
/// an image.
[[nodiscard]] text::TokenIds prompted(const text::TokenIds& caption,
                                      const TextImageModel::Sizes& sizes);

/// What people call each token.
[[nodiscard]] std::vector<std::string> wordsOf(const text::TokenIds& tokens,
                                               const TextImageModel::Sizes& sizes,
                                               const text::Tokenizer& tokenizer);

/// One caption and its image as the model reads them when it draws, with a word for each token.
/// \param image  [1, C, H, W], without noise
/// \throws ConfigError  as jointRows()
[[nodiscard]] JointSession::Sequence captionedSequence(const text::TokenIds& caption,
                                                       const at::Tensor& image,
                                                       const TextImageModel::Sizes& sizes,
                                                       std::int64_t context,
                                                       const text::Tokenizer& tokenizer);

/// Tokens of a description of an image: `most`, or fewer where the context leaves no room for them
/// behind the first token of the text, the image and the two tokens around it.
/// \param context  tokens that the model was made for; 0: any number
[[nodiscard]] std::int64_t captionRoom(const TextImageModel::Sizes& sizes, std::int64_t context,
                                       std::int64_t most);

/// Greedy captions of images at time 0, without the end token.
/// \param images  [B, C, H, W]
[[nodiscard]] std::vector<std::vector<std::int64_t>> greedyCaptions(TextImageModel& model,
                                                                    LanguageModel& language,
                                                                    const at::Tensor& images,
                                                                    std::int64_t most);

}  // namespace vitrine::text_image
