// vitrine sample: images of a generative run, the way they came, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/sha256.h"
#include "core/files/checkpoint_folder.h"
#include "core/files/read_png.h"
#include "core/store/run_store.h"
#include "tests/app/program.h"
#include "tests/support/has_texts.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;

/// A copy of the shared database with one generative run beside the classifiers.
class Drawn : public Copy {
 public:
  /// The run that has nothing of its own is trained once.
  Drawn() : Drawn(trained()) {}
  /// \param more   lines of [task], then further tables
  /// \param words  behind the file on the command line
  explicit Drawn(const std::string& more, const std::vector<std::string>& words = {}) {
    writeText(path("draw.toml"), R"(title = "Drawn"
[model]
architecture = "sit_llama"
input_size = 8
patch_size = 2
in_channels = 1
num_classes = 4
width = 16
depth = 2
heads = 2
mlp_width = 32
[data]
dataset = "idx"
folder = ")" + (sharedFolder() / "images").string() +
                                     R"("
normalize = "half"
[train]
steps = 3
batch_size = 8
threads = 1
[task]
name = "generation"
samples = { count = 0 }
)" + more);
    std::vector<std::string> all{"train", path("draw.toml"), "--json"};
    all.insert(all.end(), words.begin(), words.end());
    const Ended ended = run(all);
    EXPECT_EQ(ended.code, 0) << ended.err;
    if (ended.code == 0) id = ended.json().at(0).at("id").get<std::int64_t>();
  }
  [[nodiscard]] Ended sample(const std::vector<std::string>& words) const {
    std::vector<std::string> all{"sample",   std::to_string(id), "steps=4",
                                 "--output", path("pictures"),   "--json"};
    all.insert(all.end(), words.begin(), words.end());
    return run(all);
  }
  std::int64_t id = 0;

 private:
  static const Drawn& trained() {
    static const Drawn once("");
    return once;
  }
};

/// Of the PNG file of an entry of "made".
PngPixels pixelsOf(const Json& made) {
  const std::string bytes = readText(made.at("file").get<std::string>());
  return decodePng(std::as_bytes(std::span(bytes)), "the film strip");
}

