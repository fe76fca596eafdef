// Side files that are damaged, cut or of an older format.
#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <random>

#include "core/base/text.h"
#include "core/store/spool/batch_bytes.h"
#include "tests/core/store/full_database.h"
#include "tests/core/store/spool/full_disk.h"

namespace vitrine::store {
namespace {

TEST_F(SpoolTest, ReadsADamagedSideFileUpToTheDamage) {
  const auto bytesOf = [](const std::string& text) { return std::as_bytes(std::span(text)); };
  const SpoolOwner owner{newUuid(), newUuid(), 3};
  fs::path path;
  {
    SpoolFile::Settings settings{.reserve = 0};
    const auto spool = SpoolFile::create(folder_ / "spool", owner, settings);
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(
          spool->add(SpoolFile::Kind::Batch, bytesOf(std::string(50, 'a') + char('a' + i))));
    }
    path = spool->file();
  }
  std::string whole = [&] {
    std::ifstream stream(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }();
  whole.resize(512 + 20 * (24 + 51));  // what follows is room
  std::mt19937 random(7);
  int wasWhole = 0, wasRefused = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string damaged = whole;
    if (i % 2 == 0) {
      damaged.resize(random() % (whole.size() + 1));
    } else {
      damaged[random() % whole.size()] ^= static_cast<char>(1u << (random() % 8));
    }
    fs::remove(path);  // cutting a file instead costs a sync
    std::ofstream(path, std::ios::binary) << damaged;
    try {
      const auto spool = SpoolFile::open(path);
      ASSERT_NE(spool, nullptr);
      spool->each(0, spool->count(), [&](std::uint64_t index, SpoolFile::Kind, auto payload) {
        ASSERT_EQ(payload.size(), 51u);
        ASSERT_EQ(static_cast<char>(payload.back()), static_cast<char>('a' + index));
      });
      wasWhole += spool->count() == 20;
    } catch (const StoreError&) {
      ++wasRefused;
    }
  }
  EXPECT_GT(wasRefused, 0);
  EXPECT_LT(wasWhole, 150) << "only bytes that are not read may be damaged unnoticed";
}

TEST(BatchBytes, OfTheFormatBeforeThisOneAreStillRead) {
  std::vector<std::byte> bytes = packBatch({.events = {{5, "kind", "text", Json::object()}},
                                            .checkpoints = {{7, "folder", 10, 0.5, true, {}}}});
  ASSERT_EQ(bytes[0], std::byte{2});
  // Format 1 ends its artifacts where the checkpoints begin: 8 + 41 + 6 bytes and the progress.
  const auto images = bytes.end() - (1 + 6 + 41 + 8) - 16;
  bytes.erase(images, images + 16);
  EXPECT_THROW(static_cast<void>(unpackBatch(bytes)), StoreError);
  bytes[0] = std::byte{1};
  const RunStore::Batch back = unpackBatch(bytes);
  EXPECT_EQ(back.events.at(0).text, "text");
  EXPECT_EQ(back.checkpoints.at(0).folder, "folder");
  EXPECT_TRUE(back.images.empty());
  bytes[0] = std::byte{3};
  EXPECT_THROW(static_cast<void>(unpackBatch(bytes)), StoreError);
}

TEST(BatchBytes, GiveBackEveryBitAndRefuseWhatIsCut) {
  RunStore::Batch batch;
  for (std::int64_t step = 1; step <= 7; ++step) {
    static const double kOdd[] = {std::nan(""),
                                  -0.0,
                                  1e308,
                                  0.1,
                                  std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::denorm_min(),
                                  -1.0};
    batch.metrics.push_back({step, 0.25, 1.5, {{"a", kOdd[step - 1]}, {"b/c", 2.0}}});
  }
  batch.events.push_back({5, "kind", "text \xff", Json{{"k", {1, 2.5, nullptr}}}});
  Artifact artifact{
      .analysis = "analysis", .meta = Json{{"shape", {1, 2}}}, .data = testing::smallPng()};
  batch.artifacts.push_back(artifact);
  GeneratedImage image;
  image.seed = std::numeric_limits<std::uint64_t>::max();
  image.recipe = Json{{"steps", 4}};
  image.png = testing::smallPng();
  batch.images.push_back(image);
  batch.texts.push_back({7, Json{{"top", 1}}, 3, "a prompt", "a text \xff"});
  batch.checkpoints.push_back({7, "folder", 10, 0.5, true, {"old", "older"}});
  batch.progress = ProgressRecord{7, 70, 0.1, 1.0, std::nan(""), 10.0, 1 << 20, std::nan("")};
  const std::vector<std::byte> bytes = packBatch(batch);
  EXPECT_EQ(packBatch(unpackBatch(bytes)), bytes);
  const RunStore::Batch back = unpackBatch(bytes);
  ASSERT_EQ(back.metrics.size(), 7u);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(back.metrics[i].values[0].first, "a");
    EXPECT_EQ(std::memcmp(&back.metrics[i].values[0].second, &batch.metrics[i].values[0].second, 8),
              0);
  }
  EXPECT_EQ(back.artifacts.at(0).data, artifact.data);
  EXPECT_EQ(back.images.at(0).seed, image.seed);
  EXPECT_EQ(back.images.at(0).png, image.png);
  EXPECT_EQ(back.texts.at(0).text, "a text \xff");
  EXPECT_EQ(back.checkpoints.at(0).removed, batch.checkpoints[0].removed);
  EXPECT_EQ(back.progress->totalSteps, 70);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(static_cast<void>(unpackBatch(std::span(bytes).first(size))), StoreError) << size;
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> damaged = bytes;
    damaged[random() % damaged.size()] ^= std::byte{1} << (random() % 8);
    try {
      static_cast<void>(unpackBatch(damaged));
    } catch (const StoreError&) {  // or it says something else, with bounds kept
    }
  }
}

}  // namespace
}  // namespace vitrine::store
