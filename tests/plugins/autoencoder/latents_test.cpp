// Latents between a run's images and its model: drawn, cached, refused.
#include "core/plugin/latents.h"

#include <ATen/CPUGeneratorImpl.h>
#include <gmock/gmock.h>
#include <torch/nn/module.h>

#include <fstream>

#include "core/model/measured_scale.h"
#include "core/model/weights.h"
#include "tests/plugins/autoencoder/codecs.h"
#include "tests/support/temporary_folder.h"

namespace vitrine::autoencoder {
namespace {

using test::Fails, test::Names;
using ::testing::AllOf, ::testing::EndsWith;

at::Generator generatorOf(std::uint64_t seed) {
  return at::make_generator<at::CPUGeneratorImpl>(seed);
}

AuxiliaryNetwork codecOf(Json values, const std::string& sha256 = std::string(64, 'a')) {
  AuxiliaryNetwork network{.name = "codec", .model = buildCodec(kKl, values)};
  network.config["model"] = std::move(values);
  network.model->module().eval();
  network.file = "codec.safetensors";
  network.sha256 = sha256;
  return network;
}

AuxiliaryNetwork smallCodec() {
  Json values = smallKl();
  values["scaling_factor"] = 2.0;
  return codecOf(values);
}

TEST(Latents, AreTheScaledDrawnOnesOfTheCodecAndComeBackAsPixels) {
  const AuxiliaryNetwork network = smallCodec();
  auto& codec = *capabilityOf<LatentCodec>(*network.model);
  for (const char* by : {"half", "dataset", "none"}) {
    SCOPED_TRACE(by);
    const auto images = pipelineOf(dataTable(by));
    const Latents latents(network, images);
    EXPECT_EQ(latents.shape(), (std::array<std::int64_t, 3>{2, 4, 4}));
    const Batch batch = images->read(Split::Test, std::vector<std::int64_t>{0, 1, 2});
    at::Generator generator = generatorOf(4), same = generatorOf(4);
    const at::Tensor made = latents.of(batch, generator);
    // As the codec itself makes them of images in [-1, 1].
    const at::Tensor halved = pipelineOf(dataTable("half"))
                                  ->read(Split::Test, std::vector<std::int64_t>{0, 1, 2})
                                  .at("image");
    const auto latent = codec.encodeLatent(halved);
    const at::Tensor expected =
        2 * latent.draw(at::randn(latent.mean.sizes(), same, latent.mean.options()));
    EXPECT_TRUE(made.allclose(expected, 1e-4, 1e-5));
    const at::Tensor decoded = latents.decode(made);
    EXPECT_TRUE(
        decoded.allclose(((codec.decodeLatent(expected / 2) + 1) / 2).clamp(0, 1), 1e-4, 1e-5));
    EXPECT_FALSE(made.requires_grad());
  }
}

TEST(Latents, RefuseWhatDoesNotFitInOneSentence) {
  const AuxiliaryNetwork network = smallCodec();
  EXPECT_THAT([&] { Latents(network, pipelineOf(dataTable(), 0, 9)); },
              Fails<Error>("aux.codec", "2 x 2 px", "9 x 9 px"));
  EXPECT_THAT([&] { Latents(codecOf(smallKl()), pipelineOf(dataTable())); },
              Fails<Error>("aux.codec"));
  Json colour = smallKl();
  colour["in_channels"] = 3;
  EXPECT_THAT([&] { Latents(codecOf(colour), pipelineOf(dataTable())); }, Fails<Error>(3, 1));
  const Latents latents(network, pipelineOf(dataTable()));
  EXPECT_EQ(test::refusal<ShapeError>([&] {
              (void)latents.decode(at::zeros({1, 4, 4, 4}));
            }),
            "aux.codec decodes latents of 2 channels, not [1, 4, 4, 4]; these are latents of "
            "another codec, decode them with that one");
}

struct Cached {
  TemporaryFolder folder;
  AuxiliaryNetwork network = smallCodec();
  std::shared_ptr<const Dataset> dataset = std::make_shared<Squares>();
  int encoded = 0;

