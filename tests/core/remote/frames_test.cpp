// Frames of `vitrine serve`: what a map may be, whatever the other side sends.
#include "core/remote/frames.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "core/base/random.h"

namespace vitrine::remote {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// A map with the key "a" and these bytes for its value.
Bytes mapOf(const Bytes& value) {
  Bytes bytes{0xa1, 0x61, 'a'};
  bytes.insert(bytes.end(), value.begin(), value.end());
  return bytes;
}

std::string refusal(const Bytes& bytes) {
  try {
    return "taken: " + frameMap(bytes).dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const std::invalid_argument& problem) {
    return problem.what();
  }
}

constexpr const char* kNotOneValue =
    "the frame is not one CBOR value of at most 32 levels and 4,000,000 items";

TEST(Frames, RefuseStringsOfIndefiniteLengthWithinEachOther) {
  for (const std::uint8_t head : {0x7f, 0x5f}) {
    EXPECT_EQ(refusal(mapOf({head, head, 0xff, 0xff})), kNotOneValue);
    EXPECT_EQ(refusal(mapOf(Bytes(1'000'000, head))), kNotOneValue);
    Bytes key{0xa1};
    key.insert(key.end(), 1'000'000, head);
    EXPECT_EQ(refusal(key), kNotOneValue);
  }
}

TEST(Frames, RefuseDepthLengthsAndTagsThatCannotBe) {
  for (const std::uint8_t head : {0x81, 0x9f}) {
    Bytes deep(31, head);
    deep.push_back(0x80);
    if (head == 0x9f) deep.insert(deep.end(), 31, 0xff);
    EXPECT_EQ(refusal(mapOf(deep)), kNotOneValue) << "33 levels";
    EXPECT_EQ(refusal(mapOf(Bytes(1'000'000, head))), kNotOneValue);
  }
  for (const Bytes& value :
       std::vector<Bytes>{{},
                          {0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                          {0x9b, 0x10, 0, 0, 0, 0, 0, 0, 0},
                          {0x7b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                          {0xbb, 0x80, 0, 0, 0, 0, 0, 0, 0},
                          {0x62, 'x'},
                          {0x1c},
                          {0xff},
                          {0xc0, 0x61, 'x'},
                          {0x7f, 0x41, 'x', 0xff},
                          {0x01, 0x01}}) {
    EXPECT_EQ(refusal(mapOf(value)), kNotOneValue);
  }
  EXPECT_EQ(refusal({}), kNotOneValue);
  Bytes many{0x9a, 0x00, 0x40, 0x00, 0x00};
  many.insert(many.end(), 0x400000, 0x80);
  EXPECT_EQ(refusal(mapOf(many)), kNotOneValue);
  EXPECT_EQ(refusal({0x01}), "the frame is not a CBOR map");
}

/// A byte string of `size` bytes that begin with `first` and count up.
Bytes byteString(std::size_t size, std::uint8_t first) {
  Bytes bytes{0x5a, 0, 0, static_cast<std::uint8_t>(size >> 8), static_cast<std::uint8_t>(size)};
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(first + i));
  return bytes;
}

TEST(Frames, KeepByteStringsOfEveryLengthWhereTheyAre) {
  Bytes list{0x9f};
  const std::vector<std::size_t> sizes{0, 4095, 4096, 3, 60'000, 5};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Bytes each = byteString(sizes[i], static_cast<std::uint8_t>(i));
    list.insert(list.end(), each.begin(), each.end());
  }
  list.insert(list.end(), {0x61, 'x', 0xff});
  const Json taken = frameMap(mapOf(list)).at("a");
  ASSERT_EQ(taken.size(), sizes.size() + 1);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Bytes whole = byteString(sizes[i], static_cast<std::uint8_t>(i));
    EXPECT_EQ(taken.at(i), Json::binary(Bytes(whole.begin() + 5, whole.end()))) << sizes[i];
  }
  EXPECT_EQ(taken.back(), "x");
}

TEST(Frames, OfOneKeyTwiceKeepOneLongByteStringAndWhatFollows) {
  const Bytes first = byteString(5000, 1), second = byteString(6000, 2),
              third = byteString(7000, 3);
  Bytes bytes{0xa3, 0x61, 'a'};
  bytes.insert(bytes.end(), first.begin(), first.end());
  bytes.insert(bytes.end(), {0x61, 'a'});
  bytes.insert(bytes.end(), second.begin(), second.end());
  bytes.insert(bytes.end(), {0x61, 'b'});
  bytes.insert(bytes.end(), third.begin(), third.end());
  const Json taken = frameMap(bytes);
  EXPECT_EQ(taken.at("a"), Json::binary(Bytes(second.begin() + 5, second.end())));
  EXPECT_EQ(taken.at("b"), Json::binary(Bytes(third.begin() + 5, third.end())));
}

TEST(Frames, TakeEveryFormThatTheStandardHas) {
  EXPECT_EQ(frameMap(mapOf({0x7f, 0x61, 'x', 0x60, 0x62, 'y', 'z', 0xff})).at("a"), "xyz");
  EXPECT_EQ(frameMap(mapOf({0x5f, 0x41, 'x', 0x41, 'y', 0xff})).at("a").get_binary().size(), 2u);
  EXPECT_EQ(frameMap(mapOf({0x9f, 0x01, 0x20, 0xff})).at("a"), (Json{1, -1}));
  EXPECT_EQ(frameMap(Bytes{0xbf, 0x61, 'a', 0xbf, 0xff, 0xff}).at("a"), Json::object());
  EXPECT_EQ(frameMap(mapOf({0xf9, 0x3c, 0x00})).at("a"), 1.0);
  EXPECT_EQ(frameMap(Bytes{0xa0}), Json::object());
  Bytes deepest(30, 0x81);
  deepest.push_back(0x80);
  EXPECT_EQ(frameMap(mapOf(deepest)).size(), 1u) << "32 levels";
  const Json values{{"a", {1, -1, 2.5, nullptr, true, "text", std::uint64_t{1} << 63}},
                    {"b", Json::binary({1, 2, 3})},
                    {"c", {{"d", Json::array()}, {"e", Json::object()}}}};
  EXPECT_EQ(frameMap(Json::to_cbor(values)), values);
}

// Heads of all kinds, in no order: a map or a sentence, and nothing else.
TEST(Frames, EndInAMapOrASentenceWhateverTheBytes) {
  const Bytes pieces{0x00, 0x18, 0x1b, 0x20, 0x3b, 0x40, 0x41, 0x5b, 0x5f, 0x60, 0x61,
                     0x62, 0x7b, 0x7f, 0x80, 0x81, 0x9b, 0x9f, 0xa0, 0xa1, 0xbb, 0xbf,
                     0xc0, 0xd8, 0xf4, 0xf6, 0xf8, 0xf9, 0xfb, 0xff, 'a',  'b'};
  const RandomStream stream(1, "frames");
  int maps = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    Bytes bytes{static_cast<std::uint8_t>(i % 2 == 0 ? 0xa1 : 0xbf), 0x61, 'a'};
    const std::uint64_t size = stream.below(12, 0, i);
    for (std::uint64_t k = 0; k < size; ++k)
      bytes.push_back(pieces[stream.below(pieces.size(), 1, i, k)]);
    if (i % 2 != 0) bytes.push_back(0xff);
    maps += refusal(bytes).starts_with("taken: ") ? 1 : 0;
  }
  EXPECT_GT(maps, 1000);
}

TEST(FrameWriter, WritesNothingOfAMapThatDoesNotFit) {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(nowhere, 0);
  FrameWriter writer(nowhere);
  EXPECT_THROW((void)writer.write({{"a", Json::binary(Bytes(kLargestFrame))}}), LargeFrame);
  EXPECT_TRUE(writer.write({{"a", 1}})) << "the stream is as it was";
  ::close(nowhere);
}

}  // namespace
}  // namespace vitrine::remote
