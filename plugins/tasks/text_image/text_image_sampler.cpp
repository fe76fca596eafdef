#include <ATen/ATen.h>

#include <charconv>

#include "core/base/error.h"
#include "core/diffusion/guidance.h"
#include "core/files/read_png.h"
#include "core/plugin/text_session.h"
#include "plugins/tasks/text_image/noise_steps.h"
#include "plugins/tasks/text_image/sequences.h"
#include "plugins/tasks/text_image/text_image.h"

namespace vitrine::text_image {

namespace {

/// The model and the words of a run.
struct Studio {
  TextImageModel& model;
  LanguageModel& language;
  const text::Tokenizer& tokenizer;
  TextImageModel::Sizes sizes;
};

/// A cache of BOS, a caption and BOI.
std::unique_ptr<LanguageModel::Cache> promptCache(const Studio& studio, const std::string& prompt,
                                                  at::Device device) {
  text::TokenIds tokens{studio.sizes.beginText};
  const text::TokenIds body = studio.tokenizer.encode(prompt, "the prompt");
  tokens.insert(tokens.end(), body.begin(), body.end());
  tokens.push_back(studio.sizes.beginImage);
  const std::int64_t context = studio.language.contextLength();
  const std::int64_t wanted = std::ssize(tokens) + studio.sizes.imageTokens;
  if (context > 0 && wanted > context) {
    throw ConfigError("a prompt of " + std::to_string(body.size()) + " tokens and an image of " +
                      std::to_string(studio.sizes.imageTokens) + " need a context of " +
                      std::to_string(wanted) + ", the model's is " + std::to_string(context) +
                      "; shorten the prompt");
  }
  auto cache = studio.language.makeCache(1);
  (void)studio.language.next(at::tensor(tokens, at::kLong).unsqueeze(0).to(device), cache.get(),
                             LanguageModel::Rows::Last);
  return cache;
}

GeneratedImage pictureOf(const at::Tensor& x, const TextImageModel::Sizes& sizes) {
  const at::Tensor bytes = (x[0].permute({1, 2, 0}).to(at::kCPU, at::kFloat) * 127.5 + 127.5)
                               .round()
                               .clamp(0, 255)
                               .to(at::kByte)
                               .contiguous();
  return generatedImage(
      {bytes.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(bytes.numel())}, sizes.height,
      sizes.width, sizes.channels);
}

void draw(const Studio& studio, const SampleRequest& request, Results& results) {
  const Config& config = request.config;
  const std::vector<NoiseStep> steps =
      noiseSteps(studio.model.keptShares(), config.integer("steps"));
  const double guidance = config.real("guidance");
  const std::optional<double> clip = config.maybeReal("clip");
  const auto conditional = promptCache(studio, config.text("prompt"), request.device);
  const auto unconditional = promptCache(studio, "", request.device);
  const std::int64_t count = config.integer("count");
  const std::vector<std::int64_t> shape{1, studio.sizes.channels, studio.sizes.height,
                                        studio.sizes.width};
  for (std::int64_t i = 0; i < count && !results.isCancelled(); ++i) {
    const auto seed = static_cast<std::uint64_t>(config.integer("seed") + i);
    at::Tensor x = sampleNoise(seed, shape).to(request.device);
    std::uint64_t number = 0;
    for (const NoiseStep& step : steps) {
      const at::Tensor time = at::full({1}, step.time, x.options().dtype(at::kLong));
      const auto noiseOf = [&](LanguageModel::Cache& cache) {
        return studio.model.noiseAfter(cache, x, time, TextImageModel::Keep::No);
      };
      at::Tensor noise = noiseOf(*conditional);
      if (guidance != 1) noise = diffusion::guided(noise, noiseOf(*unconditional), guidance);
      x = stepDown(step, x, noise, clip).mean;
      if (step.variance > 0)
        x = x + std::sqrt(step.variance) * sampleNoise(seed, shape, ++number).to(request.device);
      if (results.isCancelled()) return;
    }
    GeneratedImage image = pictureOf(x, studio.sizes);
    image.seed = seed;
    image.recipe = recipeOf(request, "text_image", seed);
    results.image(std::move(image));
    results.progress(i + 1, count);
  }
}

/// A PNG file as the model sees images: its size and channels, [1, channels, height, width] in
/// [-1, 1]. \throws FileError, NotFoundError  see readPng(); an image of another size
at::Tensor imageOf(const std::string& file, const TextImageModel::Sizes& sizes) {
  const PngPixels png = readPng(file);
  const bool isOfSize = png.height == sizes.height && png.width == sizes.width;
  const bool hasColors = png.channels > 2;
  if (!isOfSize || (hasColors ? 3 : 1) != sizes.channels) {
    throw FileError(file + " is a " + (hasColors ? "colour" : "grey") + " image of " +
                    std::to_string(png.height) + " x " + std::to_string(png.width) +
                    " pixels; the model reads " + std::to_string(sizes.height) + " x " +
                    std::to_string(sizes.width) + " with " + std::to_string(sizes.channels) +
                    (sizes.channels == 1 ? " channel" : " channels"));
  }
  const at::Tensor bytes =
      at::tensor(std::vector<std::int64_t>(png.pixels.begin(), png.pixels.end()), at::kLong)
          .view({1, png.height, png.width, png.channels});
  return bytes.narrow(3, 0, sizes.channels).permute({0, 3, 1, 2}).to(at::kFloat).div(127.5) - 1;
}

/// "test/17" as split and id; nothing where the name is not of that form.
std::optional<std::pair<Split, std::int64_t>> sampleNamed(const std::string& name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return {};
  std::int64_t id = -1;
  const char* end = name.data() + name.size();
  const auto [after, error] = std::from_chars(name.data() + slash + 1, end, id);
  if (error != std::errc() || after != end || id < 0) return {};
  for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
    if (toString(split) == name.substr(0, slash)) return std::pair{split, id};
  }
  return {};
}

void describe(const Studio& studio, const SampleRequest& request, Results& results) {
  const std::string name = request.config.text("image");
  const auto sample = sampleNamed(name);
  const std::int64_t count = sample ? request.config.integer("count") : 1;
  for (std::int64_t i = 0; i < count && !results.isCancelled(); ++i) {
    const at::Tensor image =
        sample ? request.session.read(sample->first, {sample->second + i}).at("image")
               : imageOf(name, studio.sizes);
    const auto captions = greedyCaptions(studio.model, studio.language, image.to(request.device),
                                         request.config.integer("max_tokens"));
    GeneratedText text;
    text.seed = static_cast<std::uint64_t>(request.config.integer("seed") + i);
    text.prompt =
        sample ? toString(sample->first) + "/" + std::to_string(sample->second + i) : name;
    text.text = studio.tokenizer.decode(captions.at(0));
    text.recipe = recipeOf(request, "text_image", text.seed);
    results.text(std::move(text));
    results.progress(i + 1, count);
  }
}

}  // namespace