  std::shared_ptr<const Pipeline> open(const Json& data,
                                       std::vector<Split> splits = {Split::Train}) {
    LatentCacheOptions options;
    options.folder = folder.path();
    options.splits = std::move(splits);
    options.batchSize = 7;
    options.progress = [this](std::int64_t, std::int64_t) { ++encoded; };
    const auto images = std::make_shared<const Pipeline>(test::transformRegistry(), Config(data),
                                                         dataset, 0, Pipeline::ImageShape{});
    return Latents(network, images).cached(test::transformRegistry(), Config(data), 0, options);
  }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      all.push_back(entry.path());
    return all;
  }
};

TEST(LatentCache, GivesTheLatentsOfTheImagesInTheSameOrder) {
  Cached cached;
  const Json data = dataTable();
  const auto images = pipelineOf(data), latents = cached.open(data);
  const StreamOptions options{6, 0, /*isTraining=*/true};
  const auto plain = images->stream(Split::Train, options);
  const auto kept = latents->stream(Split::Train, options);
  const Latents codec(cached.network, images);
  for (int i = 0; i < 6; ++i) {
    const Batch image = plain->next(), latent = kept->next();
    EXPECT_EQ(latent.sampleIds, image.sampleIds);
    EXPECT_TRUE(latent.at("label").equal(image.at("label")));
    EXPECT_EQ(latent.fields.count("image"), 0U);
    at::Generator one = generatorOf(3), other = generatorOf(3);
    EXPECT_TRUE(codec.of(latent, one).allclose(codec.of(image, other), 1e-4, 1e-5));
  }
  EXPECT_EQ(latents->field("latent").kind, FieldKind::Latent);
}

TEST(LatentCache, IsReadByTheNextRunAndMadeAgainByAnotherCodecOrOtherImages) {
  Cached cached;
  (void)cached.open(dataTable());
  EXPECT_EQ(cached.encoded, 4) << "24 images, 7 at once";
  ASSERT_EQ(cached.files().size(), 1U);
  EXPECT_TRUE(cached.files()[0].filename().string().starts_with("aaaaaaaaaaaaaaaa-squares-train-"));
  (void)cached.open(dataTable());
  EXPECT_EQ(cached.encoded, 4);
  cached.network.sha256 = std::string(64, 'b');
  (void)cached.open(dataTable());
  EXPECT_EQ(cached.encoded, 8);
  Json fewer = dataTable();
  fewer["train_samples"] = 5;
  (void)cached.open(fewer);
  EXPECT_EQ(cached.encoded, 9);
  EXPECT_EQ(cached.files().size(), 3U);
}

TEST(LatentCache, IsMadeAgainByACodecOfTheSameWeightsAndOtherSettings) {
  Cached cached;
  const auto openWith = [&](const char* key, const Json& value) {
    Json values = smallKl();
    values["scaling_factor"] = 2.0;
    values[key] = value;
    cached.network = codecOf(values);
    (void)cached.open(dataTable());
    return cached.files().size();
  };
  EXPECT_EQ(openWith("norm_groups", 4), 1U);
  EXPECT_EQ(openWith("norm_groups", 2), 2U);
  EXPECT_EQ(openWith("norm_eps", 0.1), 3U);
  EXPECT_EQ(openWith("norm_groups", 2), 3U) << "made before";
  // A preset is a name of values that the table has.
  EXPECT_EQ(openWith("norm_eps", 0.1), 3U);
  cached.network.config["model"]["preset"] = "autoencoder_kl/demo";
  (void)cached.open(dataTable());
  EXPECT_EQ(cached.files().size(), 3U);
}

/// 300 dark images in memory, one of which is bright.
class OneBright final : public ImagesInMemory {
 public:
  explicit OneBright(std::size_t bright)
      : ImagesInMemory(
            {.height = 8, .width = 8, .classes = {"any"}, .mean = {0.25}, .deviation = {0.5}}) {
    constexpr std::size_t kImages = 300, kBytes = 64;
    for (std::size_t i = 0; i < kImages; ++i) {
      train_.labels.push_back(0);
      const std::uint8_t pixel = i == bright ? std::uint8_t{230} : std::uint8_t{20};
      train_.pixels.insert(train_.pixels.end(), kBytes, pixel);
    }
    test_.labels.assign(1, 0);
    test_.pixels.assign(kBytes, 20);
  }
};

TEST(LatentCache, IsMadeAgainWhereAnyOfManyImagesIsAnother) {
  Cached cached;
  const auto openWith = [&](std::size_t bright) {
    cached.dataset = std::make_shared<OneBright>(bright);
    (void)cached.open(dataTable());
    return cached.files().size();
  };
  EXPECT_EQ(openWith(5), 1U);
  EXPECT_EQ(openWith(6), 2U);
  EXPECT_EQ(openWith(7), 3U);
  EXPECT_EQ(openWith(6), 3U) << "made before";
}

TEST(LatentCache, ReadsTheImagesOfADataSetWithoutAFingerprint) {
  /// The squares, with one image in negative.
  class OneNegative final : public LabelledImages {
   public:
    explicit OneNegative(std::int64_t negative) : negative_(negative) {}
    const DatasetInfo& info() const noexcept override { return squares_.info(); }
    std::int64_t size(Split split) const override { return squares_.size(split); }
    std::int64_t readImage(Split split, std::int64_t id,
                           std::span<std::uint8_t> image) const override {
      const std::int64_t label = squares_.readImage(split, id, image);
      if (split != Split::Train || id != negative_) return label;
      for (std::uint8_t& pixel : image) pixel = static_cast<std::uint8_t>(255 - pixel);
      return label;
    }

   private:
    Squares squares_;
    std::int64_t negative_;
  };
  Cached cached;
  for (std::int64_t id = 0; id < 24; ++id) {
    cached.dataset = std::make_shared<OneNegative>(id);
    ASSERT_EQ(cached.dataset->fingerprint(Split::Train, std::vector<std::int64_t>{id}), "");
    (void)cached.open(dataTable());
  }
  EXPECT_EQ(cached.files().size(), 24U) << "every image is part of the key";
}

TEST(LatentCache, IsInMemoryWhereItsFolderCannotBeMade) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "not a folder";
  const Json data = dataTable();
  LatentCacheOptions options{.folder = folder / "file" / "latents"};
  const auto latents = Latents(smallCodec(), pipelineOf(data))
                           .cached(test::transformRegistry(), Config(data), 0, options);
  EXPECT_EQ(latents->field("latent").kind, FieldKind::Latent);
}

