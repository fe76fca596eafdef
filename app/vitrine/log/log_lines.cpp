#include "app/vitrine/log/log_lines.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "app/vitrine/log/log_fields.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/files/image_header.h"
#include "core/files/png.h"
#include "core/files/read_png.h"

namespace vitrine::app {

namespace {

constexpr std::size_t kLongestName = 1000;  // bytes of a metric or an artifact
constexpr const char* kAnalysis = "script";

std::string nameField(const Json& line) {
  std::string name = textField(line, "name");
  if (name.empty() || name.size() > kLongestName)
    throw BadLine("'name' has " + std::to_string(name.size()) + " bytes; it has to have 1 to " +
                  std::to_string(kLongestName));
  return name;
}

Artifact artifactOf(const Json& line, const char* kind) {
  Artifact artifact{kAnalysis, nameField(line), kind};
  artifact.step = countField(line, "step", 0);
  if (const std::string title = textField(line, "title", ""); !title.empty())
    artifact.meta["title"] = title;
  return artifact;
}

/// Images of one size as they came: [count, height, width, channels].
struct Pixels {
  std::int64_t count = 1, height = 0, width = 0, channels = 1;
  bool isSeveral = false;
  std::vector<std::uint8_t> bytes;
};

Pixels pixelsOf(const Json& line) {
  const auto shape = line.find("shape");
  const auto isSide = [](const Json& side) {
    return side.is_number_unsigned() && side.get<std::uint64_t>() > 0 &&
           side.get<std::uint64_t>() <= 65'536;
  };
  if (shape == line.end() || !shape->is_array() || shape->size() < 2 || shape->size() > 4 ||
      !std::all_of(shape->begin(), shape->end(), isSide))
    throw BadLine("'shape' is " + (shape == line.end() ? "missing" : shownValue(*shape)) +
                  "; it has to be [height, width], [height, width, channels] or [images, height, "
                  "width, channels], each from 1 to 65,536");
  std::vector<std::int64_t> sides;
  for (const Json& side : *shape) sides.push_back(side.get<std::int64_t>());
  Pixels pixels{.isSeveral = sides.size() == 4};
  if (pixels.isSeveral) {
    pixels.count = sides.front();
    sides.erase(sides.begin());
  }
  pixels.height = sides[0];
  pixels.width = sides[1];
  if (sides.size() == 3) pixels.channels = sides[2];
  if (pixels.channels != 1 && pixels.channels != 3 && pixels.channels != 4)
    throw BadLine("'shape' is " + shownValue(*shape) +
                  "; an image has 1 (grey), 3 (RGB) or 4 (RGBA) channels, the last number");
  const std::vector<std::byte> bytes = bytesField(line, "pixels");
  // Each factor is at most 65,536: the product of four can be 2^64.
  const double wanted = static_cast<double>(pixels.count) * static_cast<double>(pixels.height) *
                        static_cast<double>(pixels.width) * static_cast<double>(pixels.channels);
  if (static_cast<double>(bytes.size()) != wanted)
    throw BadLine("'pixels' has " + std::to_string(bytes.size()) + " bytes, and 'shape' " +
                  shownValue(*shape) + " wants " + formatReal(wanted));
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  pixels.bytes.assign(first, first + bytes.size());
  return pixels;
}

/// null is as good as absent.
bool has(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && !found->is_null();
}

std::vector<std::byte> pngField(const Json& line) {
  std::vector<std::byte> png = bytesField(line, "png");
  try {
    if (inspectImage(png, "'png'").format != ImageFormat::Png)
      throw BadLine("'png' is not a PNG; write 'pixels' and 'shape', or convert the image");
  } catch (const FileError& error) {
    throw BadLine(error.what());
  }
  return png;
}

void setImage(Artifact& artifact, std::vector<std::byte> png, std::int64_t height,
              std::int64_t width, std::int64_t channels) {
  artifact.kind = artifact_kind::kImage;
  artifact.meta["version"] = 1;
  artifact.meta["dtype"] = "png";
  artifact.meta["shape"] = {height, width, channels};
  artifact.meta["axes"] = {"row", "column", "channel"};
  artifact.data = std::move(png);
}

/// Rows of equal length. \param width  cells of each; 0: that of the first
void requireRows(const Json& rows, const char* key, std::size_t width) {
  if (!rows.is_array() || rows.empty())
    throw BadLine(std::string("'") + key + "' has to be a list of rows, each a list of cells");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].is_array())
      throw BadLine("row " + std::to_string(i + 1) + " is " + shownValue(rows[i]) +
                    "; it has to be a list of cells");
    if (width == 0) width = rows[i].size();
    if (rows[i].size() != width || width == 0)
      throw BadLine("row " + std::to_string(i + 1) + " has " + std::to_string(rows[i].size()) +
                    " cells; it has to have " + std::to_string(std::max<std::size_t>(width, 1)));
  }
}