ItemCard TextImageSampler::card() const {
  ItemCard card;
  card.kind = ItemKind::Sampler;
  card.id = "text_image";
  card.title = "Texts and images";
  card.doc = "Draws what a prompt says, or describes an image of the data";
  card.needs = {TextImageModel::kId, LanguageModel::kId};
  card.schema.fields = {
      textField("prompt", "", "caption of the image that is drawn").titled("Prompt"),
      textField("image", nullptr,
                "a PNG file to describe instead, or a sample of the data, as in test/17")
          .titled("Image")
          .orNone(),
      integerField("steps", 50, "steps of the noise; the published models take 250")
          .titled("Steps")
          .range(1, 1000),
      realField("guidance", 1.55, "1: the caption alone; above: away from images without caption")
          .titled("Guidance")
          .range(0, 100),
      realField("clip", 1.0, "clean images are held in [-clip, clip]; none: not held")
          .titled("Clip")
          .moreThan(0)
          .orNone(),
      integerField("max_tokens", 64, "tokens of a description at most")
          .titled("New tokens")
          .range(1, 1 << 20)
          .withUnit("tokens")};
  return card;
}

Sampler::Fit TextImageSampler::fit(TaskSession& session) const {
  return dynamic_cast<const TextSession*>(&session) == nullptr ? Fit::None : Fit::Preferred;
}

void TextImageSampler::sample(const SampleRequest& request, Results& results) const {
  auto* session = dynamic_cast<TextSession*>(&request.session);
  if (session == nullptr) {
    throw RefusedError(
        "sampler 'text_image' needs a run whose task reads captions; this run's task does not");
  }
  Model& model = request.session.model();
  auto& images = requireCapability<TextImageModel>(model, "sampler 'text_image'");
  const Studio studio{images, requireCapability<LanguageModel>(model, "sampler 'text_image'"),
                      *session->texts().tokenizer, images.textImageSizes()};
  if (request.config.has("image"))
    describe(studio, request, results);
  else
    draw(studio, request, results);
}

}  // namespace vitrine::text_image
