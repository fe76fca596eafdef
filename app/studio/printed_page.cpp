#include "app/studio/printed_page.h"

#include <QAbstractTextDocumentLayout>
#include <QFont>
#include <QFontMetricsF>
#include <QPainter>
#include <QPdfWriter>
#include <QRegularExpression>
#include <QSaveFile>
#include <QSvgRenderer>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextFrame>
#include <QTextLayout>
#include <QUrl>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/files/checkpoint_folder.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

constexpr std::uint64_t kMostPageBytes = 512U << 20;
constexpr int kTextWidth = 640;    // of a page between its margins, in pixels of its text
constexpr int kMostHeight = 950;   // of a picture: it and the words below it fit on a page
constexpr int kChartWidth = 470;   // of a chart that is not wide
constexpr double kChartScale = 3;  // dots of a chart for each of these pixels
constexpr int kSampleScale = 4;    // the same of generated images, whole and without smoothing
constexpr int kUnbroken = 24;      // letters of a hash that stay together
constexpr double kMargin = 16;     // millimetres
constexpr double kLeastInk = 8.5;  // points of the text
constexpr double kPageNumberInk = 7;

const char* const kPrintStyle =
    "body { color: #1b1f24; } h1 { font-size: 20pt; } h2 { font-size: 15pt; } "
    "h3 { font-size: 12pt; } h4 { font-size: 10pt; } "
    "table { border-collapse: collapse; border-style: solid; border-width: 0.5px; "
    "border-color: #d0d7de; } "
    "th, td { padding: 3px 6px; } pre { white-space: pre-wrap; font-size: 7pt; "
    "background-color: #f4f6f8; } code { font-size: 7pt; } "
    ".note, .muted, caption { color: #57606a; font-size: 8pt; }";

/// Qt takes a list of fonts for the name of one, which it does not find: the words would be wider
/// than their places.
QByteArray withOneFont(const QByteArray& svg) {
  static const QRegularExpression list(QStringLiteral("font-family=\"([^\",]*),[^\"]*\""));
  return QString::fromUtf8(svg).replace(list, QStringLiteral("font-family=\"\\1\"")).toUtf8();
}

QImage decoded(const QString& uri, const QSize& size) {
  const qsizetype comma = uri.indexOf(QLatin1Char(','));
  if (!uri.startsWith(QLatin1String("data:image/")) || comma < 0) return {};
  const QByteArray bytes = QByteArray::fromBase64(uri.mid(comma + 1).toLatin1());
  if (!uri.startsWith(QLatin1String("data:image/svg"))) {
    const QImage picture = QImage::fromData(bytes, "PNG");
    // Each pixel of a generated image as a square of its own.
    return picture.isNull()
               ? picture
               : picture.scaled(size * kSampleScale, Qt::IgnoreAspectRatio, Qt::FastTransformation);
  }
  return chartPicture(bytes, size);
}

bool isHeading(const QTextBlock& block) { return block.blockFormat().headingLevel() > 0; }

bool isPicture(const QTextBlock& block) {
  return block.text().contains(QChar(QChar::ObjectReplacementCharacter));
}

/// Headings stay on the page of what they head, and pictures on that of the words below them.
void keepTogether(QTextDocument& document) {
  const double height = document.pageSize().height();
  const auto lineAt = [&](const QTextBlock& block, bool isLast) {
    document.pageCount();  // all of it is laid out
    const QTextLayout& laidOut = *block.layout();
    if (laidOut.lineCount() == 0) return 0.0;
    return laidOut.position().y() + laidOut.lineAt(isLast ? laidOut.lineCount() - 1 : 0).y();
  };
  const auto pageOf = [&](double y) { return std::floor((y + 0.5) / height); };
  for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
    const QTextBlock next = block.next();
    const bool isKept = isHeading(block) || (isPicture(block) && !isPicture(next));
    if (!isKept || !next.isValid()) continue;
    if (QTextCursor(block).currentTable() != nullptr || QTextCursor(next).currentTable() != nullptr)
      continue;
    if (pageOf(lineAt(block, true)) == pageOf(lineAt(next, false))) continue;
    QTextBlock first = block;
    while (first.previous().isValid() && isHeading(first.previous())) first = first.previous();
    const double top = lineAt(first, false);
    if (top - pageOf(top) * height < 1) continue;  // stands at the top of a page already
    QTextBlockFormat format;
    format.setPageBreakPolicy(QTextFormat::PageBreak_AlwaysBefore);
    QTextCursor(first).mergeBlockFormat(format);
  }
}

