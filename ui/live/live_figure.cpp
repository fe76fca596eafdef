// The attention on the screen as a figure: for export, with its values as a table.
#include <algorithm>
#include <cmath>

#include "core/artifact/artifact.h"
#include "ui/figures/figure.h"
#include "ui/kit/series/run_series.h"
#include "ui/live/live_page.h"

namespace vitrine::ui {

namespace {

Json placesJson(const std::vector<live::Place>& places) {
  Json list = Json::array();
  for (const live::Place& place : places) {
    if (std::isnan(place.row)) return Json::array();
    list.push_back({place.row, place.column});
  }
  return list;
}

}  // namespace

std::unique_ptr<Figure> LivePage::figure() {
  const LiveModel::FramePointer frame = model_.shown();
  const live::AttentionLayer* layer = model_.layerShown();
  if (!frame || layer == nullptr) return nullptr;
  Artifact artifact;
  setFloat32(artifact, layer->weights,
             {1, layer->heads, std::ssize(layer->queries), std::ssize(layer->keys)},
             {"layer", "head", "query", "key"});
  artifact.meta["layers"] = Json::array({layer->layer});
  artifact.meta["attention"] = "effective";
  artifact.meta["query_positions"] = placesJson(layer->queries);
  artifact.meta["key_positions"] = placesJson(layer->keys);
  artifact.meta["image"] = frame->sample;
  artifact.meta["sample_ids"] = Json::array({frame->sample});
  artifact.meta["split"] = frame->split;
  artifact.meta["step"] = frame->step;
  if (frame->label >= 0) artifact.meta["label"] = frame->label;
  if (layer->window >= 0) artifact.meta["window"] = layer->window;
  FigureStyle style;
  style.title = tr("Attention at step %1").arg(count(frame->step));
  style.run = seriesOf(run_);
  style.head = std::min(model_.head, layer->heads - 1);
  if (model_.query.kind == LiveQuery::Kind::Patch)
    style.queryAt = {model_.query.row, model_.query.column};
  const live::Pixels& pixels = frame->pixels;
  if (!pixels.bytes.empty())
    style.picture =
        QImage(pixels.bytes.data(), pixels.width, pixels.height, pixels.width * pixels.channels,
               pixels.channels == 3 ? QImage::Format_RGB888 : QImage::Format_Grayscale8)
            .copy();
  return makeFigure(QString::fromLatin1(artifact_kind::kAttention), artifact.meta,
                    std::move(artifact.data), style);
}

}  // namespace vitrine::ui
