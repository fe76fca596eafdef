#include "ui/attention/attention_reading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/ui/attention/maps.h"

namespace vitrine::ui {
namespace {

/// Artifacts as a run has them.
struct Stored {
  std::vector<store::ArtifactRow> rows;
  std::vector<std::vector<std::byte>> bytes;

  explicit Stored(const std::vector<Artifact>& artifacts) {
    for (const Artifact& artifact : artifacts) {
      rows.push_back({.id = static_cast<std::int64_t>(rows.size()) + 1,
                      .step = artifact.step,
                      .analysis = artifact.analysis,
                      .name = artifact.name,
                      .kind = artifact.kind,
                      .meta = artifact.meta});
      bytes.push_back(artifact.data);
    }
  }
  [[nodiscard]] std::vector<AttentionEntry> entries() const { return attentionEntries(rows); }
  [[nodiscard]] std::shared_ptr<const AttentionImage> read(const AttentionEntry& entry) const {
    return readAttention(
        entry, rows, [this](std::int64_t id) { return bytes[static_cast<std::size_t>(id) - 1]; });
  }
};

/// [layers, 1, queries, keys], all weights equal.
Artifact evenMap(const char* name, std::vector<int> layers, const Json& queries, const Json& keys) {
  Artifact artifact{"attention_map", name, artifact_kind::kAttention};
  const auto many = static_cast<std::int64_t>(layers.size());
  const auto from = static_cast<std::int64_t>(queries.size());
  const auto to = static_cast<std::int64_t>(keys.size());
  const std::vector<float> values(static_cast<std::size_t>(many * from * to),
                                  1.0F / static_cast<float>(to));
  setFloat32(artifact, values, {many, 1, from, to}, {"layer", "head", "query", "key"});
  artifact.meta["layers"] = layers;
  artifact.meta["query_positions"] = queries;
  artifact.meta["key_positions"] = keys;
  artifact.meta["attention"] = "softmax";
  artifact.meta["image"] = 3;
  return artifact;
}

Json grid(int rows, int columns) {
  Json positions = Json::array();
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) positions.push_back({row, column});
  }
  return positions;
}

TEST(Entries, AreOneForEachImageStepAndMatrix) {
  const Stored stored({samples::attentionMap(0), samples::attentionMap(3), samples::pixels(3),
                       samples::atStep(samples::attentionMap(3), 100),
                       samples::attentionMap(3, 2, "softmax")});
  const std::vector<AttentionEntry> entries = stored.entries();
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[0].sample, 0);
  EXPECT_EQ(entries[0].picture, 0);
  EXPECT_EQ(entries[1].sample, 3);
  EXPECT_EQ(entries[1].picture, 3);
  EXPECT_EQ(entries[2].step, 100);
  EXPECT_EQ(entries[3].series.matrix, "softmax");
  EXPECT_EQ(entries[3].series.title().toStdString(), "attention map, softmax");
}

TEST(Entries, CountTheNewestOfEqualNames) {
  const Stored stored({samples::attentionMap(0, 1), samples::attentionMap(0, 2)});
  const auto entries = stored.entries();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(stored.read(entries[0])->layers.size(), 2U);
}

TEST(Entries, OfADenoiserHaveATimeAndThePictureOfThatTime) {
  Artifact drawn =
      evenMap("attention of seed 7 at time 0.5", {0}, Json::array({{1, 2}}), grid(4, 4));
  drawn.meta["seed"] = 7;
  drawn.meta["image"] = 7;
  drawn.meta["time"] = 0.5;
  Artifact preview{drawn.analysis, "preview", artifact_kind::kImageGrid};
  setUint8(preview, std::vector<std::uint8_t>{0, 0, 0, 0, 9, 9, 9, 255}, {2, 2, 2, 1},
           {"image", "row", "column", "channel"});
  preview.meta["time"] = 0.5;
  preview.meta["first_seed"] = 6;
  const Stored stored({drawn, preview});
  const auto entries = stored.entries();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_TRUE(entries[0].isDrawn);
  EXPECT_DOUBLE_EQ(entries[0].time.value(), 0.5);
  EXPECT_EQ(entries[0].pictureIndex, 1);
  const auto image = stored.read(entries[0]);
  EXPECT_EQ(qRed(image->picture.pixel(1, 1)), 255);
  EXPECT_EQ(qRed(image->picture.pixel(0, 0)), 9);
  // The one query that was kept lies where it was asked, on the whole grid.
  EXPECT_EQ(image->layers[0].queryGrid.rows, 4);
  EXPECT_EQ(queryOf(image->layers[0], {QueryChoice::Kind::Patch, {0.375, 0.625}, 0}), 0);
  EXPECT_EQ(queryOf(image->layers[0], {QueryChoice::Kind::Patch, {0.875, 0.625}, 0}), std::nullopt);
}

