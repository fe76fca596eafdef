// normalize: bytes to floats, by mean and deviation of each channel.
#include <array>

#include "core/base/error.h"
#include "core/base/text.h"
#include "plugins/transforms/transforms.h"

namespace vitrine::transforms {

namespace {

using Table = std::array<float, 256>;  // byte -> normalised value

std::vector<Table> tablesFor(std::size_t channels, std::vector<double> mean,
                             std::vector<double> deviation) {
  if (mean.empty()) mean.assign(channels, 0.0);
  if (deviation.empty()) deviation.assign(channels, 1.0);
  if (mean.size() != channels || deviation.size() != channels) {
    throw ConfigError("normalising takes one mean and one deviation per channel: " +
                      std::to_string(mean.size()) + " and " + std::to_string(deviation.size()) +
                      " are given for " + std::to_string(channels) + " channels");
  }
  std::vector<Table> tables(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    if (!(deviation[c] > 0)) {
      throw ConfigError("a deviation to normalise by must be above 0, not " +
                        formatReal(deviation[c]));
    }
    for (std::size_t byte = 0; byte < 256; ++byte) {
      tables[c][byte] =
          static_cast<float>((static_cast<double>(byte) / 255 - mean[c]) / deviation[c]);
    }
  }
  return tables;
}

class Normalize final : public Transform {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Transform, "normalize", "Normalise",
                             "Pixels to floats: (pixel / 255 - mean) / deviation of each channel");
    card.needs = {"image"};
    Field by = choiceField("by", "dataset", {"dataset", "half", "none", "values"},
                           "source of mean and deviation")
                   .titled("By");
    by.withChoiceDocs({"those of the data set", "1/2 and 1/2: to [-1, 1]", "0 and 1: to [0, 1]",
                       "`mean` and `deviation`"});
    card.schema.fields = runOnly(
        {by,
         listField("mean", FieldType::Real, Json::array(), "per channel").titled("Channel means"),
         listField("deviation", FieldType::Real, Json::array(), "per channel")
             .titled("Channel deviations")
             .moreThan(0)});
    return card;
  }

  std::vector<SampleField> fields(const Config&, const TransformContext& context) const override {
    std::vector<SampleField> fields = context.fields;
    for (SampleField& field : fields) {
      if (field.kind == FieldKind::Image) field.type = at::kFloat;
    }
    return fields;
  }

  std::unique_ptr<SampleTransform> forSamples(const Config& config,
                                              const TransformContext& context) const override {
    std::vector<std::string> images;
    std::int64_t channels = 0;
    for (const SampleField& field : context.fields) {
      if (field.kind != FieldKind::Image) continue;
      if (field.type != at::kByte)
        throw ConfigError("data.pipeline: normalize works on bytes; keep one of them");
      if (!images.empty() && field.shape[0] != channels)
        throw ConfigError("data.pipeline: normalize: the images '" + images.front() + "' and '" +
                          field.name + "' differ in their number of channels");
      channels = field.shape[0];
      images.push_back(field.name);
    }
    const std::string by = config.text("by");
    const auto count = static_cast<std::size_t>(channels);
    std::vector<double> mean, deviation;
    if (by == "dataset") {
      mean = context.dataset->mean;
      deviation = context.dataset->deviation;
    } else if (by == "half") {
      mean.assign(count, 0.5);
      deviation.assign(count, 0.5);
    } else if (by == "values") {
      mean = config.reals("mean");
      deviation = config.reals("deviation");
    }
    return onSamples([images = std::move(images),
                      tables = tablesFor(count, std::move(mean), std::move(deviation)),
                      scratch = SampleValue()](Sample& sample, const Draws&) mutable {
      for (const std::string& name : images) {
        SampleValue& value = sample[name];
        const std::span<const std::uint8_t> in = value.get<std::uint8_t>();
        const std::span<float> out =
            scratch.resize<float>(std::span<const std::int64_t>(value.shape()));
        const std::size_t plane = in.size() / tables.size();
        for (std::size_t c = 0; c < tables.size(); ++c) {
          const Table& table = tables[c];
          const std::uint8_t* from = in.data() + c * plane;
          float* to = out.data() + c * plane;
          for (std::size_t i = 0; i < plane; ++i) to[i] = table[from[i]];
        }
        value.swap(scratch);
      }
    });
  }
};

}  // namespace

std::unique_ptr<Transform> makeNormalize() { return std::make_unique<Normalize>(); }

}  // namespace vitrine::transforms
