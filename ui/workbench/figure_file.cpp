#include "ui/workbench/figure_file.h"

#include <QBuffer>
#include <QDir>
#include <QObject>
#include <QPageSize>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QXmlStreamReader>
#include <QXmlStreamWriter>
#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "ui/figures/line_chart.h"
#include "ui/figures/painting.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {
namespace {

constexpr double kPointsPerMillimetre = 72 / 25.4;

/// The figure in the style of the paper, and again in its own when this ends.
class OnPaper {
 public:
  OnPaper(Figure& figure, const FigurePaper& paper) : figure_(figure), kept_(figure.style()) {
    figure_.setStyle(paper.styled(kept_));
  }
  ~OnPaper() { figure_.setStyle(kept_); }
  OnPaper(const OnPaper&) = delete;
  OnPaper& operator=(const OnPaper&) = delete;

 private:
  Figure& figure_;
  FigureStyle kept_;
};

QByteArray pngBytes(Figure& figure, const Recipe& recipe) {
  QImage image = paperPicture(figure, recipe.paper, recipe.paper.dotsPerInch / 25.4);
  const int dotsPerMetre = qRound(recipe.paper.dotsPerInch / 0.0254);
  image.setDotsPerMeterX(dotsPerMetre);
  image.setDotsPerMeterY(dotsPerMetre);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  if (!image.convertToFormat(QImage::Format_RGB32).save(&buffer, "PNG"))
    throw Error("the picture was not made: its size is out of bounds; choose a smaller one");
  return withRecipeInPng(bytes, toText(recipe));
}

/// Adds the recipe to a document of Qt's generator, and other fonts for a reader without this one.
/// It adds the width of each text, which then stays in those fonts. \param recipe  must need no
/// escape
QByteArray completed(const QByteArray& drawn, const QByteArray& recipe) {
  QString text = QString::fromUtf8(drawn);
  // The generator escapes markup and keeps what no XML document may hold.
  text.removeIf([](QChar c) {
    return (c < QLatin1Char(' ') && c != QLatin1Char('\n')) || c >= QChar(0xfffe);
  });
  QXmlStreamReader from(text);
  from.setNamespaceProcessing(false);
  QByteArray document;
  QXmlStreamWriter to(&document);
  while (!from.atEnd()) {
    from.readNext();
    if (from.isStartElement() && from.name() == QLatin1String("text")) {
      const QXmlStreamAttributes given = from.attributes();
      const QString words = from.readElementText();
      if (words.trimmed().isEmpty()) continue;
      const QString family = given.value(QLatin1String("font-family")).toString();
      QFont font(family);
      font.setPixelSize(given.value(QLatin1String("font-size")).toInt());
      font.setWeight(QFont::Weight(given.value(QLatin1String("font-weight")).toInt()));
      to.writeStartElement(QStringLiteral("text"));
      for (const QXmlStreamAttribute& one : given) {
        const bool isFamily = one.qualifiedName() == QLatin1String("font-family");
        to.writeAttribute(one.qualifiedName().toString(),
                          isFamily ? family + QStringLiteral(", Helvetica, Arial, sans-serif")
                                   : one.value().toString());
      }
      to.writeAttribute(QStringLiteral("textLength"),
                        QString::number(QFontMetricsF(font).horizontalAdvance(words)));
      to.writeAttribute(QStringLiteral("lengthAdjust"), QStringLiteral("spacingAndGlyphs"));
      to.writeCharacters(words);
      to.writeEndElement();
      continue;
    }
    if (!from.atEnd()) to.writeCurrentToken(from);
  }
  if (from.hasError())
    throw Error("the SVG document was not made: " + from.errorString().toStdString());
  return document.insert(document.indexOf("<defs>"), "<metadata>" + recipe + "</metadata>\n") +
         '\n';
}

QByteArray svgBytes(Figure& figure, const Recipe& recipe) {
  constexpr int kPerMillimetre = 100;  // of the size; the drawing is in the view box
  const FigurePaper sheet = highEnough(figure, recipe.paper);
  const OnPaper paper(figure, sheet);
  const QRectF page(QPointF(0, 0), sheet.logical());
  QBuffer buffer;
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setTitle({});
  generator.setDescription({});
  generator.setResolution(qRound(25.4 * kPerMillimetre));
  generator.setSize((sheet.millimetres() * kPerMillimetre).toSize());
  generator.setViewBox(page);
  QPainter painter(&generator);
  figure.paint(painter, page);
  painter.end();
  return completed(buffer.data(), "vitrine-recipe " + toText(recipe));
}

QByteArray pdfBytes(Figure& figure, const Recipe& recipe) {
  constexpr int kResolution = 1200;
  const FigurePaper sheet = highEnough(figure, recipe.paper);
  const OnPaper paper(figure, sheet);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  {
    QPdfWriter writer(&buffer);
    writer.setResolution(kResolution);
    writer.setCreator(QStringLiteral("Vitrine"));
    const QSizeF millimetres = sheet.millimetres();
    writer.setPageSize(QPageSize(millimetres * kPointsPerMillimetre, QPageSize::Point, QString(),
                                 QPageSize::ExactMatch));
    writer.setPageMargins(QMarginsF(0, 0, 0, 0));
    QPainter painter;
    if (!painter.begin(&writer)) throw Error("the page was not started; choose another size");
    painter.setRenderHint(QPainter::LosslessImageRendering);  // JPEG mixes colours of map cells
    const QSizeF logical = sheet.logical();
    const double scale = millimetres.width() / 25.4 * kResolution / logical.width();
    painter.scale(scale, scale);
    figure.paint(painter, QRectF(QPointF(0, 0), logical));
    painter.end();
  }
  buffer.close();
  return withRecipeInPdf(bytes, toText(recipe));
}

QByteArray csvBytes(Figure& figure, const Recipe& recipe) {
  QByteArray text = "# vitrine-recipe " + toText(recipe) + '\n';
  QString note = figure.note();
  if (!note.isEmpty())
    text += "# " + note.replace(QLatin1Char('\n'), QLatin1Char(' ')).toUtf8() + '\n';
  return text + figure.csv().toUtf8();
}

}  // namespace

