// A caption with its image as one sequence, and the words that name its tokens.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/text/tokenizer.h"
#include "plugins/tasks/text_image/sequences.h"

namespace vitrine::text_image {
namespace {

TEST(CaptionedSequence, HasItsCaptionFirstAndAWordForEachToken) {
  const TextImageModel::Sizes sizes{
      .imageTokens = 2, .beginText = 256, .endText = 257, .beginImage = 258, .endImage = 259};
  const at::Tensor image = at::ones({1, 1, 2, 4});
  const text::ByteTokenizer tokenizer;
  const auto one = captionedSequence(tokenizer.encode("a b"), image, sizes, 0, tokenizer);
  EXPECT_EQ(one.words, (std::vector<std::string>{"begin of text", "a", "space", "b",
                                                 "begin of image", "", "", "end of image"}));
  EXPECT_TRUE(at::equal(one.sequences.imageIndex, at::tensor({0, 0, 0, 0, 0, 1, 1, 0}, at::kLong)));
  EXPECT_EQ(one.sequences.tokens[0][1].item<std::int64_t>(), 'a');
  EXPECT_TRUE(one.sequences.images.is_same(image));
  EXPECT_TRUE(at::equal(one.sequences.time, at::zeros({1}, at::kLong))) << "without noise";
}

TEST(CaptionedSequence, NamesTheEndOfAnImageWhereTheTokenThatBeginsTextsEndsIt) {
  TextImageModel::Sizes sizes;
  sizes.imageTokens = 1;
  sizes.beginText = sizes.endImage = 256;
  sizes.endText = 257;
  sizes.beginImage = 258;
  const text::ByteTokenizer tokenizer;
  const auto one = captionedSequence({}, at::ones({1, 1, 2, 2}), sizes, 0, tokenizer);
  EXPECT_EQ(one.words,
            (std::vector<std::string>{"begin of text", "begin of image", "", "end of image"}));
  EXPECT_EQ(one.sequences.tokens[0][3].item<std::int64_t>(), 256);
}

}  // namespace
}  // namespace vitrine::text_image