TEST(Reading, TellsPatchesFromTheClassToken) {
  const Stored stored({samples::attentionMap(0)});
  const auto image = stored.read(stored.entries()[0]);
  ASSERT_EQ(image->layers.size(), 2U);
  EXPECT_EQ(image->layers[1].number, 1);
  EXPECT_EQ(image->layers[0].keyGrid.rows, 2);
  EXPECT_EQ(image->layers[0].keyGrid.words[0].toStdString(), "class token");
  EXPECT_TRUE(image->sumsToOne);
  EXPECT_FALSE(image->isSigned);
  EXPECT_FLOAT_EQ(image->layers[0].at(1, 2, 0), 0.8F);
}

TEST(Reading, PutsLayersOfSeveralArtifactsInOrder) {
  // Sub-sampled keys: 2 x 2 of a grid of 4 x 4.
  Artifact coarse = evenMap("image 3, layer 1", {1}, grid(4, 4), grid(2, 2));
  coarse.meta["key_places"] = {{0.5, 0.5}, {0.5, 2.5}, {2.5, 0.5}, {2.5, 2.5}};
  // The window in the lower right corner of that grid.
  Artifact window = evenMap("image 3, layer 0, window 3", {0}, grid(2, 2), grid(2, 2));
  window.meta["key_places"] = {{2, 2}, {2, 3}, {3, 2}, {3, 3}};
  window.meta["window"] = 3;
  const Stored stored({coarse, window});
  const auto entries = stored.entries();
  ASSERT_EQ(entries.size(), 1U);
  const auto image = stored.read(entries[0]);
  ASSERT_EQ(image->layers.size(), 2U);
  EXPECT_EQ(image->layers[0].window, 3);
  EXPECT_EQ(image->layers[0].keyGrid.frame, QRectF(0.5, 0.5, 0.5, 0.5));
  EXPECT_EQ(image->layers[1].keyGrid.rows, 2);
  EXPECT_EQ(image->layers[1].keyGrid.frame, QRectF(0, 0, 1, 1));
  EXPECT_EQ(image->layers[1].keyGrid.places[1], (TokenGrid::Place{0.5, 2.5}));
}

TEST(Reading, KeepsTheScanOfEachLayer) {
  Artifact scanned = evenMap("image 3 weights", {0, 1}, grid(1, 2), grid(1, 2));
  scanned.meta["scan_positions"] = Json::array({grid(1, 2), Json::array({{0, 1}, {0, 0}})});
  const Stored stored({scanned});
  const auto image = stored.read(stored.entries()[0]);
  EXPECT_EQ(image->layers[0].keyGrid.at(0, 0), 0);
  EXPECT_EQ(image->layers[1].keyGrid.at(0, 0), 1);
}

TEST(Reading, HasWordsOfAJointSequence) {
  Artifact joint = evenMap("image 3", {0}, Json::array({{-1, -1}, {-1, -1}, {0, 0}}),
                           Json::array({{-1, -1}, {-1, -1}, {0, 0}}));
  joint.meta["query_words"] = {"a", "shoe", nullptr};
  joint.meta["key_words"] = joint.meta["query_words"];
  const Stored stored({joint});
  const auto image = stored.read(stored.entries()[0]);
  EXPECT_EQ(image->layers[0].keyGrid.words[1].toStdString(), "shoe");
  EXPECT_EQ(image->layers[0].keyGrid.words[2].toStdString(), "");
}

TEST(Reading, SeesSignedRowsThatDoNotSumToOne) {
  Artifact odd = samples::attentionMap(0, 1);
  std::vector<float> values(50, 0.5F);
  values[3] = -0.25F;
  setFloat32(odd, values, {1, 2, 5, 5}, {"layer", "head", "query", "key"});
  const Stored stored({odd});
  const auto image = stored.read(stored.entries()[0]);
  EXPECT_TRUE(image->isSigned);
  EXPECT_FALSE(image->sumsToOne);
}

TEST(Reading, RefusesDataThatDoNotFit) {
  Artifact odd = samples::attentionMap(0, 1);
  odd.meta["key_positions"] = {{0, 0}};
  const Stored few({odd});
  EXPECT_THROW((void)few.read(few.entries()[0]), FileError);
  odd = samples::attentionMap(0, 1);
  odd.meta["query_positions"][1] = "here";
  const Stored words({odd});
  EXPECT_THROW((void)words.read(words.entries()[0]), FileError);
  odd = samples::attentionMap(0, 1);
  odd.meta["key_positions"][4] = {1e9, 0};
  const Stored far({odd});
  EXPECT_THROW((void)far.read(far.entries()[0]), FileError);
  odd = samples::attentionMap(0, 1);
  odd.data.resize(8);
  const Stored cut({odd});
  EXPECT_THROW((void)cut.read(cut.entries()[0]), FileError);
}

}  // namespace
}  // namespace vitrine::ui