TEST(LatentCache, MirrorsHalfOfTheSamplesWhereTrainingFlips) {
  Cached cached;
  const Json data = dataTable("half", 0.5);
  const auto latents = cached.open(data);
  const Latents codec(cached.network, pipelineOf(data));
  const Batch batch = latents->stream(Split::Train, {24, 0, true})->next();
  const Batch images = pipelineOf(data)->read(Split::Train, batch.sampleIds);
  auto& network = *capabilityOf<LatentCodec>(*cached.network.model);
  const auto mirrored = network.encodeLatent(images.at("image").flip({3}));
  EXPECT_TRUE(batch.at("latent_mirrored").allclose(mirrored.mean, 1e-4, 1e-5));
  // The choice comes first, then the noise.
  at::Generator generator = generatorOf(1), same = generatorOf(1);
  const at::Tensor drawn = codec.of(batch, generator);
  const at::Tensor isMirrored = at::rand({24, 1, 1, 1}, same, at::kFloat).lt(0.5);
  const std::int64_t count = isMirrored.sum().item<std::int64_t>();
  EXPECT_TRUE(count > 4 && count < 20) << count;
  const LatentCodec::Latent chosen{
      at::where(isMirrored, batch.at("latent_mirrored"), batch.at("latent")),
      at::where(isMirrored, batch.at("latent_mirrored_log_variance"),
                batch.at("latent_log_variance"))};
  EXPECT_TRUE(
      drawn.equal(chosen.draw(at::randn(chosen.mean.sizes(), same, chosen.mean.options())) * 2.0));
}

TEST(LatentCache, RefusesImagesThatDifferFromEpochToEpoch) {
  Cached cached;
  Json data = dataTable();
  data["augment"]["crop_padding"] = 2;
  EXPECT_THAT([&] { (void)cached.open(data); }, Fails<Error>("random_crop"));
  EXPECT_THAT([&] { (void)cached.open(dataTable("half", 0.3)); },
              Fails<Error>("augment.flip = 0.5"));
  const auto latents = cached.open(dataTable());
  EXPECT_THAT([&] { (void)latents->read(Split::Test, std::vector<std::int64_t>{0}); },
              Fails<Error>("sample 0"));
}

TEST(LatentCache, SplitsAreKeptByThemselves) {
  Cached cached;
  const auto latents = cached.open(dataTable(), {Split::Train, Split::Test});
  EXPECT_EQ(cached.files().size(), 2U);
  EXPECT_EQ(latents->read(Split::Test, std::vector<std::int64_t>{3}).at("latent").sizes(),
            (at::IntArrayRef{1, 2, 4, 4}));
}

/// Opens a cache whose only file was changed. \returns  the sentence
std::string sentenceAfter(const std::function<void(const std::filesystem::path&)>& change) {
  Cached cached;
  (void)cached.open(dataTable());
  change(cached.files().at(0));
  return test::refusal<Error>([&] { (void)cached.open(dataTable()); });
}

TEST(LatentCache, RefusesAFileThatIsCutDamagedOrOfAnotherCodec) {
  const std::string remedy = "; delete the file, the next run makes it again";
  const std::string cut = sentenceAfter([](const auto& file) {
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 5);
  });
  EXPECT_THAT(cut, AllOf(Names(".safetensors"), EndsWith(remedy)));
  const std::string damaged = sentenceAfter([](const auto& file) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(-3, std::ios::end);
    stream.put('\x55');
  });
  EXPECT_THAT(damaged, Names("SHA-256"));
  const std::string other = sentenceAfter([](const auto& file) {
    writeTensors(file, {{"ids", at::arange(3)}, {"mean", at::zeros({3, 1, 2, 4, 4})}},
                 {{"vitrine.latents", R"({"codec": "cccccccccccccccc"})"}});
  });
  EXPECT_THAT(other, Names("cccccccccccc"));
  const std::string unknown = sentenceAfter([](const auto& file) {
    writeTensors(file, {{"ids", at::arange(3)}});
  });
  EXPECT_THAT(unknown, EndsWith(" does not say which latents it holds" + remedy));
}

}  // namespace
}  // namespace vitrine::autoencoder
