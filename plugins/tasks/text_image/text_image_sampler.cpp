#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <span>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/luma.h"
#include "core/base/parse_number.h"
#include "core/base/sha256.h"
#include "core/config/item_card.h"
#include "core/data/image_codec.h"
#include "core/data/resample.h"
#include "core/data/sample.h"
#include "core/diffusion/patch_attention.h"
#include "core/plugin/text_session.h"
#include "plugins/tasks/text_image/draw.h"
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
  double captionDrop = 1;                ///< of the run; 1: of a task that does not report it
  AttentionSource* attention = nullptr;  ///< nullptr: the model hands out none
};

/// [C, H, W] bytes of one image as the store keeps them.
GeneratedImage pictureOf(const at::Tensor& image) {
  const at::Tensor pixels = image.permute({1, 2, 0}).contiguous();
  return generatedImage(
      {pixels.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(pixels.numel())},
      pixels.size(0), pixels.size(1), pixels.size(2));
}

double captionDropOf(TaskSession& session) {
  const auto* captioned = dynamic_cast<const CaptionedSession*>(&session);
  return captioned == nullptr ? 1 : captioned->captionDrop();
}

void draw(const Studio& studio, const SampleRequest& request, Results& results) {
  const Config& config = request.config;
  const DrawSettings settings{config.integer("steps"),
                              guidanceOf(config.maybeReal("guidance"), studio.captionDrop),
                              config.maybeReal("clip")};
  const text::TokenIds prompt = studio.tokenizer.encode(config.text("prompt"), "the prompt");
  const auto patch = askedPatch(config, studio.attention);
  std::vector<std::string> words =
      wordsOf(prompted(prompt, studio.sizes), studio.sizes, studio.tokenizer);
  words.resize(words.size() + static_cast<std::size_t>(studio.sizes.imageTokens));
  const std::int64_t count = config.integer("count"), most = config.integer("batch_size");
  const auto first = static_cast<std::uint64_t>(config.integer("seed"));
  for (std::int64_t done = 0; done < count && !results.isCancelled(); done += most) {
    std::vector<std::uint64_t> seeds;
    for (std::int64_t i = done; i < std::min(done + most, count); ++i)
      seeds.push_back(first + static_cast<std::uint64_t>(i));
    const auto size = std::ssize(seeds);
    // Progress is in thousandths of an image.
    constexpr double kParts = 1000;
    PreviewClock previews(config.integer("previews"));
    std::optional<PatchAttention> attention;
    if (patch) attention.emplace(*studio.attention, *patch, size);
    const auto goesOn = [&](const DrawStep& step) {
      results.progress(std::llround(kParts * (static_cast<double>(done) +
                                              step.share * static_cast<double>(size))),
                       std::llround(kParts * static_cast<double>(count)));
      if (previews.isDue(step.share)) {
        Artifact preview = previewOf("text_image", bytesOf(step.clean), step.time, seeds.front());
        preview.meta["captions"] = std::vector(seeds.size(), config.text("prompt"));
        results.artifact(std::move(preview));
        for (std::int64_t i = 0; attention && i < size; ++i) {
          Artifact map =
              attention->ofImage("text_image", i, seeds[static_cast<std::size_t>(i)], step.time);
          map.meta["query_words"] = Json::array({""});
          map.meta["key_words"] = words;
          results.artifact(std::move(map));
        }
      }
      return !results.isCancelled();
    };
    const at::Tensor images =
        drawnImages(studio.model, studio.language, prompt, seeds, settings, request.device, goesOn);
    if (!images.defined()) return;
    if (const std::string why = notFinite(images, seeds); !why.empty()) throw RefusedError(why);
    const at::Tensor bytes = bytesOf(images);
    for (std::int64_t i = 0; i < size; ++i) {
      GeneratedImage image = pictureOf(bytes[i]);
      image.seed = seeds[static_cast<std::size_t>(i)];
      image.recipe = recipeOf(request, "text_image", image.seed);
      image.recipe["settings"]["guidance"] = settings.guidance;
      image.recipe["batch"] = {{"first_seed", seeds.front()}, {"size", size}};
      image.recipe["threads"] = at::get_num_threads();
      results.image(std::move(image));
    }
  }
}

