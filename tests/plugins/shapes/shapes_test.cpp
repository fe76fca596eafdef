#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "tests/plugins/shapes/made_sets.h"

namespace vitrine::shapes {
namespace {

using ::testing::AnyOf;
using ::testing::StartsWith;

using test::open, test::registry, test::sampleOf;

std::string bytesOf(const Dataset& set, const Sample& sample) {
  std::string text;
  for (const SampleField& field : set.info().fields) {
    const SampleValue& value = sample.at(field.name);
    text.append(reinterpret_cast<const char*>(value.bytes().data()), value.bytes().size());
    for (const std::string& each : value.texts()) text += each + "\n";
  }
  return text;
}

/// SHA-256 of every field of the first 64 training samples.
std::string hashOf(const Dataset& set) {
  std::string text;
  Sample sample;
  for (std::int64_t id = 0; id < 64; ++id) {
    sample.begin(id);
    set.read(Split::Train, id, sample);
    text += bytesOf(set, sample);
  }
  return sha256OfText(text);
}

TEST(Shapes, EverySetIsTheOneItWas) {
  const std::map<std::string, std::string> expected = {
      {"sprites", "5a84f12f4c7ace26dc594d15284d22be5107a07c41360219fb2a5348176c8476"},
      {"shape_segments", "53f2bf77557663775b849f83b36be3248cdb8a3edbe6e6c08e07422109614589"},
      {"cue_conflict", "60d543693464fb627f3cd91d99d7b0f1ca26893cca08dea2319ad27f3e085e8c"},
      {"scene_captions", "8f3d400ccfe3058196ddcd55ee6f98e3a996931087cd62a838aa5c982c2357f3"},
      {"multi_label", "275c83e6c0026c2829a58a3b39f5484a971bec720385deeef933fc522753de51"},
      {"textures", "3423797b54b48700ce15031960dafa48384ae18c759798c21a788ccc5220349d"},
      {"count", "207e173a6c90eddd1a0ae363cb10b9cfb0e2e7921f880596d8d4716ae7f99a8f"},
      {"pathfinder", "3a4dcb26dfa3de30981cb6bc96be631786681aa1826b8bc212e33263b7303003"},
      {"edits", "bd98a82d01971c2c05a513d47b9731168d0a4f27e1810db0a4897512029d48f0"},
      {"glyphs", "f6ea1ce7316eece4b7bcc81f7b295e511584106d21ef7d7e7888b876248324c5"},
      {"solids", "3554ae3328ae9f57d9cc17c5a62da1892b000578628167a8b5cd8421925444e8"},
      {"mazes", "1d26e5d10416e297e70a5f129509cf6e7db2c7b09c824db85f5be7ab5bbf39da"},
  };
  EXPECT_EQ(registry().catalog().ids(ItemKind::Dataset).size(), expected.size());
  for (const auto& [id, hash] : expected) EXPECT_EQ(hashOf(*open(id)), hash) << id;
}

TEST(Shapes, EverySampleHasTheFieldsThatItsSetDeclaresAndOffers) {
  for (const ItemCard& card : registry().catalog().items) {
    const auto set = open(card.id);
    std::vector<std::string> names;
    for (const SampleField& field : set->info().fields) names.push_back(field.name);
    EXPECT_THAT(card.offers, ::testing::UnorderedElementsAreArray(names)) << card.id;
    for (std::int64_t id = 0; id < 20; ++id) {
      const Sample sample = sampleOf(*set, Split::Test, id);
      for (const SampleField& field : set->info().fields) {
        const SampleValue& value = sample.at(field.name);
        if (field.kind == FieldKind::Text) {
          EXPECT_FALSE(value.texts().empty()) << card.id;
          continue;
        }
        EXPECT_EQ(value.type(), field.type) << card.id << " " << field.name;
        ASSERT_EQ(value.shape().size(), field.shape.size()) << card.id << " " << field.name;
        for (std::size_t i = 0; i < field.shape.size(); ++i)
          EXPECT_TRUE(field.shape[i] < 0 || field.shape[i] == value.shape()[i]) << field.name;
      }
      const std::int64_t label = sample.at("label").get<std::int64_t>()[0];
      EXPECT_GE(label, 0) << card.id;
      EXPECT_LT(label, std::ssize(set->info().classes)) << card.id;
      EXPECT_EQ(label, set->label(Split::Test, id)) << card.id;
    }
    EXPECT_EQ(set->memoryBytes(), 0) << "nothing is kept";
    EXPECT_THROW((void)sampleOf(*set, Split::Test, set->size(Split::Test)), ShapeError);
  }
}

TEST(Shapes, ASampleDependsOnSeedSplitAndIdAlone) {
  for (const std::string& id : registry().catalog().ids(ItemKind::Dataset)) {
    const auto set = open(id), other = open(id, {{"seed", 1}});
    std::vector<std::string> forward(12), backward(12);
    {
      std::jthread one([&] {
        for (std::int64_t i = 0; i < 12; ++i)
          forward[static_cast<std::size_t>(i)] = bytesOf(*set, sampleOf(*set, Split::Train, i));
      });
      for (std::int64_t i = 11; i >= 0; --i)
        backward[static_cast<std::size_t>(i)] = bytesOf(*set, sampleOf(*set, Split::Train, i));
    }
    EXPECT_EQ(forward, backward) << id;
    EXPECT_NE(forward[3], bytesOf(*set, sampleOf(*set, Split::Test, 3))) << id;
    EXPECT_NE(forward[3], bytesOf(*other, sampleOf(*other, Split::Train, 3))) << id;
    EXPECT_NE(forward[3], forward[4]) << id;
  }
}

TEST(Sprites, EveryCombinationIsInOneSplitOnce) {
  const auto set = open("sprites", {{"size", 16}});
  EXPECT_EQ(set->size(Split::Train) + set->size(Split::Validation) + set->size(Split::Test),
            737'280);
  std::set<std::vector<std::int64_t>> seen;
  for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
    for (std::int64_t id = 0; id < 5000; ++id) {
      const Sample sample = sampleOf(*set, split, id);
      const auto factors = sample.at("factors").get<std::int64_t>();
      EXPECT_TRUE(seen.emplace(factors.begin(), factors.end()).second);
    }
  }
}

TEST(Sprites, LabelsAreFactorsInClasses) {
  for (const auto& [name, at, values, classes] : {std::tuple{"shape", 0, 3, 3},
                                                  {"scale", 1, 6, 6},
                                                  {"orientation", 2, 40, 16},
                                                  {"x", 3, 32, 16}}) {
    const auto set = open("sprites", {{"label", name}, {"size", 16}});
    EXPECT_EQ(std::ssize(set->info().classes), classes);
    for (std::int64_t id = 0; id < 50; ++id) {
      const Sample sample = sampleOf(*set, Split::Train, id);
      const std::int64_t value =
          sample.at("factors").get<std::int64_t>()[static_cast<std::size_t>(at)];
      EXPECT_EQ(sample.at("label").get<std::int64_t>()[0], value * classes / values) << name;
    }
  }
}

TEST(Segments, MasksInstancesAndBoxesAgree) {
  const auto set = open("shape_segments");
  for (std::int64_t id = 0; id < 40; ++id) {
    const Sample sample = sampleOf(*set, Split::Train, id);
    const auto mask = sample.at("mask").get<std::uint8_t>();
    const auto instances = sample.at("instances").get<std::uint8_t>();
    const auto boxes = sample.at("boxes").get<float>();
    const auto classes = sample.at("box_classes").get<std::int64_t>();
    ASSERT_GE(classes.size(), 1u);
    ASSERT_LE(classes.size(), 6u);
    std::vector<std::int64_t> pixels(classes.size());
    for (std::size_t i = 0; i < mask.size(); ++i) {
      ASSERT_LE(instances[i], classes.size());
      if (instances[i] == 0) {
        EXPECT_EQ(mask[i], 0);
        continue;
      }
      const std::size_t owner = instances[i] - 1u;
      EXPECT_EQ(mask[i], classes[owner] + 1);
      const auto x = static_cast<float>(i % 96), y = static_cast<float>(i / 96);
      EXPECT_TRUE(x >= boxes[4 * owner] && x + 1 <= boxes[4 * owner + 2] &&
                  y >= boxes[4 * owner + 1] && y + 1 <= boxes[4 * owner + 3]);
      ++pixels[owner];
    }
    const auto largest = std::max_element(pixels.begin(), pixels.end()) - pixels.begin();
    EXPECT_EQ(sample.at("label").get<std::int64_t>()[0],
              classes[static_cast<std::size_t>(largest)]);
    EXPECT_GT(*std::min_element(pixels.begin(), pixels.end()), 0) << "no object is hidden";
  }
}

TEST(CueConflict, CuesAgreeInTrainingAndNeverInTheTest) {
  const auto set = open("cue_conflict", {{"size", 32}});
  EXPECT_EQ(set->size(Split::Test), 1280);
  std::map<std::int64_t, int> perShape;
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::int64_t id = 0; id < 1280; ++id) {
    const Sample train = sampleOf(*set, Split::Train, id), test = sampleOf(*set, Split::Test, id);
    const auto value = [](const Sample& sample, const char* name) {
      return sample.at(name).get<std::int64_t>()[0];
    };
    EXPECT_EQ(value(train, "shape"), value(train, "texture"));
    EXPECT_NE(value(test, "shape"), value(test, "texture"));
    ++perShape[value(test, "shape")];
    pairs.emplace(value(test, "shape"), value(test, "texture"));
  }
  EXPECT_EQ(perShape.size(), 16u);
  for (const auto& [shape, count] : perShape) EXPECT_EQ(count, 80) << shape;
  EXPECT_EQ(pairs.size(), 16u * 15) << "every conflict";
}

TEST(CueConflict, TheLabelKnownWithoutTheImageIsThatOfTheSample) {
  for (const char* cue : {"both", "silhouette", "texture"}) {
    const auto set = open("cue_conflict", {{"size", 16}, {"cue", cue}});
    for (const Split split : {Split::Train, Split::Test}) {
      for (std::int64_t id = 0; id < 40; ++id) {
        EXPECT_EQ(set->label(split, id),
                  sampleOf(*set, split, id).at("label").get<std::int64_t>()[0])
            << cue << " " << id;
      }
    }
  }
}

TEST(SceneCaptions, ReferencesNameWhatTheSwappedOneConfuses) {
  const auto set = open("scene_captions", {{"size", 32}});
  std::set<std::size_t> counts;
  for (std::int64_t id = 0; id < 200; ++id) {
    const Sample sample = sampleOf(*set, Split::Train, id);
    const auto captions = sample.at("captions").texts();
    const std::string& swapped = sample.at("swapped").texts()[0];
    ASSERT_GE(captions.size(), 2u);
    EXPECT_THAT(captions[0], AnyOf(StartsWith("a small "), StartsWith("a large ")));
    EXPECT_THAT(captions.back(), ::testing::HasSubstr("there "));
    EXPECT_NE(swapped, captions[0]);
    counts.insert(captions.size());
    if (captions.size() == 2) continue;
    // The same words in another order: which colour goes with which object is all that differs.
    const auto words = [](std::string text) {
      std::sort(text.begin(), text.end());
      return text;
    };
    EXPECT_EQ(words(swapped), words(captions[0])) << swapped;
  }
  EXPECT_EQ(counts.size(), 2u);
}

TEST(MultiLabel, SetsAreAscendingHoldTheLabelAndAreSometimesEmpty) {
  const auto set = open("multi_label", {{"size", 32}});
  int empty = 0, several = 0;
  for (std::int64_t id = 0; id < 600; ++id) {
    const Sample sample = sampleOf(*set, Split::Train, id);
    const auto labels = sample.at("labels").get<std::int64_t>();
    EXPECT_TRUE(std::is_sorted(labels.begin(), labels.end()));
    empty += labels.empty();
    several += labels.size() > 1;
    if (labels.empty()) continue;
    EXPECT_NE(std::find(labels.begin(), labels.end(), sample.at("label").get<std::int64_t>()[0]),
              labels.end());
  }
  EXPECT_NEAR(empty, 30, 27);  // five standard deviations
  EXPECT_GT(several, 200);
}

TEST(Count, TheSurfaceOfMatchedObjectsDoesNotTellTheirNumber) {
  const auto set = open("count");
  std::array<double, 8> surface{};
  std::array<int, 8> images{};
  for (std::int64_t id = 0; id < 400; ++id) {
    const Sample sample = sampleOf(*set, Split::Train, id);
    const auto pixels = sample.at("image").get<std::uint8_t>();
    // Saturated pixels are objects; backgrounds and grey objects are not.
    int colored = 0;
    for (std::size_t i = 0; i < 128 * 128; ++i) {
      const auto [low, high] =
          std::minmax({pixels[i], pixels[i + 128 * 128], pixels[i + 2 * 128 * 128]});
      colored += high - low > 110;
    }
    const auto label = static_cast<std::size_t>(sample.at("label").get<std::int64_t>()[0]);
    surface[label] += colored;
    ++images[label];
  }
  for (std::size_t i = 0; i < 8; ++i) {
    ASSERT_GT(images[i], 15) << i + 3;
    surface[i] /= images[i];
  }
  EXPECT_NEAR(surface[7] / surface[0], 1, 0.35) << "10 objects against 3";
}

TEST(Pathfinder, BothClassesHaveTheSameInk) {
  const auto set = open("pathfinder");
  std::array<double, 2> ink{};
  for (std::int64_t id = 0; id < 400; ++id) {
    const Sample sample = sampleOf(*set, Split::Train, id);
    for (const std::uint8_t pixel : sample.at("image").get<std::uint8_t>())
      ink[static_cast<std::size_t>(id % 2)] += pixel;
  }
  EXPECT_NEAR(ink[0] / ink[1], 1, 0.01);
  (void)sampleOf(*open("pathfinder", {{"dashes", 14}, {"size", 32}}), Split::Train, 0);
}

TEST(Edits, TheTargetDiffersAndTheInstructionSaysHow) {
  const auto set = open("edits");
  std::set<std::int64_t> kinds;
  for (std::int64_t id = 0; id < 100; ++id) {
    const Sample sample = sampleOf(*set, Split::Train, id);
    const auto before = sample.at("image").get<std::uint8_t>();
    const auto after = sample.at("target").get<std::uint8_t>();
    std::size_t same = 0;
    for (std::size_t i = 0; i < before.size(); ++i) same += before[i] == after[i];
    EXPECT_LT(same, before.size()) << id;
    EXPECT_GT(same, before.size() / 2) << "most of the scene stays";
    const std::int64_t kind = sample.at("label").get<std::int64_t>()[0];
    kinds.insert(kind);
    const std::array<const char*, 4> first = {"make the ", "add a ", "remove the ", "move the "};
    EXPECT_THAT(sample.at("instruction").texts()[0],
                StartsWith(first[static_cast<std::size_t>(kind)]));
  }
  EXPECT_EQ(kinds.size(), 4u);
}

}  // namespace
}  // namespace vitrine::shapes
