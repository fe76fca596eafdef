// What another query of the same image costs on Studio's Attention page, in processor time: all
// heads of all layers and the large one are drawn again, from what is in memory.
//   bench_attention [LAYERS] [HEADS] [SIDE] [QUERIES]
#include <QApplication>
#include <QImage>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "tests/bench/frame_times.h"
#include "ui/attention/attention_panel.h"
#include "ui/attention/attention_view.h"
#include "ui/kit/theme.h"

namespace {

namespace ui = vitrine::ui;
using vitrine::bench::ownTime;

// A class token and side x side patches; rows sum to one.
std::shared_ptr<const ui::AttentionImage> imageOf(int layers, int heads, int side) {
  auto image = std::make_shared<ui::AttentionImage>();
  std::vector<ui::TokenGrid::Cell> cells{{}};
  for (int row = 0; row < side; ++row) {
    for (int column = 0; column < side; ++column) cells.push_back({row, column});
  }
  const auto tokens = static_cast<int>(cells.size());
  for (int number = 0; number < layers; ++number) {
    ui::AttentionLayer layer{.number = number, .heads = heads};
    layer.queries = layer.keys = tokens;
    layer.queryGrid = ui::TokenGrid::of(cells);
    layer.queryGrid.frame = QRectF(0, 0, 1, 1);
    layer.keyGrid = layer.queryGrid;
    for (int row = 0; row < heads * tokens; ++row) {
      const std::size_t first = layer.weights.size();
      float sum = 0;
      for (int key = 0; key < tokens; ++key) {
        const float weight = 1.0F / static_cast<float>(1 + (row * 7919 + key * 104729) % 97);
        layer.weights.push_back(weight);
        sum += weight;
      }
      for (std::size_t i = first; i < layer.weights.size(); ++i) layer.weights[i] /= sum;
    }
    image->layers.push_back(std::move(layer));
  }
  image->picture = QImage(16 * side, 16 * side, QImage::Format_RGB32);
  image->picture.fill(Qt::darkGreen);
  return image;
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  ui::applyTheme(ui::ThemeKind::Dark);
  const auto argument = [&](int index, int otherwise) {
    return argc > index ? std::atoi(argv[index]) : otherwise;
  };
  const int layers = argument(1, 12), heads = argument(2, 3), side = argument(3, 14);
  const int queries = argument(4, 200);

  ui::AttentionPanel panel(1);
  panel.resize(1100, 600);
  panel.showImage(imageOf(layers, heads, side), QString());
  panel.show();
  QApplication::processEvents();
  std::vector<double> times;
  for (int i = 0; i < queries; ++i) {
    ui::AttentionChoice choice;
    choice.query.kind = ui::QueryChoice::Kind::Patch;
    choice.query.place = {((i * 5) % side + 0.5) / side, ((i * 3) % side + 0.5) / side};
    const double begin = ownTime();
    panel.scene().setChoice(choice);
    panel.refresh();
    QApplication::processEvents();
    times.push_back(ownTime() - begin);
  }
  std::sort(times.begin(), times.end());
  const auto at = [&times](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  std::printf("%d layers x %d heads, %d x %d patches: query to picture p50 %.2f ms, p99 %.2f ms\n",
              layers, heads, side, side, at(0.5), at(0.99));
  return 0;
}