QSizeF FigurePaper::logical() const {
  const double axisPixels = axisLetters().pixelSize();
  const double perMillimetre = kPointsPerMillimetre * axisPixels / fontPoints;
  return millimetres() * perMillimetre;
}

FigurePaper paperFor(Figure& figure, FigurePaper paper) {
  if (dynamic_cast<const LineChartFigure*>(&figure) != nullptr) return paper;
  const QSizeF wanted = figure.sizeHint();
  // Half of its size is still read; below that it has the page.
  FigurePaper narrow = paper;
  narrow.width = FigurePaper::kSingleColumn;
  if (paper.width < FigurePaper::kDoubleColumn && wanted.width() > 2 * narrow.logical().width())
    paper.width = FigurePaper::kDoubleColumn;
  const double fits =
      paper.fontPoints * paper.logical().width() / std::max(figure.leastWidth(), 1.0);
  if (fits < paper.fontPoints)
    paper.fontPoints = std::max(fits, std::min(FigurePaper::kLeastPoints, paper.fontPoints));
  paper.ratio = std::clamp(wanted.height() / std::max(wanted.width(), 1.0), 0.1, 2.0);
  const double width = paper.logical().width();
  const OnPaper styled(figure, paper);
  if (const double height = figure.fittingHeight(width); height > 0)
    paper.ratio = std::clamp(height / width, 0.1, 5.0);
  return highEnough(figure, paper);
}

FigurePaper highEnough(Figure& figure, FigurePaper paper) {
  const OnPaper styled(figure, paper);
  const QSizeF logical = paper.logical();
  const double least = figure.leastHeight(logical.width());
  if (least > logical.height()) paper.ratio = least / logical.width();
  return paper;
}

QString paperProblem(Figure& figure, const FigurePaper& paper) {
  const OnPaper styled(figure, paper);
  if (!figure.breaksWords(paper.logical().width())) return {};
  FigurePaper wide = paper;
  wide.width = FigurePaper::kDoubleColumn;
  return paper.width < wide.width && !figure.breaksWords(wide.logical().width())
             ? QObject::tr("Words break at this width: choose the double column.")
             : QObject::tr("Words break at this width: choose a wider one.");
}

FigureStyle FigurePaper::styled(FigureStyle style) const {
  style.theme = ThemeKind::Light;
  style.pointsPerPixel = fontPoints / axisLetters().pixelSize();
  style.hasAxisTitles = hasAxisTitles;
  style.hasTitle = hasTitle;
  style.markerEvery = markerEvery;
  style.xTitle = xTitle;
  style.yTitle = yTitle;
  style.seriesNames = seriesNames;
  if (legend) style.legend = legend;
  return style;
}

FigurePaper FigurePaper::withoutWords() const {
  FigurePaper paper = *this;
  paper.xTitle.clear();
  paper.yTitle.clear();
  paper.seriesNames.clear();
  return paper;
}

Json toJson(const FigurePaper& paper) {
  Json json = {{"width_mm", paper.width},
               {"ratio", paper.ratio},
               {"font_pt", paper.fontPoints},
               {"dpi", paper.dotsPerInch},
               {"axis_titles", paper.hasAxisTitles}};
  if (paper.legend) json["legend"] = static_cast<int>(*paper.legend);
  if (!paper.hasTitle) json["title"] = false;
  if (paper.markerEvery > 0) json["marker_every"] = paper.markerEvery;
  if (!paper.xTitle.isEmpty()) json["x_title"] = paper.xTitle.toStdString();
  if (!paper.yTitle.isEmpty()) json["y_title"] = paper.yTitle.toStdString();
  for (const QString& name : paper.seriesNames) json["series"].push_back(name.toStdString());
  return json;
}

