// Artifacts of attention as analyses store them.
#pragma once

#include <QBuffer>
#include <QImage>
#include <string>
#include <vector>

#include "core/artifact/artifact.h"

namespace vitrine::samples {

/// One layer, two heads, a class token and 2 x 2 patches. Head 0: a quarter on each patch but the
/// query's own, which has all of it; head 1: everything on the class token but `other`.
inline Artifact attentionMap(std::int64_t image, int layers = 2, const char* matrix = "effective") {
  Artifact artifact{"attention_map", "image " + std::to_string(image), artifact_kind::kAttention};
  std::vector<float> values;
  for (int layer = 0; layer < layers; ++layer) {
    for (int head = 0; head < 2; ++head) {
      for (int query = 0; query < 5; ++query) {
        for (int key = 0; key < 5; ++key) {
          const bool isOwn = query == key;
          values.push_back(head == 0 ? (isOwn ? 0.6F : 0.1F) : (key == 0 ? 0.8F : 0.05F));
        }
      }
    }
  }
  setFloat32(artifact, values, {layers, 2, 5, 5}, {"layer", "head", "query", "key"});
  std::vector<int> numbers;
  for (int layer = 0; layer < layers; ++layer) numbers.push_back(layer);
  artifact.meta["layers"] = numbers;
  artifact.meta["key_positions"] = {{-1, -1}, {0, 0}, {0, 1}, {1, 0}, {1, 1}};
  artifact.meta["query_positions"] = artifact.meta["key_positions"];
  artifact.meta["attention"] = matrix;
  artifact.meta["image"] = image;
  artifact.meta["weights"] = "model";
  return artifact;
}

/// One layer and head of "a red bag" and its 1 x 2 patches, in that order. Words see those before
/// them, patches all.
inline Artifact captionMap(std::int64_t image) {
  Artifact artifact{"attention_map", "image " + std::to_string(image), artifact_kind::kAttention};
  const std::vector<float> values{1,    0,    0,    0,    0,     //
                                  0.5F, 0.5F, 0,    0,    0,     //
                                  0.2F, 0.2F, 0.6F, 0,    0,     //
                                  0.1F, 0.1F, 0.4F, 0.2F, 0.2F,  //
                                  0.1F, 0.5F, 0.2F, 0.1F, 0.1F};
  setFloat32(artifact, values, {1, 1, 5, 5}, {"layer", "head", "query", "key"});
  artifact.meta["layers"] = {0};
  artifact.meta["key_positions"] = {{-1, -1}, {-1, -1}, {-1, -1}, {0, 0}, {0, 1}};
  artifact.meta["query_positions"] = artifact.meta["key_positions"];
  artifact.meta["key_words"] = {"a", "red", "bag", "", ""};
  artifact.meta["query_words"] = artifact.meta["key_words"];
  artifact.meta["attention"] = "effective";
  artifact.meta["image"] = image;
  artifact.meta["weights"] = "model";
  return artifact;
}

/// What the model looked at: 4 x 4 pixels.
inline Artifact pixels(std::int64_t image) {
  Artifact artifact{"attention_map", "image " + std::to_string(image) + " pixels",
                    artifact_kind::kImage};
  QImage picture(4, 4, QImage::Format_RGB32);
  picture.fill(QColor(200, 40, 40));
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  picture.save(&buffer, "PNG");
  const auto* data = reinterpret_cast<const std::byte*>(bytes.constData());
  artifact.data.assign(data, data + bytes.size());
  artifact.meta["image"] = image;
  artifact.meta["attention"] = "effective";
  return artifact;
}

/// What the first layer of 2 x 2 patches is: the filters of four pixels, and positions of which
/// those in a row are alike and the rows opposed.
inline Artifact positions() {
  Artifact artifact{"first_layer", "positions", artifact_kind::kAttention};
  const std::vector<float> values{1, 0.9F, -1, -1, 0.9F, 1, -1, -1, -1, -1, 1, 1, -1, -1, 1, 1};
  setFloat32(artifact, values, {1, 1, 4, 4}, {"layer", "head", "query", "key"});
  artifact.meta["key_positions"] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  artifact.meta["query_positions"] = artifact.meta["key_positions"];
  artifact.meta["attention"] = "similarity";
  artifact.meta["unit"] = "cosine similarity of positions";
  artifact.meta["image"] = nullptr;
  artifact.meta["weights"] = "model";
  return artifact;
}
inline Artifact filters() {
  Artifact artifact{"first_layer", "filters", artifact_kind::kImageGrid};
  std::vector<std::uint8_t> values;
  for (int i = 0; i < 6 * 4; ++i) values.push_back(static_cast<std::uint8_t>(37 * i));
  setUint8(artifact, values, {6, 2, 2, 1}, {"component", "row", "column", "channel"});
  artifact.meta["title"] = "Principal patch filters";
  artifact.meta["explained"] = {0.5, 0.2, 0.1, 0.1, 0.05, 0.05};
  artifact.meta["weights"] = "model";
  return artifact;
}

inline Artifact atStep(Artifact artifact, std::int64_t step) {
  artifact.step = step;
  return artifact;
}

}  // namespace vitrine::samples
