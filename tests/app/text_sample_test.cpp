// vitrine sample and train with texts: what is written, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <span>

#include "core/base/sha256.h"
#include "core/files/png.h"
#include "core/files/read_png.h"
#include "core/store/run_store.h"
#include "tests/app/program.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

/// The experiment of a small model of texts. \param model  the keys that are its own, a line each
std::string experimentOf(const std::string& model, const std::string& task, const std::string& data,
                         int vocabulary = 264) {
  return "title = \"Texts\"\n[model]\n" + model + R"(dim = 16
depth = 1
heads = 2
kv_heads = 1
ffn_hidden = 16
vocab = )" +
         std::to_string(vocabulary) +
         R"(
[train]
steps = 2
batch_size = 4
threads = 1
[task]
)" + task +
         "[data]\n" + data;
}

/// A copy of the shared database with one run of a small language model of 40 tokens.
class Written : public Copy {
 public:
  Written() : Written(trained()) {}
  [[nodiscard]] Ended train(const std::vector<std::string>& words) const {
    return with({"train", path("write.toml")}, words);
  }
  [[nodiscard]] Ended sample(const std::vector<std::string>& words) const {
    return with({"sample", std::to_string(id_), "count=1"}, words);
  }

 private:
  struct Training {};
  explicit Written(Training) {
    std::filesystem::create_directories(path("texts"));
    std::string lines;
    for (int i = 0; i < 16; ++i) lines += "line " + std::to_string(i) + " of a text\n";
    writeText(path("texts/train.txt"), lines);
    writeText(path("texts/test.txt"), lines);
    const auto rows = [](const std::string& split) {
      return "[[data.pipeline." + split + "]]\nname = \"tokenize\"\n[[data.pipeline." + split +
             "]]\nname = \"pack\"\nlength = 32\nvalue = 260\n";
    };
    writeText(path("write.toml"),
              experimentOf("architecture = \"llama\"\nmax_positions = 40\n",
                           "name = \"language_model\"\n",
                           "dataset = \"text_documents\"\ndivide = \"line\"\nas = \"text\"\n"
                           "folder = \"" +
                               path("texts") + "\"\n" + rows("train") + rows("evaluate")));
    const Ended ended = train({"--json"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    if (ended.code == 0) id_ = ended.json().at(0).at("id").get<std::int64_t>();
  }
  /// Once for all tests.
  static const Written& trained() {
    static const Written once{Training()};
    return once;
  }
  [[nodiscard]] Ended with(std::vector<std::string> all,
                           const std::vector<std::string>& words) const {
    all.insert(all.end(), words.begin(), words.end());
    return run(all);
  }
  std::int64_t id_ = 0;
};

TEST(TextSample, ContinuesAPromptWithinTheContext) {
  const Written written;
  const Ended ended = written.sample({"prompt=line", "max_tokens=4", "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.json().at("made").at(0).at("kind"), "text");
}

TEST(TextSample, RefusesAGridBeforeATextIsMade) {
  const Written written;
  // The sampler alone would refuse this prompt.
  const Ended ended = written.sample({"prompt=" + std::string(60, 'a'), "--grid"});
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_THAT(ended.err, Names("--grid"));
  EXPECT_EQ(written.run({"query", "SELECT id FROM generated_texts", "--json"}).json().size(), 0u);
}

TEST(TextSample, RefusesPromptsThatDoNotFitInOneSentence) {
  const Written written;
  const auto refused = [&](const std::vector<std::string>& words) {
    const Ended ended = written.sample(words);
    EXPECT_EQ(ended.code, 2) << ended.out;
    return ended.err;
  };
  // A first token and 60 bytes.
  EXPECT_THAT(refused({"prompt=" + std::string(60, 'a'), "max_tokens=1"}),
              Names("prompt", 61, "context", 40));
  EXPECT_THAT(refused({"prompt=ab", "max_tokens=64"}), Names("max_tokens = 64", 40, 37));
  EXPECT_THAT(refused({"prompt=a\xff", "max_tokens=1"}), Names("UTF-8"));
}

/// A copy of the shared database with a run that describes and draws images of 8 x 8 pixels.
class Described : public Copy {
 public:
  Described() : Described(trained()) {}
  [[nodiscard]] Ended sample(std::vector<std::string> words) const {
    words.insert(words.begin(), {"sample", "5", "max_tokens=4", "steps=2", "--json"});
    return run(words);
  }
  /// \returns  the path of a PNG file of that size
  [[nodiscard]] std::string picture(int height, int width, int channels) const {
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(height * width * channels));
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(7 * i);
    const std::vector<std::byte> png = encodePng(pixels, height, width, channels);
    const std::string file =
        path(std::to_string(height) + "x" + std::to_string(width) + std::to_string(channels));
    writeText(file, std::string(reinterpret_cast<const char*>(png.data()), png.size()));
    return file;
  }

 private:
  struct Training {};
  explicit Described(Training) {
    const std::string rows =
        R"([{ name = "normalize", by = "half" }, { name = "label_text", names = ["a", "b", "c", "d"] },
            { name = "tokenize", begin = false, end = false }])";
    writeText(path("describe.toml"),
              experimentOf("architecture = \"llamafusion\"\nmax_positions = 64\n"
                           "image_io = \"linear\"\nimage_patch = 4\n"
                           "latent_channels = 1\nlatent_size = 8\n",
                           "name = \"text_image\"\ncaptions = 4\n",
                           "dataset = \"idx\"\ntest_samples = 8\nfolder = \"" +
                               (sharedFolder() / "images").string() + "\"\npipeline.train = " +
                               rows + "\npipeline.evaluate = " + rows + "\n"));
    const Ended ended = run({"train", path("describe.toml"), "--json"});
    EXPECT_EQ(ended.code, 0) << ended.err;
  }
  /// Once for all tests.
  static const Described& trained() {
    static const Described once{Training()};
    return once;
  }
};

TEST(ImageSample, DescribesAnImageFileOfAnySizeAndSaysHowItIsRead) {
  const Described described;
  const std::string same = described.picture(8, 8, 1), large = described.picture(12, 20, 3);
  const Ended plain = described.sample({"image=" + same});
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(plain.err.find("is read as"), std::string::npos) << plain.err;
  const Ended resized = described.sample({"image=" + large});
  ASSERT_EQ(resized.code, 0) << resized.err;
  EXPECT_THAT(resized.err, Names(large, "12 x 20", "colour", "8 x 8", "grey"));
  store::RunStore store(described.database(), store::OpenMode::ReadOnly);
  EXPECT_EQ(store.generatedTexts(5).back().recipe.at("image_sha256"), sha256OfFile(large));
}

TEST(ImageSample, RefusesAnImageNextToAPrompt) {
  const Described described;
  const Ended both = described.sample({"image=test/0", "prompt=a"});
  EXPECT_EQ(both.code, 2) << both.err;
  EXPECT_THAT(both.err, Names("image", "prompt"));
}

TEST(ImageSample, RefusesTheStepsOfACaptionBeforeItIsMade) {
  const Described described;
  store::RunStore store(described.database(), store::OpenMode::ReadOnly);
  const std::size_t before = store.generatedTexts(5).size();
  for (const char* film : {"--steps=2", "--attention=1,1"}) {
    const Ended ended = described.sample({"image=test/0", film});
    EXPECT_EQ(ended.code, 2) << film << ended.out;
    EXPECT_THAT(ended.err, Names("--steps", "--attention", "texts"));
  }
  EXPECT_EQ(store.generatedTexts(5).size(), before);
}

TEST(ImageSample, ShowsWhereAPatchReadsInThePromptAndTheImage) {
  const Described described;
  const auto drawn = [&](const std::vector<std::string>& film) {
    std::vector<std::string> words{"prompt=a", "count=1", "--output", described.path("pictures")};
    words.insert(words.end(), film.begin(), film.end());
    const Ended ended = described.sample(words);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.json().at("made");
  };
  const Json plain = drawn({}), made = drawn({"--steps", "2", "--attention", "1,1"});
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].at("sha256"), plain[0].at("sha256")) << "looking changes nothing";
  EXPECT_EQ(made[1].at("steps"), 2);
  ASSERT_EQ(made[1].at("artifacts").size(), 3U) << "a strip, and the attention of two steps";
  const std::string bytes = readText(made[1].at("file").get<std::string>());
  const PngPixels strip = decodePng(std::as_bytes(std::span(bytes)), "the film strip");
  EXPECT_EQ(strip.height, 2 * 57 - 1) << "a row of images, and a row of attention";
  store::RunStore store(described.database(), store::OpenMode::ReadOnly);
  const store::ArtifactRow map = store.artifact(made[1].at("artifacts")[2].get<std::int64_t>());
  EXPECT_EQ(map.kind, artifact_kind::kAttention);
  EXPECT_EQ(map.meta.at("shape"), (Json{1, 2, 1, 7})) << "layers, heads, the patch, keys";
  EXPECT_EQ(map.meta.at("key_words"),
            (Json{"begin of text", "a", "begin of image", "", "", "", ""}));
  EXPECT_EQ(map.meta.at("key_positions")[2], (Json{-1, -1}));
  EXPECT_EQ(map.meta.at("key_positions")[6], (Json{1, 1}));
}