FigurePaper paperFromJson(const Json& json) {
  FigurePaper paper;
  const auto take = [&json](const char* key, double& value, double low, double high) {
    const double stored = stateNumber(json, key, value);
    if (stored >= low && stored <= high) value = stored;
  };
  take("width_mm", paper.width, 20, 2000);
  take("ratio", paper.ratio, 0.1, 5);
  take("font_pt", paper.fontPoints, 3, 48);
  take("dpi", paper.dotsPerInch, 50, 1200);
  paper.hasAxisTitles = stateFlag(json, "axis_titles", paper.hasAxisTitles);
  double legend = -1;
  take("legend", legend, 0, 3);
  if (legend >= 0) paper.legend = static_cast<FigureLegend>(static_cast<int>(legend));
  paper.hasTitle = stateFlag(json, "title", paper.hasTitle);
  double every = 0;
  take("marker_every", every, 0, FigurePaper::kMostMarked);
  paper.markerEvery = static_cast<int>(every);
  const auto words = [](const Json& value) {
    return value.is_string() ? QString::fromStdString(value.get<std::string>())
                                   .simplified()
                                   .left(FigurePaper::kLongestName)
                             : QString();
  };
  paper.xTitle = words(stateMember(json, "x_title"));
  paper.yTitle = words(stateMember(json, "y_title"));
  for (const Json& name : stateList(json, "series")) {
    if (paper.seriesNames.size() == FigurePaper::kMostNames) break;
    paper.seriesNames << words(name);
  }
  return paper;
}

std::optional<FigureFormat> figureFormat(const QString& file) {
  for (const FigureFormat format :
       {FigureFormat::Png, FigureFormat::Svg, FigureFormat::Pdf, FigureFormat::Csv}) {
    if (file.endsWith(endingOf(format), Qt::CaseInsensitive)) return format;
  }
  return std::nullopt;
}

QString endingOf(FigureFormat format) {
  static constexpr std::array kEndings{".png", ".svg", ".pdf", ".csv"};
  return QLatin1String(kEndings[static_cast<std::size_t>(format)]);
}

QImage paperPicture(Figure& figure, const FigurePaper& asked, double pixelsPerMillimetre) {
  const FigurePaper paper = highEnough(figure, asked);
  const OnPaper styled(figure, paper);
  const QSizeF logical = paper.logical();
  const double scale = paper.width * pixelsPerMillimetre / logical.width();
  const QSize pixels = (logical * scale).toSize().expandedTo(QSize(1, 1));
  constexpr qint64 kMostPixels = 200'000'000;
  if (qint64{pixels.width()} * pixels.height() > kMostPixels)
    throw Error("a picture of " + std::to_string(pixels.width()) + " x " +
                std::to_string(pixels.height()) +
                " pixels is too large; choose fewer dots per inch");
  QImage image(pixels, QImage::Format_ARGB32_Premultiplied);
  image.fill(themeColors(ThemeKind::Light).panel);
  QPainter painter(&image);
  painter.scale(scale, scale);  // a painter takes no device pixel ratio below one
  figure.paint(painter, QRectF(QPointF(0, 0), logical));
  painter.end();
  image.setDevicePixelRatio(scale);
  return image;
}

QByteArray figureBytes(Figure& figure, FigureFormat format, const Recipe& recipe) {
  switch (format) {
    case FigureFormat::Png:
      return pngBytes(figure, recipe);
    case FigureFormat::Svg:
      return svgBytes(figure, recipe);
    case FigureFormat::Pdf:
      return pdfBytes(figure, recipe);
    case FigureFormat::Csv:
      break;
  }
  return csvBytes(figure, recipe);
}

void writeFile(const QString& file, const QByteArray& bytes) {
  QSaveFile target(file);
  const bool isWritten =
      target.open(QIODevice::WriteOnly) && target.write(bytes) == bytes.size() && target.commit();
  if (!isWritten)
    throw FileError(QObject::tr("%1 cannot be written: %2; choose another folder")
                        .arg(QDir::toNativeSeparators(file), target.errorString())
                        .toStdString());
}

void saveFigure(Figure& figure, const QString& file, const Recipe& recipe) {
  const auto format = figureFormat(file);
  if (!format) {
    throw ConfigError("'" + file.toStdString() +
                      "' does not say what to write; end it with .png, .svg, .pdf or .csv");
  }
  writeFile(file, figureBytes(figure, *format, recipe));
}

}  // namespace vitrine::ui