void setLabels(Artifact& artifact, const Json& line, const char* key, std::size_t count) {
  const std::vector<std::string> labels = textsField(line, key);
  if (labels.empty()) return;
  if (labels.size() != count)
    throw BadLine(std::string("'") + key + "' has " + std::to_string(labels.size()) +
                  " texts; it has to have " + std::to_string(count));
  artifact.meta[key] = labels;
}

/// One of a few words.
std::string choiceField(const Json& line, const char* key, const char* otherwise,
                        const std::vector<std::string>& choices) {
  std::string word = textField(line, key, otherwise);
  if (std::find(choices.begin(), choices.end(), word) == choices.end())
    throw BadLine(std::string("'") + key + "' is '" + shorten(word, 60) +
                  "'; it has to be one of " + joined(choices));
  return word;
}

}  // namespace

Json logLine(std::string_view text) {
  Json line = readJson(text);
  if (line.is_object()) return line;
  throw BadLine(line.is_discarded()
                    ? "this is not JSON: " + Json(shorten(cleanUtf8(text), 60)).dump()
                    : "this is " + shownValue(line) + "; it has to be a JSON object");
}

std::string typeOf(const Json& line) { return textField(line, "type"); }

RunLine runLine(const Json& line) {
  RunLine run;
  run.environment = objectField(line, "environment");
  run.totalSteps = countField(line, "steps", 0);
  run.tags = textsField(line, "tags");
  run.note = textField(line, "note", "");
  if (has(line, "resume")) {
    const Json& resume = line.at("resume");
    if (!resume.is_string() && !resume.is_number_unsigned())
      throw BadLine("'resume' is " + shownValue(resume) +
                    "; it has to be the id or the UUID of a run");
    run.resume = resume.is_string() ? resume.get<std::string>()
                                    : std::to_string(resume.get<std::uint64_t>());
    if (has(line, "step")) run.atStep = countField(line, "step");
    return run;
  }
  run.experiment = textField(line, "experiment");
  if (run.experiment.empty()) throw BadLine("'experiment' is empty; it has to be a title");
  run.variant = textField(line, "variant", "");
  run.seed = seedField(line, "seed");
  run.config = objectField(line, "config");
  run.name = textField(line, "name", "");
  if (run.name.empty()) {
    run.name = run.variant.empty() ? run.experiment : run.variant;
    run.name += ", seed " + std::to_string(run.seed);
  }
  return run;
}

FinishLine finishLine(const Json& line) {
  return {.state = choiceField(line, "state", "done", {"done", "failed", "stopped", "interrupted"}),
          .reason = firstLine(textField(line, "reason", ""))};
}

MetricRecord metricsLine(const Json& line) {
  MetricRecord record{.step = countField(line, "step")};
  const auto values = line.find("values");
  if (values == line.end() || !values->is_object() || values->empty())
    throw BadLine("'values' has to be an object of names and numbers");
  const auto at = [&line](const char* key, double otherwise) {
    const auto found = line.find(key);
    if (found == line.end() || found->is_null()) return otherwise;
    const double value = numberOf(*found, key);
    if (!(value >= 0 && value <= 1e10))
      throw BadLine(std::string("'") + key + "' is " + shownValue(*found) +
                    "; it has to be from 0 to 1e10");
    return value;
  };
  record.epoch = at("epoch", 0);
  record.time = at("time", std::numeric_limits<double>::quiet_NaN());
  record.values.reserve(values->size());
  for (const auto& [name, value] : values->items()) {
    if (name.empty() || name.size() > kLongestName)
      throw BadLine("the name of a metric has " + std::to_string(name.size()) +
                    " bytes; it has to have 1 to " + std::to_string(kLongestName));
    record.values.emplace_back(name, numberOf(value, name));
  }
  return record;
}