TEST(TextSample, RefusesTheStepsOfATextInOneSentence) {
  const Ended ended = Written().sample({"prompt=line", "--attention", "1,1"});
  EXPECT_EQ(ended.code, 4) << ended.err;
  EXPECT_THAT(ended.err, Names("--steps", "--attention"));
}

TEST(TextSample, RefusesTextsTokenizersAndRowsThatDoNotFitTheModel) {
  const Written written;
  const auto refused = [&](const std::vector<std::string>& words) {
    const Ended ended = written.train(words);
    EXPECT_EQ(ended.code, 2) << ended.out;
    return ended.err;
  };
  EXPECT_THAT(refused({"model.vocab=300"}), Names(264, 300, "model.vocab = 264"));
  EXPECT_THAT(refused({"model.max_positions=16"}), Names(32, 16, "model.max_positions"));
  std::filesystem::create_directories(written.path("bytes"));
  writeText(written.path("bytes/train.txt"), "caf\xe9\n");
  const std::size_t before = written.run({"runs", "--json"}).json().size();
  const Ended bytes = written.train({"data.folder=" + written.path("bytes")});
  EXPECT_NE(bytes.code, 0);
  EXPECT_THAT(bytes.err, Names("train.txt", "UTF-8", "byte 3", "0xE9", "convert"));
  EXPECT_EQ(written.run({"runs", "--json"}).json().size(), before) << "a run is stored";
}

