#include "core/files/event_file.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "core/base/error.h"
#include "tests/core/files/made_files.h"

namespace vitrine {
namespace {

using ::testing::ElementsAre, ::testing::Pair;
using test::Names;

const std::filesystem::path kFixture =
    std::filesystem::path(VITRINE_SOURCE_DIR) / "tests/core/files/event_file_fixture";

std::span<const std::byte> bytesOf(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::vector<SummaryEvent> readAll(EventFileReader& reader) {
  std::vector<SummaryEvent> events;
  while (auto event = reader.next()) events.push_back(std::move(*event));
  return events;
}

SummaryEvent scalar(const std::string& tag, double value, std::int64_t step, double time) {
  SummaryEvent event{.wallTime = time, .step = step};
  event.values.push_back({tag, value, std::nullopt});
  return event;
}

/// Length, sum, message, sum.
std::string recordOf(const std::string& message) {
  std::string length(8, '\0');
  length[0] = static_cast<char>(message.size());
  const auto sum = [](const std::string& of) {
    const std::uint32_t value = maskedCrc32c(bytesOf(of));
    std::string four(4, '\0');
    std::memcpy(four.data(), &value, 4);
    return four;
  };
  return length + sum(length) + message + sum(message);
}

class EventFile : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return folder_ / "x.tfevents.1"; }
  void write(const std::vector<SummaryEvent>& events) const {
    EventFileWriter writer(file(), 1000.5);
    for (const SummaryEvent& event : events) writer.write(event);
    writer.close();
  }
  TemporaryFolder folder_;
};

TEST(Crc32c, HasTheValuesOfTheCastagnoliPolynomial) {
  // RFC 3720, appendix B.4.
  EXPECT_EQ(crc32c(bytesOf(std::string(32, '\0'))), 0x8a9136aau);
  EXPECT_EQ(crc32c(bytesOf(std::string(32, '\xff'))), 0x62a8ab43u);
  std::string rising;
  for (char c = 0; c < 32; ++c) rising += c;
  EXPECT_EQ(crc32c(bytesOf(rising)), 0x46dd794eu);
  EXPECT_EQ(crc32c(bytesOf("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c({}), 0u);
  EXPECT_EQ(maskedCrc32c(bytesOf("123456789")),
            static_cast<std::uint32_t>(((0xe3069283u >> 15) | (0xe3069283u << 17)) + 0xa282ead8u));
}

TEST_F(EventFile, IsRecordsOfLengthSumMessageSum) {
  write({scalar("loss", 0.5, 3, 1001.25)});
  const std::string bytes = getFile(file());
  // Event {wall_time: 1000.5, file_version: "brain.Event:2"}
  const std::string first = std::string("\x09\0\0\0\0\0\x44\x8f\x40\x1a\x0d", 11) + "brain.Event:2";
  // Event {wall_time: 1001.25, step: 3, summary {value {tag: "loss", simple_value: 0.5}}}
  const std::string second =
      std::string("\x09\0\0\0\0\0\x4a\x8f\x40\x10\x03\x2a\x0d\x0a\x0b\x0a\x04", 17) + "loss" +
      std::string("\x15\0\0\0\x3f", 5);
  EXPECT_EQ(bytes, recordOf(first) + recordOf(second));
}

TEST_F(EventFile, GivesBackWhatWasWritten) {
  SummaryEvent picture{.wallTime = 1002, .step = std::numeric_limits<std::int64_t>::max()};
  picture.values.push_back({"picture", 0, SummaryImage{4, 5, 3, {std::byte{1}, std::byte{2}}}});
  write({scalar("a", std::nan(""), 0, 1), scalar("a", -0.0, 1, 2), scalar("ä/b", 1e300, 2, 3),
         picture});
  EventFileReader reader(file());
  const auto events = readAll(reader);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_TRUE(std::isnan(events[0].values.at(0).scalar));
  EXPECT_TRUE(std::signbit(events[1].values.at(0).scalar));
  EXPECT_EQ(events[2].values.at(0).tag, "ä/b");
  EXPECT_EQ(events[2].values.at(0).scalar, std::numeric_limits<double>::infinity());
  EXPECT_EQ(events[3].step, picture.step);
  const SummaryImage& image = events[3].values.at(0).image.value();
  EXPECT_EQ(image.height, 4);
  EXPECT_EQ(image.width, 5);
  EXPECT_EQ(image.channels, 3);
  EXPECT_EQ(image.encoded.size(), 2u);
  EXPECT_EQ(reader.report().records, 5);
  EXPECT_FALSE(reader.report().cutAt);
}

TEST_F(EventFile, OfPyTorchIsRead) {
  EventFileReader reader(kFixture / "torch.tfevents");
  const auto events = readAll(reader);
  ASSERT_EQ(events.size(), 9u);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(events[i].values.at(0).tag, "train/loss");
    EXPECT_EQ(events[i].values.at(0).scalar,
              static_cast<double>(static_cast<float>(2.0 / (i + 1))));
    EXPECT_EQ(events[i].step, i);
    EXPECT_EQ(events[i].wallTime, 1700000000.25 + i);
  }
  EXPECT_TRUE(std::isnan(events[5].values.at(0).scalar));
  EXPECT_TRUE(std::isinf(events[6].values.at(0).scalar));
  EXPECT_TRUE(std::signbit(events[7].values.at(0).scalar));
  const SummaryImage& image = events[8].values.at(0).image.value();
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.width, 2);
  EXPECT_EQ(image.channels, 3);
  EXPECT_EQ(std::memcmp(image.encoded.data(), "\x89PNG", 4), 0);
  EXPECT_THAT(reader.report().skipped,
              ElementsAre(Pair("'text' summary", 1), Pair("histogram", 1)));
  EXPECT_THAT(reader.report().damage, ElementsAre());
}

TEST_F(EventFile, OfTensorBoardItselfIsRead) {
  EventFileReader reader(kFixture / "tensorboard.tfevents");
  const auto events = readAll(reader);
  ASSERT_EQ(events.size(), 6u);
  const double expected[] = {0.5, 0.25, 0.1, -3, 0};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(events[i].values.at(0).scalar, expected[i]) << i;
    EXPECT_EQ(events[i].values.at(0).tag, "accuracy");
  }
  const SummaryImage& image = events[5].values.at(0).image.value();
  EXPECT_EQ(image.width, 1);
  EXPECT_EQ(image.height, 1);
  EXPECT_EQ(image.encoded.size(), std::filesystem::file_size(kFixture / "pixel.png"));
  EXPECT_THAT(reader.report().skipped, ElementsAre(Pair("'pr_curves' summary", 1)));
}

TEST_F(EventFile, ThatIsCutIsReadAsFarAsItIsWhole) {
  write({scalar("a", 1, 1, 1), scalar("a", 2, 2, 2), scalar("a", 3, 3, 3)});
  const std::string whole = getFile(file());
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < whole.size();) {
    starts.push_back(at);
    at += 16 + static_cast<unsigned char>(whole[at]);
  }
  starts.push_back(whole.size());
  ASSERT_EQ(starts.size(), 5u);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    putFile(file(), whole.substr(0, size));
    std::size_t records = 0;
    while (starts[records + 1] <= size) ++records;
    EventFileReader reader(file());
    EXPECT_EQ(readAll(reader).size(), records == 0 ? 0 : records - 1) << size;
    if (starts[records] == size) {
      EXPECT_FALSE(reader.report().cutAt) << size;
    } else {
      EXPECT_EQ(reader.report().cutAt, starts[records]) << size;
    }
  }
}

