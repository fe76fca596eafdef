// Images and texts that samplers made: stored, read, shown by segment, kept in a side file.
#include <gmock/gmock.h>

#include "core/run/run_control.h"
#include "core/store/spool/store_sink.h"
#include "tests/core/store/full_database.h"

namespace vitrine::store {
namespace {

using ::testing::ElementsAre, ::testing::SizeIs;

class Generated : public testing::StoreTest {
 protected:
  static GeneratedImage image(std::int64_t step, std::uint64_t seed = 1) {
    const std::vector<std::uint8_t> pixels{0, 255};
    GeneratedImage made = generatedImage(pixels, 1, 2, 1);
    made.step = step;
    made.seed = seed;
    made.recipe = Json{{"sampler", "ddim"}, {"steps", 4}};
    return made;
  }
  static GeneratedText text(std::int64_t step, const std::string& words) {
    return {step, Json{{"sampler", "greedy"}}, 7, "a prompt", words};
  }
  static std::vector<std::string> words(RunStore& store, std::int64_t run) {
    std::vector<std::string> all;
    for (const GeneratedTextRow& row : store.generatedTexts(run)) all.push_back(row.text);
    return all;
  }
};

TEST_F(Generated, ImagesAndTextsOfARunAreReadWithTheirRecipes) {
  auto [store, run] = openWithRunning();
  RunStore::Batch batch{.images = {image(10), image(5, std::numeric_limits<std::uint64_t>::max())},
                        .texts = {text(10, "one \xff"), text(5, "two")}};
  store.append(run, 1, batch);
  const auto images = store.generatedImages(run);
  ASSERT_THAT(images, SizeIs(2));
  EXPECT_EQ(images[0].step, 5);
  EXPECT_EQ(images[0].seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(images[1].recipe.dump(), R"({"sampler":"ddim","steps":4})");
  EXPECT_EQ(images[1].sha256, batch.images[0].sha256);
  EXPECT_EQ(images[1].width, 2);
  EXPECT_EQ(images[1].height, 1);
  EXPECT_EQ(store.generatedImagePng(images[1].id), batch.images[0].png);
  const GeneratedImageRow alone = store.generatedImage(images[1].id);
  EXPECT_EQ(alone.runId, run);
  EXPECT_EQ(alone.recipe, images[1].recipe);
  EXPECT_EQ(alone.seed, images[1].seed);
  EXPECT_THAT([&] { static_cast<void>(store.generatedImage(99)); }, test::Fails<NotFoundError>(99));
  EXPECT_EQ(images[1].bytes, static_cast<std::int64_t>(batch.images[0].png.size()));
  const auto texts = store.generatedTexts(run);
  ASSERT_THAT(texts, SizeIs(2));
  EXPECT_EQ(texts[1].prompt, "a prompt");
  EXPECT_EQ(texts[1].text, "one \xEF\xBF\xBD");
  EXPECT_EQ(texts[1].seed, 7u);
  EXPECT_EQ(store.query("SELECT prompt, text FROM generated_texts WHERE step = 5").rows[0][1],
            "two");
  EXPECT_THAT([&] { static_cast<void>(store.generatedImagePng(99)); },
              test::Fails<NotFoundError>(99));
}

TEST_F(Generated, ThoseOfSupersededStepsAreHiddenButNotThoseOfSample) {
  auto [store, run] = openWithRunning();
  RunStore::Batch batch;
  for (const std::int64_t step : {0, 500, 700}) {
    batch.images.push_back(image(step));
    batch.texts.push_back(text(step, "first " + std::to_string(step)));
  }
  store.append(run, 1, batch);
  store.setState(run, RunState::Interrupted, "a test");
  store.openSegment(run, 500, thisWorker(), Json::object());
  store.append(run, 2, {{}, {}, {}, {image(700)}, {text(700, "second 700")}, {}, {}});
  EXPECT_GT(store.addImage(run, image(700, 9)), 0);
  EXPECT_GT(store.addText(run, text(700, "later")), 0);
  EXPECT_THAT(words(store, run), ElementsAre("first 0", "first 500", "second 700", "later"));
  EXPECT_THAT(store.generatedImages(run), SizeIs(4));
  EXPECT_EQ(store.query("SELECT count(*) FROM generated_text").rows[0][0], 5);
  EXPECT_THROW(store.addText(99, text(0, "x")), NotFoundError);
}

TEST_F(Generated, WhatAResumedRunMakesAgainAtItsFirstStepIsStoredOnce) {
  auto [store, run] = openWithRunning();
  store.append(run, 1, {{}, {}, {}, {image(500)}, {text(500, "same")}, {}, {}});
  store.setState(run, RunState::Interrupted, "a test");
  store.openSegment(run, 500, thisWorker(), Json::object());
  store.append(
      run, 2,
      {{}, {}, {}, {image(500), image(500, 2)}, {text(500, "same"), text(500, "other")}, {}, {}});
  EXPECT_THAT(store.generatedImages(run), SizeIs(2));
  EXPECT_THAT(words(store, run), ElementsAre("same", "other"));
}

TEST_F(Generated, ReachTheDatabaseThroughTheEventSink) {
  auto [store, run] = openWithRunning();
  RunControl control;
  {
    StoreSink sink(file(), run, 1, control);
    sink.image(image(3));
    sink.text(text(3, "hello"));
    sink.flush();
  }
  EXPECT_THAT(store.generatedImages(run), SizeIs(1));
  EXPECT_THAT(words(store, run), ElementsAre("hello"));
}

}  // namespace
}  // namespace vitrine::store