TEST(Sample, ShowsTheWayOfEachImageAsAFilmStrip) {
  const Drawn drawn;
  const Ended plain = drawn.sample({"sampler=euler", "count=2", "seed=3"});
  ASSERT_EQ(plain.code, 0) << plain.err;
  const Ended filmed = drawn.sample({"sampler=euler", "count=2", "seed=3", "--steps", "all"});
  ASSERT_EQ(filmed.code, 0) << filmed.err;
  const Json made = filmed.json().at("made");
  ASSERT_EQ(made.size(), 4u);
  EXPECT_EQ(made[0].at("sha256"), plain.json().at("made")[0].at("sha256"))
      << "looking on changes nothing";
  EXPECT_EQ(made[3].at("kind"), "steps");
  EXPECT_EQ(made[3].at("steps"), 4);
  EXPECT_EQ(made[3].at("seed"), 4);
  const PngPixels strip = pixelsOf(made[3]);
  EXPECT_EQ(strip.width, 4 * 57 - 1);
  EXPECT_EQ(strip.height, 56);
  store::RunStore store(drawn.database(), store::OpenMode::ReadOnly);
  const store::ArtifactRow row = store.artifact(made[3].at("id").get<std::int64_t>());
  EXPECT_EQ(row.kind, artifact_kind::kImageGrid);
  EXPECT_EQ(row.meta.at("shape"), (Json{4, 8, 8, 1}));
  EXPECT_EQ(row.meta.at("times"), (Json{0.0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(row.meta.at("recipe").at("seed"), 4);
  EXPECT_EQ(row.meta.at("recipe").at("settings").at("solver"), "euler");
}

TEST(Sample, ShowsWhereAPatchReadsAtEachOfTheSteps) {
  const Drawn drawn;
  const Ended ended =
      drawn.sample({"sampler=heun", "guidance=2", "count=1", "--steps", "2", "--attention", "1,3"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json made = ended.json().at("made");
  ASSERT_EQ(made.size(), 2u);
  const PngPixels strip = pixelsOf(made[1]);
  EXPECT_EQ(strip.height, 2 * 57 - 1) << "a row of images, and a row of attention";
  store::RunStore store(drawn.database(), store::OpenMode::ReadOnly);
  ASSERT_EQ(made[1].at("artifacts").size(), 3u);
  const auto last = made[1].at("artifacts")[2].get<std::int64_t>();
  const store::ArtifactRow attention = store.artifact(last);
  EXPECT_EQ(attention.kind, artifact_kind::kAttention);
  EXPECT_EQ(attention.meta.at("shape"), (Json{2, 2, 1, 16})) << "layers, heads, the patch, patches";
  EXPECT_EQ(attention.meta.at("query_positions"), (Json::array({{1, 3}})));
  EXPECT_EQ(attention.meta.at("key_positions")[7], (Json{1, 3}));
  EXPECT_EQ(attention.meta.at("time"), 1.0);
  EXPECT_EQ(attention.meta.at("recipe").at("settings").at("attention"), (Json{1, 3}));
  const std::vector<std::byte> data = store.artifactData(last);
  const ArrayView view = arrayOf(attention.meta, data);
  for (std::int64_t row = 0; row < 4; ++row) {
    double sum = 0;
    for (std::int64_t key = 0; key < 16; ++key) sum += view.at(row * 16 + key);
    EXPECT_NEAR(sum, 1, 1e-5) << "a row of the softmax";
  }
  const std::string id = std::to_string(made[0].at("id").get<std::int64_t>());
  EXPECT_EQ(drawn.run({"sample", std::to_string(drawn.id), "--verify", id}).code, 0);
}

TEST(Sample, FilmOptionsWithoutAValueShowAllStepsAndThePatchInTheMiddle) {
  const Drawn drawn;
  const auto shown = [&](const std::vector<std::string>& words) {
    const Ended ended = drawn.sample(words);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.code == 0 ? ended.json().at("made") : Json::array();
  };
  const Json filmed = shown({"--steps", "sampler=euler", "count=1"});
  ASSERT_EQ(filmed.size(), 2u);
  EXPECT_EQ(filmed[1].at("steps"), 4);
  EXPECT_EQ(filmed[1].at("artifacts").size(), 1u);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--attention", "count=1", "sampler=euler", "--steps"},
           {"sampler=euler", "--steps", "--attention", "count=1"},
           {"sampler=euler", "count=1", "--steps", "4", "--attention"}}) {
    const Json made = shown(words);
    ASSERT_EQ(made.size(), 2u) << words[0];
    EXPECT_EQ(made[1].at("steps"), 4);
    ASSERT_EQ(made[1].at("artifacts").size(), 5u) << "the strip, and the attention of each step";
    const store::ArtifactRow row = store::RunStore(drawn.database(), store::OpenMode::ReadOnly)
                                       .artifact(made[1].at("artifacts")[4].get<std::int64_t>());
    EXPECT_EQ(row.meta.at("query_positions"), (Json::array({{2, 2}}))) << "of 4 x 4 patches";
  }
}

TEST(Sample, AreNotEvaluatedWithoutAJudge) {
  const Drawn drawn;
  const Ended ended =
      drawn.run({"evaluate", std::to_string(drawn.id), "--of", "samples", "task.samples.count=2"});
  EXPECT_NE(ended.code, 0);
  EXPECT_THAT(ended.err, Names("samples", "judge"));
}

TEST(Sample, TakesTheAveragedWeightsOfARunThatHasThem) {
  const auto made = [](const Drawn& drawn, const std::vector<std::string>& words) {
    const Ended ended = drawn.sample(words);
    EXPECT_EQ(ended.code, 0) << ended.err;
    const Json json = ended.json();
    return std::pair(json.at("weights"), json.at("made").at(0).at("sha256"));
  };
  const Drawn averaged("", {"train.ema.decay=0.5"});
  EXPECT_EQ(made(averaged, {}).first, "ema");
  EXPECT_EQ(made(averaged, {}), made(averaged, {"--use", "ema"}));
  EXPECT_EQ(made(averaged, {"--use", "model"}).first, "model");
  EXPECT_NE(made(averaged, {"--use", "model"}).second, made(averaged, {}).second);
  EXPECT_EQ(made(Drawn(), {}).first, "model");
}

TEST(Sample, RefusesToVerifyAnImageWithoutARecipe) {
  const Drawn drawn;
  std::int64_t id = 0;
  {
    store::RunStore store(drawn.database());
    id = store.addImage(drawn.id, generatedImage(std::vector<std::uint8_t>(4, 1), 2, 2, 1));
  }
  const Ended ended =
      drawn.run({"sample", std::to_string(drawn.id), "--verify", std::to_string(id)});
  EXPECT_EQ(ended.code, 4) << ended.out;
  EXPECT_THAT(ended.err, HasLine("error: the recipe of image " + std::to_string(id) + " has no "));
  const Ended none = drawn.run({"sample", std::to_string(drawn.id), "--verify", "0"});
  EXPECT_EQ(none.code, 3) << none.out;
  EXPECT_THAT(none.err, HasLine("error: run " + std::to_string(drawn.id) +
                                " has no image 0; `vitrine query` lists those of the view "
                                "generated_images\n"));
}

TEST(Sample, RefusesWhatTheRunCannotShowInOneSentence) {
  const Drawn drawn;
  const auto refused = [&](const std::vector<std::string>& words) {
    const Ended ended = drawn.sample(words);
    EXPECT_EQ(ended.code, 2) << ended.out;
    return ended.err;
  };
  EXPECT_THAT(refused({"--steps", "0"}), Names("--steps 0"));
  EXPECT_THAT(refused({"--steps", "few"}), Names("--steps", "few"));
  EXPECT_THAT(refused({"--attention", "3"}), Names("3,2"));
  EXPECT_THAT(refused({"--attention", "0,4"}), Names("attention = [0, 4]"));
  EXPECT_THAT(refused({"attention=[1]"}), Names("attention = [1]"));
  EXPECT_THAT(refused({"class=4"}), Names("class = 4"));
  EXPECT_THAT(refused({"sampler=ddim"}), Names("ode", "sde"));
  EXPECT_THAT(refused({"guidnce=2"}), Names("guidance"));
  // Before an image is drawn and stored.
  const std::string run = std::to_string(drawn.id);
  const Ended file = drawn.run({"sample", run, "steps=2", "--output", drawn.path("draw.toml")});
  EXPECT_EQ(file.code, 2) << file.err;
  EXPECT_THAT(file.err, Names("--output", "draw.toml"));
  const auto images = [&] {
    return store::RunStore(drawn.database(), store::OpenMode::ReadOnly)
        .query("SELECT count(*) FROM generated_images")
        .rows[0][0];
  };
  EXPECT_EQ(images(), 0);
  // The recipe of an image says how it is made again: another value would not be taken.
  for (const char* more : {"guidance=2", "--grid", "--steps=all", "--steps", "--attention"}) {
    const Ended ended = drawn.run({"sample", run, "--verify", "1", more});
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, Names("--verify")) << more;
  }
}

TEST(Sample, RefusesGuidanceAndDiffusionsThatAModelHasNotLearned) {
  const Drawn drawn("", {"model.class_dropout_prob=0"});
  const Ended guided = drawn.sample({"guidance=2"});
  EXPECT_EQ(guided.code, 2);
  EXPECT_THAT(guided.err, Names("guidance = 2"));
  EXPECT_EQ(drawn.sample({"guidance=1", "count=1"}).code, 0);
  // A velocity on a straight path has no finite form of this name.
  const Ended form = drawn.sample({"sampler=sde", "form=sbdm"});
  EXPECT_EQ(form.code, 2);
  EXPECT_THAT(form.err, Names("sbdm"));
}

TEST(Sample, GuidanceOfImagesThatAnEvaluationCannotDrawIsRefusedBeforeARunIsStored) {
  // This run draws none, and is opened for others.
  const Drawn drawn("", {"model.class_dropout_prob=0", "task.samples.guidance=2"});
  EXPECT_EQ(drawn.sample({"guidance=1", "count=1"}).code, 0);
  const std::string file = drawn.path("draw.toml");
  const auto runs = [&] { return drawn.run({"runs", "--json"}).json().size(); };
  const std::size_t before = runs();
  const std::vector<std::vector<std::string>> calls{
      {"check", file, "model.class_dropout_prob=0"},
      {"check", file, "task.label_drop=0"},
      {"enqueue", file, "task.label_drop=0", "--no-dry-step"},
      {"train", file, "task.label_drop=0"}};
  for (std::vector<std::string> words : calls) {
    words.insert(words.end(), {"task.samples.guidance=2", "task.samples.count=1"});
    const Ended ended = drawn.run(words);
    EXPECT_EQ(ended.code, 2) << words[0];
    EXPECT_THAT(ended.err, Names("guidance = 2")) << words[0];
  }
  EXPECT_EQ(runs(), before);
}

TEST(Sample, KeysOfTheOtherProcessAreRefusedBeforeARunIsStored) {
  const Drawn drawn;
  const std::vector<std::pair<std::string, std::string>> keys{
      {"task.schedule", "cosine"}, {"task.steps", "500"}, {"task.weight", "velocity"}};
  for (const auto& [key, value] : keys) {
    const Ended ended = drawn.run({"check", drawn.path("draw.toml"), key + "=" + value});
    EXPECT_EQ(ended.code, 2) << key;
    EXPECT_THAT(ended.err, Names(key));
  }
}

/// The checkpoint of a run at `step`, in a folder of its own. \returns  the hash of its weights
std::string networkIn(const Copy& copy, std::int64_t run, std::int64_t step,
                      const std::string& folder) {
  store::RunStore store(copy.database(), store::OpenMode::ReadOnly);
  fs::remove_all(folder);
  fs::copy(
      store::filesFolder(copy.database()) / ("run-" + store.run(run).uuid) / checkpointName(step),
      folder);
  return sha256OfFile(fs::path(folder) / "model.safetensors");
}

TEST(Sample, LatentsOfAnotherCodecAreRefused) {
  const Copy first;
  writeText(first.path("codec.toml"), R"(title = "Codec"
[model]
architecture = "autoencoder_kl"
image_size = 8
in_channels = 1
latent_channels = 2
block_out_channels = [8, 8]
layers_per_block = 1
norm_groups = 4
[data]
dataset = "idx"
folder = ")" + (sharedFolder() / "images").string() +
                                          R"("
normalize = "half"
[train]
steps = 2
batch_size = 8
threads = 1
[task]
name = "autoencoder"
)");
  const std::string folder = first.path("codec");
  const auto trained = [&](int seed) -> std::string {
    const Ended ended = first.run(
        {"train", first.path("codec.toml"), "train.seed=" + std::to_string(seed), "--json"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    if (ended.code != 0) return "";
    return networkIn(first, ended.json().at(0).at("id").get<std::int64_t>(), 2, folder);
  };
  const std::string sha256 = trained(0);
  ASSERT_NE(sha256, "");
  const Drawn drawn("codec = \"codec\"\n[aux.codec]\nweights = \"" + folder + "\"\n",
                    {"model.input_size=4", "model.in_channels=2"});
  EXPECT_EQ(drawn.sample({"count=1"}).code, 0);
  const Ended shape = drawn.run({"train", drawn.path("draw.toml"), "model.input_size=4"});
  EXPECT_EQ(shape.code, 2);
  EXPECT_THAT(shape.err, Names("2 x 4 x 4", "model.in_channels = 2"));

  // Another codec in its place.
  const std::string other = trained(1);
  ASSERT_NE(other, sha256);
  const Ended changed = drawn.sample({"count=1"});
  EXPECT_EQ(changed.code, 4);
  EXPECT_THAT(changed.err, Names("codec", sha256.substr(0, 12), other.substr(0, 12)));
}

TEST(Sample, AJudgeIsNamedWithItsHashAndTheNumberOfImages) {
  const Copy first;
  const std::string folder = first.path("judge");
  const std::string sha256 = networkIn(first, 1, 24, folder);
  const Drawn drawn("judge = \"critic\"\n[aux.critic]\nweights = \"" + folder + "\"\n");
  const auto evaluated = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all{"evaluate", std::to_string(drawn.id), "--of", "samples"};
    all.insert(all.end(), words.begin(), words.end());
    return drawn.run(all);
  };
  const std::vector<std::string> twelve{"task.samples.count=12", "task.samples.steps=2"};
  const Ended ended = evaluated({twelve[0], twelve[1], "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json found = ended.json();
  EXPECT_EQ(found.at("evaluation"), "test/samples");
  EXPECT_TRUE(found.at("scores").contains("agreement"));
  const Json row = found.at("tables")[0].at("rows")[0];
  EXPECT_EQ(row[2], 12);
  EXPECT_EQ(row[3], "critic");
  EXPECT_EQ(row[4], sha256);
  EXPECT_THAT(evaluated(twelve).out, HasTexts("agreement", sha256));
  EXPECT_THAT(drawn.run({"evaluate", std::to_string(drawn.id), "--of", "dreams"}).err,
              Names("dreams", "samples"));
  EXPECT_THAT(evaluated({"task.path=vp"}).err, Names("task.path"));
  const Ended noisy = evaluated({twelve[0], twelve[1], "task.samples.sampler=sde", "--json"});
  ASSERT_EQ(noisy.code, 0) << noisy.err;
  EXPECT_TRUE(noisy.json().at("scores").contains("agreement"));
  const Ended other = evaluated({twelve[0], "task.samples.sampler=ddim"});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, Names("task.samples.sampler", "ode", "sde"));
  const Ended few = evaluated({"task.samples.count=3"});
  EXPECT_EQ(few.code, 2);
  EXPECT_THAT(few.err, Names("task.samples.count", 3, "task.judge"));

  // Another judge in its place.
  const std::string another = networkIn(first, 2, 24, folder);
  ASSERT_NE(another, sha256);
  for (const Ended& changed : {evaluated(twelve), drawn.sample({"count=1"})}) {
    EXPECT_EQ(changed.code, 4);
    EXPECT_THAT(changed.err, Names("critic", sha256.substr(0, 12), another.substr(0, 12)));
  }
}

TEST(Sample, ServeStreamsEveryStepAndEndsBetweenTwo) {
  if (std::system("python3 -c 'import struct' >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "there is no Python to run the client";
  const Drawn drawn;
  const std::string output = drawn.path("client.txt");
  const std::string command = "OMP_NUM_THREADS=1 XDG_DATA_HOME='" + drawn.path("data") +
                              "' XDG_CONFIG_HOME='" + drawn.path("config") + "' XDG_CACHE_HOME='" +
                              (sharedFolder() / "cache").string() +
                              "' timeout 240 python3 '" VITRINE_SOURCE_DIR
                              "/tests/app/serve_sample_client.py' '" VITRINE_PROGRAM "' '" +
                              drawn.database() + "' " + std::to_string(drawn.id) + " '" +
                              drawn.path("pictures") + "' >'" + output + "' 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << readText(output);
  EXPECT_THAT(readText(output), HasLine("every line of the page held\n"));
}

}  // namespace
}  // namespace vitrine::test