TEST(TextStart, WithWordsInAnotherOrderIsRefusedBeforeARunIsStored) {
  const Copy copy;
  std::filesystem::create_directories(copy.path("texts"));
  for (const char* name : {"texts/train.txt", "texts/test.txt"})
    writeText(copy.path(name), "one line\nanother line\none more\nthe end\n");
  const auto pipelineOf = [](const std::string& words) {
    const std::string list = "[{ name = \"tokenize\", words = [" + words +
                             "] }, { name = \"pack\", length = 16, value = 260 }]";
    return "{ train = " + list + ", evaluate = " + list + " }";
  };
  const auto experiment = [&](const std::string& words) {
    return experimentOf("architecture = \"llama\"\nmax_positions = 40\n",
                        "name = \"language_model\"\n",
                        "dataset = \"text_documents\"\ndivide = \"line\"\nas = \"text\"\n"
                        "folder = \"" +
                            copy.path("texts") + "\"\npipeline = " + pipelineOf(words) + "\n",
                        266);
  };
  const std::string words = "\" line\", \"one\"", turned = "\"one\", \" line\"";
  writeText(copy.path("words.toml"), experiment(words));
  writeText(copy.path("turned.toml"), experiment(turned));
  const Ended first = copy.run({"train", copy.path("words.toml"), "--json"});
  ASSERT_EQ(first.code, 0) << first.err;
  const std::string start =
      "init={ run = \"" + first.json().at(0).at("uuid").get<std::string>() + "\" }";
  const std::size_t before = copy.run({"runs", "--json"}).json().size();
  const Ended refused = copy.run({"train", copy.path("turned.toml"), start});
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_THAT(refused.err, Names("word 0", "one", " line", "init.skip"));
  EXPECT_EQ(copy.run({"runs", "--json"}).json().size(), before);
  const Ended same = copy.run({"train", copy.path("words.toml"), start});
  EXPECT_EQ(same.code, 0) << same.err;

  writeText(copy.path("stages.toml"),
            experiment(words) + "[[stage]]\nname = \"first\"\n[[stage]]\nname = \"second\"\n" +
                "init = \"previous\"\n[stage.set]\n\"data.pipeline\" = " + pipelineOf(turned) +
                "\n");
  const Ended checked = copy.run({"check", copy.path("stages.toml")});
  EXPECT_EQ(checked.code, 2) << checked.out;
  EXPECT_THAT(checked.err, Names("init.run", "word 0", "init.skip"));
}

}  // namespace
}  // namespace vitrine::test