/// An image file as the model sees images: its size and channels, [1, channels, height, width] in
/// [-1, 1]. Of another size the largest window of the model's proportions in the middle is resized,
/// and the log says so. \throws FileError, NotFoundError
at::Tensor imageOf(const std::string& file, const TextImageModel::Sizes& sizes) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    throw NotFoundError("there is no image " + file);
  SampleValue decoded;
  decodeImageFile(file, 3, decoded);
  const std::int64_t rows = decoded.shape()[1], columns = decoded.shape()[2];
  std::span<std::uint8_t> planes = decoded.edit<std::uint8_t>();
  const std::size_t size = planes.size() / 3;
  const auto red = planes.first(size), green = planes.subspan(size, size), blue = planes.last(size);
  const bool hasColors = !std::ranges::equal(red, green) || !std::ranges::equal(red, blue);
  if (sizes.channels == 1) {
    for (std::size_t i = 0; i < size; ++i)
      red[i] = static_cast<std::uint8_t>(std::lround(lumaOf(red[i], green[i], blue[i])));
    planes = red;
  }
  at::Tensor image = at::empty({1, sizes.channels, sizes.height, sizes.width}, at::kByte);
  const auto height = static_cast<double>(rows), width = static_cast<double>(columns);
  const double scale = std::min(height / static_cast<double>(sizes.height),
                                width / static_cast<double>(sizes.width));
  const double top = (height - scale * static_cast<double>(sizes.height)) / 2,
               left = (width - scale * static_cast<double>(sizes.width)) / 2;
  Resampler(ResampleFilter::Bilinear, rows, columns,
            {std::max(top, 0.0), std::max(left, 0.0), std::min(height - top, height),
             std::min(width - left, width)},
            sizes.height, sizes.width)
      .apply(sizes.channels, planes,
             {image.data_ptr<std::uint8_t>(), static_cast<std::size_t>(image.numel())});
  if (rows != sizes.height || columns != sizes.width || hasColors != (sizes.channels > 1)) {
    const auto text = [](std::int64_t high, std::int64_t wide, bool isColored) {
      return std::to_string(high) + " x " + std::to_string(wide) + " pixels in " +
             (isColored ? "colour" : "grey");
    };
    log::info(file + ", " + text(rows, columns, hasColors) + ", is read as " +
              text(sizes.height, sizes.width, sizes.channels > 1));
  }
  return image.to(at::kFloat).div(127.5) - 1;
}

/// "test/17" as split and id; nothing where the name is not of that form.
std::optional<std::pair<Split, std::int64_t>> sampleNamed(const std::string& name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return {};
  const auto id = parseNumber<std::int64_t>(std::string_view(name).substr(slash + 1));
  if (!id || *id < 0) return {};
  for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
    if (toString(split) == name.substr(0, slash)) return std::pair{split, *id};
  }
  return {};
}

void describe(const Studio& studio, const SampleRequest& request, Results& results) {
  const std::string name = request.config.text("image");
  if (!request.config.text("prompt").empty()) {
    throw ConfigError(
        "an image is described and a prompt is drawn; give either image or prompt, not both");
  }
  const std::int64_t most = request.config.integer("max_tokens"),
                     context = studio.language.contextLength(),
                     room = captionRoom(studio.sizes, context, most);
  if (room < most) {
    throw ConfigError("an image of " + std::to_string(studio.sizes.imageTokens) +
                      " tokens and max_tokens = " + std::to_string(most) +
                      " are more than the model's context of " + std::to_string(context) +
                      "; set max_tokens to at most " + std::to_string(room));
  }
  const auto sample = sampleNamed(name);
  const std::int64_t count = sample ? request.config.integer("count") : 1;
  for (std::int64_t i = 0; i < count && !results.isCancelled(); ++i) {
    const at::Tensor image =
        sample ? request.session.read(sample->first, {sample->second + i}).at("image")
               : imageOf(name, studio.sizes);
    const auto captions =
        greedyCaptions(studio.model, studio.language, image.to(request.device), most);
    GeneratedText text;
    text.seed = static_cast<std::uint64_t>(request.config.integer("seed") + i);
    text.prompt =
        sample ? toString(sample->first) + "/" + std::to_string(sample->second + i) : name;
    text.text = studio.tokenizer.decode(captions.at(0));
    text.recipe = recipeOf(request, "text_image", text.seed);
    if (!sample) text.recipe["image_sha256"] = sha256OfFile(name);
    results.text(std::move(text));
    results.progress(i + 1, count);
  }
}

}  // namespace

ItemCard TextImageSampler::card() const {
  ItemCard card = itemCard(ItemKind::Sampler, "text_image", "Texts and images",
                           "Draws what a prompt says, or describes an image of the data");
  card.needs = {TextImageModel::kId, LanguageModel::kId};
  card.schema.fields = {
      textField("prompt", "", "caption of the image that is drawn").titled("Prompt"),
      textField("image", nullptr,
                "an image file of any size to describe instead, or a sample of the data, as in "
                "test/17")
          .titled("Image")
          .orNone(),
      integerField("steps", 50, "steps of the noise; the published models take 250")
          .titled("Steps")
          .range(1, 1000),
      realField("guidance", nullptr,
                "1: the caption alone, and all there is where training left out no captions; "
                "above: away from images without caption; none: 1.55, if possible")
          .titled("Guidance")
          .range(0, 100)
          .orNone(),
      realField("clip", 1.0, "clean images are held in [-clip, clip]; none: not held")
          .titled("Clip")
          .moreThan(0)
          .orNone(),
      integerField("batch_size", 16, "images drawn together").titled("Batch size").range(1, 4096),
      previewsField(),
      attentionField(),
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
  const Studio studio{images,
                      requireCapability<LanguageModel>(model, "sampler 'text_image'"),
                      *session->texts().tokenizer,
                      images.textImageSizes(),
                      captionDropOf(request.session),
                      capabilityOf<AttentionSource>(model)};
  if (request.config.has("image"))
    describe(studio, request, results);
  else
    draw(studio, request, results);
}

}  // namespace vitrine::text_image
