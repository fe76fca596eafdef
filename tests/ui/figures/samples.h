// Small artifacts of every kind, with values that are easy to check.
#pragma once

#include <QBuffer>
#include <QImage>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/artifact/cue_decisions.h"

namespace vitrine::samples {

inline Artifact named(const char* analysis, const char* name, const char* kind) {
  Artifact artifact{analysis, name, kind};
  artifact.meta["split"] = "test";
  return artifact;
}

/// Two layers of two heads with four values; ranks at 80 %: 4 3 | 1 2.
inline Artifact spectrum() {
  Artifact artifact = named("attention_rank", "spectrum", artifact_kind::kSpectrum);
  const std::vector<double> values{1, 1, 1, 1, 2, 1, 1, 0, 9, 1, 0, 0, 3, 2, 1, 0};
  setFloat64(artifact, values, {2, 2, 4}, {"layer", "head", "value"});
  return artifact;
}

/// One layer, two heads, a class token and a grid of 2 x 2 patches: 0.1 on the class token, then
/// the four patches.
inline Artifact attention() {
  Artifact artifact = named("attention_map", "image 0", artifact_kind::kAttention);
  std::vector<float> values;
  for (int head = 0; head < 2; ++head) {
    for (int query = 0; query < 5; ++query) {
      for (int key = 0; key < 5; ++key) {
        values.push_back(key == 0    ? 0.1F
                         : head == 0 ? 0.1F * static_cast<float>(key)
                                     : 0.01F * static_cast<float>(key + query));
      }
    }
  }
  setFloat32(artifact, values, {1, 2, 5, 5}, {"layer", "head", "query", "key"});
  artifact.meta["key_positions"] = {{-1, -1}, {0, 0}, {0, 1}, {1, 0}, {1, 1}};
  artifact.meta["query_positions"] = artifact.meta["key_positions"];
  return artifact;
}

/// Decisions on ten images each of a circle and a square.
inline Artifact cueDecisions() {
  Artifact artifact = named("shape_bias", "decisions", artifact_kind::kCueDecisions);
  setFloat64(artifact, std::vector<double>{10, 2, 6, 10, 6, 2}, {2, 3}, {"class", "counts"});
  artifact.meta["class_names"] = {"circle", "square"};
  return artifact;
}

/// Ten bins; `accuracy` and `confidence` from functions of the middle of a bin.
template <class Accuracy, class Confidence>
Artifact reliability(Accuracy accuracy, Confidence confidence) {
  Artifact artifact = named("calibration", "reliability", artifact_kind::kReliability);
  std::vector<double> values;
  for (int bin = 0; bin < 10; ++bin) {
    const double middle = (bin + 0.5) / 10;
    values.insert(values.end(),
                  {bin / 10.0, (bin + 1) / 10.0, 100, confidence(middle), accuracy(middle)});
  }
  setFloat64(artifact, values, {10, 5}, {"bin", "field"});
  return artifact;
}

inline Artifact confusion() {
  Artifact artifact = named("classification", "confusion", artifact_kind::kMatrix);
  setFloat32(artifact, std::vector<float>{8, 2, 0, 1, 5, 4, 0, 0, 10}, {3, 3},
             {"true", "predicted"});
  artifact.meta["classes"] = {"coat", "shirt", "bag"};
  return artifact;
}

inline Artifact heatmap() {
  Artifact artifact = named("other", "map", artifact_kind::kHeatmap);
  setFloat32(artifact, std::vector<float>{0, 1, 2, 3, 4, 5}, {2, 3}, {"row", "column"});
  return artifact;
}

inline Artifact curve() {
  Artifact artifact = named("other", "curve", artifact_kind::kCurve);
  setFloat64(artifact, std::vector<double>{0, 1, 1, 4, 2, std::nan(""), 3, 9}, {4, 2},
             {"point", "xy"});
  return artifact;
}

inline Artifact histogram() {
  Artifact artifact = named("other", "histogram", artifact_kind::kHistogram);
  setFloat64(artifact, std::vector<double>{0, 1, 5, 1, 2, 7}, {2, 3}, {"bin", "field"});
  return artifact;
}

inline Artifact table() {
  Artifact artifact = named("classification", "per class", artifact_kind::kTable);
  Json table;
  table["columns"] = {"class", "samples", "accuracy"};
  table["rows"] = {{"coat, long", 1000, 0.5}, {"bag", 1000, 0.125}, {"shirt", nullptr, nullptr}};
  setJson(artifact, table);
  return artifact;
}

inline Artifact imageGrid() {
  Artifact artifact = named("other", "grid", artifact_kind::kImageGrid);
  std::vector<std::uint8_t> pixels;
  for (int image = 0; image < 3; ++image) {
    for (int pixel = 0; pixel < 4; ++pixel)
      pixels.push_back(static_cast<std::uint8_t>(60 * image + pixel));
  }
  setUint8(artifact, pixels, {3, 2, 2, 1}, {"image", "row", "column", "channel"});
  return artifact;
}

inline Artifact image() {
  Artifact artifact = named("other", "image", artifact_kind::kImage);
  QImage picture(2, 1, QImage::Format_RGB32);
  picture.setPixelColor(0, 0, QColor(255, 0, 0));
  picture.setPixelColor(1, 0, QColor(0, 0, 255));
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  picture.save(&buffer, "PNG");
  const auto* data = reinterpret_cast<const std::byte*>(bytes.constData());
  artifact.data.assign(data, data + bytes.size());
  return artifact;
}

inline std::vector<Artifact> all() {
  const auto same = [](double middle) { return middle; };
  return {spectrum(),  attention(), reliability(same, same),
          confusion(), heatmap(),   curve(),
          histogram(), table(),     imageGrid(),
          image()};
}

}  // namespace vitrine::samples
