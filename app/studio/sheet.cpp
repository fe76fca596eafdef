#include "app/studio/sheet.h"

#include <algorithm>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/files/checkpoint_folder.h"
#include "ui/figures/painting.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr double kSheetWidth = 1200, kGap = 16, kHeading = 44;  // logical pixels
constexpr double kSheetScale = 1.5;                             // device pixels of each
constexpr std::uint64_t kMostSheetBytes = 64U << 20;

struct Drawn {
  std::unique_ptr<Figure> figure;
  bool isWide = false;
};

std::string bytesOfFile(const QString& name) {
  return readTextFile(name.toStdString(), kMostSheetBytes);
}

std::unique_ptr<Figure> figureOfPlace(const Sheet::Place& place, const FigureOf& figureOf,
                                      const FigureStyle& style) {
  std::unique_ptr<Figure> figure;
  if (place.recipe.is_null()) {
    const std::string png = bytesOfFile(place.image);
    const auto* first = reinterpret_cast<const std::byte*>(png.data());
    figure = makeFigure(QString::fromLatin1(artifact_kind::kImage),
                        Json{{"title", place.title.toStdString()}}, {first, first + png.size()});
  } else {
    const auto recipe = recipeFromText(QByteArray::fromStdString(place.recipe.dump()));
    figure = recipe ? figureOf(*recipe) : nullptr;
  }
  if (figure == nullptr || !figure->error().isEmpty()) return nullptr;
  FigureStyle own = figure->style();
  own.theme = style.theme;
  figure->setStyle(own);
  return figure;
}

/// The height that suits that width: the figure's own, else that of a chart.
double heightAt(const Drawn& drawn, double width) {
  constexpr double kChart = 0.62;  // of the width
  const double own = drawn.figure->fittingHeight(width);
  const double wanted = own > 0 ? own : width * (drawn.isWide ? kChart / 2 : kChart);
  return std::max(wanted, drawn.figure->leastHeight(width));
}

}  // namespace

Sheet readSheet(const QString& file) {
  const Json json = readJson(bytesOfFile(file));
  const auto figures = json.is_object() ? json.find("figures") : json.end();
  if (!json.is_object() || figures == json.end() || !figures->is_array())
    throw ConfigError(file.toStdString() + " is not a sheet; it has no list of `figures`");
  Sheet sheet{.title = stateWords(json, "title")};
  for (const Json& entry : *figures) {
    if (!entry.is_object()) continue;
    Sheet::Place place;
    const auto recipe = entry.find("recipe");
    if (recipe != entry.end() && recipe->is_object()) place.recipe = *recipe;
    place.image = stateWords(entry, "image");
    place.title = stateWords(entry, "title");
    const auto wide = entry.find("wide");
    place.isWide = wide != entry.end() && wide->is_boolean() && wide->get<bool>();
    if (!place.recipe.is_null() || !place.image.isEmpty()) sheet.places.push_back(place);
  }
  return sheet;
}

QImage drawSheet(const Sheet& sheet, const FigureOf& figureOf) {
  FigureStyle style{.theme = ThemeKind::Light};
  std::vector<Drawn> all;
  for (const Sheet::Place& place : sheet.places) {
    if (auto figure = figureOfPlace(place, figureOf, style))
      all.push_back({std::move(figure), place.isWide});
  }
  if (all.empty()) throw Error("there is nothing to draw on the sheet; train its runs first");

  // Rows of one wide figure or of two.
  const double inner = kSheetWidth - 2 * kGap, half = (inner - kGap) / 2;
  std::vector<QRectF> places;
  double top = kGap + (sheet.title.isEmpty() ? 0 : kHeading);
  for (std::size_t i = 0; i < all.size();) {
    const bool isPair = !all[i].isWide && i + 1 < all.size() && !all[i + 1].isWide;
    const double width = isPair ? half : inner;
    const bool isAlone = !isPair && !all[i].isWide;
    const double own = isAlone ? half : width;
    double height = heightAt(all[i], own);
    if (isPair) height = std::max(height, heightAt(all[i + 1], half));
    places.emplace_back(kGap, top, own, height);
    if (isPair) places.emplace_back(2 * kGap + half, top, half, height);
    top += height + kGap;
    i += isPair ? 2 : 1;
  }

  const ThemeColors& colors = themeColors(ThemeKind::Light);
  QImage image((QSizeF(kSheetWidth, top) * kSheetScale).toSize(),
               QImage::Format_ARGB32_Premultiplied);
  image.fill(colors.panel);
  QPainter painter(&image);
  painter.scale(kSheetScale, kSheetScale);
  if (!sheet.title.isEmpty()) {
    QFont large = titleFont();
    large.setPixelSize(24);
    painter.setFont(large);
    painter.setPen(colors.text);
    painter.drawText(QRectF(kGap + 12, kGap, inner, kHeading), Qt::AlignLeft | Qt::AlignVCenter,
                     sheet.title);
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i].figure->paint(painter, places[i]);
  painter.end();
  return image;
}

}  // namespace vitrine::ui