/// As wide as it stands on the page.
QSize placeOf(const QString& uri) {
  const qsizetype comma = uri.indexOf(QLatin1Char(','));
  QSvgRenderer renderer(QByteArray::fromBase64(uri.mid(comma + 1).toLatin1()));
  const QSizeF own = renderer.viewBoxF().size();
  // A chart that was drawn for the whole page is flatter or has more in it.
  constexpr double kWide = 1.55;
  if (own.isEmpty()) return {};
  const double share = own.height() / own.width();
  const int width = own.width() / own.height() > kWide ? kTextWidth : kChartWidth;
  return QSizeF(width, width * share).boundedTo(QSizeF(kMostHeight / share, kMostHeight)).toSize();
}

/// A generated image as large as it wants to be, on the page.
QSize onPage(const QSize& own) {
  const QSize most(kTextWidth, kMostHeight);
  if (own.width() <= most.width() && own.height() <= most.height()) return own;
  return own.scaled(most, Qt::KeepAspectRatio);
}

int attributeOf(const QString& tag, const char* name) {
  const QRegularExpression pattern(QStringLiteral(" %1=\"(\\d+)\"").arg(QLatin1String(name)));
  return pattern.match(tag).captured(1).toInt();
}

}  // namespace

QImage chartPicture(const QByteArray& svg, const QSize& size) {
  QSvgRenderer renderer(withOneFont(svg));
  if (!renderer.isValid()) return {};
  QImage drawn((QSizeF(size) * kChartScale).toSize(), QImage::Format_RGB32);
  drawn.fill(Qt::white);
  QPainter painter(&drawn);
  renderer.render(&painter);
  return drawn;
}

QString printable(const QString& html, QStringList& pictures) {
  QString page = html;
  page.remove(QRegularExpression(QStringLiteral("<style>.*?</style>"),
                                 QRegularExpression::DotMatchesEverythingOption));
  page.remove(QRegularExpression(QStringLiteral("<nav[ >].*?</nav>"),
                                 QRegularExpression::DotMatchesEverythingOption));
  const std::pair<const char*, const char*> elements[] = {
      {"figcaption", "p"}, {"figure", "div"}, {"section", "div"}, {"article", "div"},
      {"details", "div"},  {"summary", "h4"}, {"header", "div"},  {"main", "div"},
      {"caption", "p"},    {"small", "div"}};
  for (const auto& [from, to] : elements) {
    page.replace(QRegularExpression(QStringLiteral("<%1(?=[ >])").arg(QLatin1String(from))),
                 QStringLiteral("<") + QLatin1String(to));
    page.replace(QStringLiteral("</%1>").arg(QLatin1String(from)),
                 QStringLiteral("</%1>").arg(QLatin1String(to)));
  }
  page.replace(QStringLiteral("<table>"), QStringLiteral("<table width=\"100%\" border=\"1\">"));
  // Pictures before hashes: their data are long words, too.
  static const QRegularExpression image(QStringLiteral("<img [^>]*>"));
  QString with;
  qsizetype at = 0;
  for (auto all = image.globalMatch(page); all.hasNext();) {
    const QRegularExpressionMatch match = all.next();
    const QString tag = match.captured();
    static const QRegularExpression source(QStringLiteral(" src=\"([^\"]*)\""));
    const QString uri = source.match(tag).captured(1);
    const QSize place = uri.startsWith(QLatin1String("data:image/svg"))
                            ? placeOf(uri)
                            : onPage({attributeOf(tag, "width"), attributeOf(tag, "height")});
    with += page.mid(at, match.capturedStart() - at);
    at = match.capturedEnd();
    if (place.isEmpty()) continue;
    with += QStringLiteral("<img src=\"picture:%1\" width=\"%2\" height=\"%3\"> ")
                .arg(pictures.size())
                .arg(place.width())
                .arg(place.height());
    pictures << uri;
  }
  page = with + page.mid(at);
  static const QRegularExpression hash(QStringLiteral("[0-9a-fA-F-]{32,}"));
  QString broken;
  at = 0;
  for (auto all = hash.globalMatch(page); all.hasNext();) {
    const QRegularExpressionMatch match = all.next();
    broken += page.mid(at, match.capturedStart() - at);
    const QString word = match.captured();
    for (qsizetype i = 0; i < word.size(); i += kUnbroken)
      broken += word.mid(i, kUnbroken) + QStringLiteral("&#8203;");
    at = match.capturedEnd();
  }
  return broken + page.mid(at);
}