MetricDeclaration metricLine(const Json& line) {
  return {.pattern = nameField(line),
          .title = textField(line, "title", ""),
          .unit = textField(line, "unit", ""),
          .direction = choiceField(line, "better", "none", {"lower", "higher", "none"}),
          .definition = textField(line, "definition", "")};
}

Artifact imageLine(const Json& line) {
  Artifact artifact = artifactOf(line, artifact_kind::kImage);
  if (has(line, "png")) {
    std::vector<std::byte> png = pngField(line);
    const ImageHeader header = inspectImage(png, "'png'");
    const std::int64_t channels = pngChannels(png);
    setImage(artifact, std::move(png), header.height, header.width, channels);
    return artifact;
  }
  const Pixels pixels = pixelsOf(line);
  if (pixels.isSeveral) {
    artifact.kind = artifact_kind::kImageGrid;
    setUint8(artifact, pixels.bytes, {pixels.count, pixels.height, pixels.width, pixels.channels},
             {"image", "row", "column", "channel"});
    setLabels(artifact, line, "titles", static_cast<std::size_t>(pixels.count));
  } else {
    setImage(artifact,
             encodePng(pixels.bytes, static_cast<int>(pixels.height),
                       static_cast<int>(pixels.width), static_cast<int>(pixels.channels)),
             pixels.height, pixels.width, pixels.channels);
  }
  return artifact;
}

Artifact tableLine(const Json& line) {
  Artifact artifact = artifactOf(line, artifact_kind::kTable);
  const std::vector<std::string> columns = textsField(line, "columns");
  if (columns.empty()) throw BadLine("'columns' has to be a list of at least one text");
  const auto rows = line.find("rows");
  requireRows(rows == line.end() ? Json() : *rows, "rows", columns.size());
  setJson(artifact, {{"columns", columns}, {"rows", *rows}});
  return artifact;
}

Artifact matrixLine(const Json& line) {
  Artifact artifact = artifactOf(line, artifact_kind::kMatrix);
  const auto found = line.find("values");
  const Json rows = found == line.end() ? Json() : *found;
  requireRows(rows, "values", 0);
  std::vector<float> values;
  for (const Json& row : rows) {
    for (const Json& cell : row) values.push_back(static_cast<float>(numberOf(cell, "values")));
  }
  const std::size_t columns = rows.front().size();
  setFloat32(artifact, values,
             {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns)},
             {"row", "column"});
  setLabels(artifact, line, "row_labels", rows.size());
  setLabels(artifact, line, "column_labels", columns);
  return artifact;
}

GeneratedImage sampleLine(const Json& line) {
  try {
    GeneratedImage image;
    if (has(line, "png")) {
      const PngPixels read = decodePng(pngField(line), "'png'");
      image = generatedImage(read.pixels, read.height, read.width, read.channels);
    } else {
      const Pixels pixels = pixelsOf(line);
      if (pixels.isSeveral) throw BadLine("a sample is one image; write a line for each");
      image = generatedImage(pixels.bytes, pixels.height, pixels.width, pixels.channels);
    }
    image.step = countField(line, "step", 0);
    image.seed = seedField(line, "seed");
    image.recipe = objectField(line, "recipe");
    return image;
  } catch (const Error& error) {
    throw BadLine(error.what());
  }
}

GeneratedText textLine(const Json& line) {
  GeneratedText text;
  text.step = countField(line, "step", 0);
  text.seed = seedField(line, "seed");
  text.recipe = objectField(line, "recipe");
  text.prompt = textField(line, "prompt", "");
  text.text = textField(line, "text");
  return text;
}

EventRecord eventLine(const Json& line) {
  return {.step = countField(line, "step", 0),
          .kind = kAnalysis,
          .text = firstLine(textField(line, "text")),
          .data = objectField(line, "data")};
}

std::string printLine(const Json& line) { return textField(line, "text"); }

Json flushLine(const Json& line) {
  const auto id = line.find("id");
  if (id == line.end() || id->is_null()) return {};
  if (!id->is_number_integer() && !id->is_string())
    throw BadLine("'id' is " + shownValue(*id) + "; it has to be an integer or a text");
  return *id;
}

}  // namespace vitrine::app