TEST_F(EventFile, NamesTheOffsetOfARecordThatDiffersFromItsChecksumAndReadsOn) {
  write({scalar("a", 1, 1, 1), scalar("a", 2, 2, 2), scalar("a", 3, 3, 3)});
  std::string bytes = getFile(file());
  const std::size_t second = 16 + static_cast<unsigned char>(bytes[0]);
  const std::size_t third = second + 16 + static_cast<unsigned char>(bytes[second]);
  bytes[third + 14] ^= 1;
  putFile(file(), bytes);
  EventFileReader reader(file());
  const auto events = readAll(reader);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].step, 3);
  ASSERT_EQ(reader.report().damage.size(), 1u);
  EXPECT_THAT(reader.report().damage[0], Names(third));
  bytes[third] ^= 1;  // its length
  putFile(file(), bytes);
  EventFileReader lost(file());
  EXPECT_EQ(readAll(lost).size(), 1u);
  EXPECT_THAT(lost.report().damage.at(0), Names(third));
}

TEST_F(EventFile, ThatIsSomethingElseIsRefusedByName) {
  putFile(file(), "hello, this is a text file and not events");
  EXPECT_EQ(test::refusal<FileError>([&] { EventFileReader reader(file()); }),
            file().string() +
                " is not a TensorBoard event file: the checksum at offset 8 is wrong");
  putFile(file(), "\x1f\x8b\x08 compressed");
  EXPECT_THAT([&] { EventFileReader reader(file()); }, test::Fails<FileError>("gzip"));
  EXPECT_THAT([&] { EventFileReader reader(folder_ / "none"); }, test::Fails<FileError>("none"));
}

TEST_F(EventFile, WithAnyMessageInsideIsReadWithoutHarm) {
  // Records with right sums around wrong messages: what a hostile file would hold.
  std::mt19937 random(3);
  for (int i = 0; i < 600; ++i) {
    std::string message(random() % 60, '\0');
    for (char& c : message) c = static_cast<char>(random() % 8 == 0 ? random() : random() % 48);
    putFile(file(), recordOf(message));
    EventFileReader reader(file());
    (void)readAll(reader);
    EXPECT_EQ(reader.report().records + reader.report().damagedRecords, 1) << i;
  }
}

}  // namespace
}  // namespace vitrine