void paintPages(QTextDocument& document, QPainter& painter, const QRectF& body,
                const std::function<void()>& startPage) {
  QAbstractTextDocumentLayout& layout = *document.documentLayout();
  layout.setPaintDevice(painter.device());
  QTextFrameFormat frame = document.rootFrame()->frameFormat();
  frame.setMargin(0);
  document.rootFrame()->setFrameFormat(frame);
  document.setPageSize(body.size());
  keepTogether(document);
  QFont small = document.defaultFont();
  small.setPointSizeF(kPageNumberInk);
  for (int page = 0; page < document.pageCount(); ++page) {
    if (page > 0) startPage();
    const QRectF shown(0, page * body.height(), body.width(), body.height());
    painter.save();
    painter.translate(body.left(), body.top() - shown.top());
    // The ground of a long block continues from page to page, but not between them.
    painter.setClipRect(shown);
    QAbstractTextDocumentLayout::PaintContext context;
    context.clip = shown;
    context.palette.setColor(QPalette::Text, Qt::black);
    layout.draw(&painter, context);
    painter.restore();
    painter.setFont(small);
    const double below = QFontMetricsF(small, painter.device()).height() * 2;
    painter.drawText(QRectF(body.left(), body.bottom(), body.width(), below),
                     Qt::AlignRight | Qt::AlignBottom, QString::number(page + 1));
  }
}

void printPage(const QString& html, const QString& pdf) {
  const QString page = QString::fromStdString(readTextFile(html.toStdString(), kMostPageBytes));
  QStringList pictures;
  const QString body = printable(page, pictures);
  QTextDocument document;
  document.setDefaultStyleSheet(QString::fromLatin1(kPrintStyle));
  QFont font = bodyFont();
  font.setPointSizeF(kLeastInk);
  document.setDefaultFont(font);
  QTextOption wrapping;
  wrapping.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  document.setDefaultTextOption(wrapping);
  // Sizes stand in the text: the pictures are made for them.
  static const QRegularExpression shown(
      QStringLiteral("<img src=\"picture:(\\d+)\" width=\"(\\d+)\" height=\"(\\d+)\">"));
  for (auto all = shown.globalMatch(body); all.hasNext();) {
    const QRegularExpressionMatch match = all.next();
    const int number = match.captured(1).toInt();
    const QImage picture =
        decoded(pictures.value(number), {match.captured(2).toInt(), match.captured(3).toInt()});
    if (picture.isNull()) continue;
    document.addResource(QTextDocument::ImageResource,
                         QUrl(QStringLiteral("picture:%1").arg(number)), picture);
  }
  document.setHtml(body);
  static const QRegularExpression title(QStringLiteral("<title>(.*?)</title>"));
  QTextDocument plain;
  plain.setHtml(title.match(page).captured(1));

  QSaveFile file(pdf);
  if (!file.open(QIODevice::WriteOnly))
    throw Error("'" + pdf.toStdString() + "' cannot be written (" +
                file.errorString().toStdString() + "); choose another folder");
  {
    QPdfWriter writer(&file);
    writer.setPageSize(QPageSize(QPageSize::A4));
    writer.setPageMargins(QMarginsF(0, 0, 0, 0));  // paintPages() keeps the margins
    writer.setTitle(plain.toPlainText());
    writer.setCreator(QStringLiteral("Vitrine"));
    const double margin = kMargin / 25.4 * writer.resolution();
    const QSizeF paper = writer.pageLayout().fullRectPixels(writer.resolution()).size();
    QPainter painter(&writer);
    painter.setRenderHint(QPainter::LosslessImageRendering);  // JPEG mixes colours of map cells
    paintPages(document, painter,
               QRectF(QPointF(0, 0), paper).adjusted(margin, margin, -margin, -margin),
               [&writer] { writer.newPage(); });
  }
  if (!file.commit())
    throw Error("'" + pdf.toStdString() + "' cannot be written (" +
                file.errorString().toStdString() + "); choose another folder");
}

}  // namespace vitrine::ui
