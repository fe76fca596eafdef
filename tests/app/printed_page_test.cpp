// The pages of a printed report.
#include "app/studio/printed_page.h"

#include <QBuffer>
#include <QColor>
#include <QFile>
#include <QImage>
#include <QPainter>
#include <QTemporaryDir>
#include <QTextDocument>
#include <QUrl>
#include <algorithm>
#include <list>

#include "tests/ui/support/qt_test.h"

namespace vitrine::ui {
namespace {

const QRectF kBody(40, 40, 320, 480);

std::list<QImage> pagesOf(const QString& html) {
  QTextDocument document;
  document.setDefaultStyleSheet(QStringLiteral("pre { background-color: #c0c0c0; }"));
  QImage picture(200, 150, QImage::Format_RGB32);
  picture.fill(Qt::red);
  document.addResource(QTextDocument::ImageResource, QUrl(QStringLiteral("picture:0")), picture);
  document.setHtml(html);
  std::list<QImage> pages;
  QPainter painter;
  const auto start = [&] {
    if (painter.isActive()) painter.end();
    pages.emplace_back(400, 560, QImage::Format_RGB32).fill(Qt::white);
    painter.begin(&pages.back());
  };
  start();
  paintPages(document, painter, kBody, start);
  return pages;
}

int inkIn(const QImage& page, const QRect& place) {
  int ink = 0;
  for (int y = place.top(); y <= place.bottom(); ++y) {
    for (int x = place.left(); x <= place.right(); ++x) ink += page.pixel(x, y) != 0xffffffff;
  }
  return ink;
}

TEST(PrintedPage, AGroundThatSpansPagesStaysInItsMargins) {
  QString lines;
  for (int i = 0; i < 120; ++i) lines += QStringLiteral("key_%1 = %1\n").arg(i);
  const std::list<QImage> pages = pagesOf(QStringLiteral("<pre>%1</pre>").arg(lines));
  ASSERT_GT(pages.size(), 2U);
  for (const QImage& page : pages) {
    EXPECT_EQ(inkIn(page, {0, 0, 400, 40}), 0) << "above";
    EXPECT_EQ(inkIn(page, {0, 0, 40, 560}), 0) << "to the left";
    EXPECT_EQ(inkIn(page, {0, 520, 200, 40}), 0) << "below, beside the number of the page";
    EXPECT_GT(inkIn(page, {340, 520, 60, 40}), 0) << "its number";
  }
  EXPECT_EQ(pages.front().pixel(300, 490), 0xffc0c0c0U) << "the ground is there";
}

TEST(PrintedPage, ShowsEveryLineOnce) {
  QString paragraphs;
  for (int i = 0; i < 60; ++i) paragraphs += QStringLiteral("<p>mm</p>");
  int ink = 0;
  for (const QImage& page : pagesOf(paragraphs)) ink += inkIn(page, kBody.toRect());
  const int one = inkIn(pagesOf(QStringLiteral("<p>mm</p>")).front(), kBody.toRect());
  ASSERT_GT(one, 0);
  EXPECT_EQ(ink, 60 * one);
}

// Whatever stands above them.
TEST(PrintedPage, AHeadingAPictureAndItsWordsAreOnOnePage) {
  const auto has = [](const QImage& page, const auto& isIt) {
    for (int y = 0; y < page.height(); ++y) {
      for (int x = 0; x < page.width(); ++x)
        if (isIt(QColor(page.pixel(x, y)))) return true;
    }
    return false;
  };
  for (int above = 0; above < 24; ++above) {
    QString html;
    for (int i = 0; i < above; ++i) html += QStringLiteral("<p>mm</p>");
    html += QStringLiteral(
        "<h2 style=\"color: #00a000\">Curves</h2><div><img src=\"picture:0\" width=\"200\" "
        "height=\"150\"> <p style=\"color: #0000ff\">Loss</p></div>");
    int pictures = 0;
    const std::list<QImage> pages = pagesOf(html);
    EXPECT_LE(pages.size(), 3U) << above;
    for (const QImage& page : pages) {
      const bool hasPicture = has(page, [](const QColor& c) { return c == QColor(Qt::red); });
      pictures += hasPicture;
      EXPECT_EQ(
          has(page, [](const QColor& c) { return c.green() - std::max(c.red(), c.blue()) > 100; }),
          hasPicture)
          << above << ": the heading";
      EXPECT_EQ(
          has(page, [](const QColor& c) { return c.blue() - std::max(c.red(), c.green()) > 100; }),
          hasPicture)
          << above << ": the words";
    }
    EXPECT_EQ(pictures, 1) << above;
  }
}

// Charts name other fonts for a reader without theirs.
TEST(PrintedPage, ChartsHaveTheFontTheyWereMadeWith) {
  const auto drawn = [](const QByteArray& fonts) {
    const QByteArray svg =
        QByteArray(
            "<svg width=\"200\" height=\"40\" viewBox=\"0 0 200 40\" "
            "xmlns=\"http://www.w3.org/2000/svg\"><text x=\"4\" y=\"30\" font-size=\"20\" "
            "font-family=\"") +
        fonts + "\">iLLaMA, 17 %</text></svg>";
    return chartPicture(svg, QSize(200, 40));
  };
  const QByteArray family = bodyFont().family().toUtf8();
  EXPECT_EQ(drawn(family + ", Helvetica, Arial, sans-serif"), drawn(family));
  EXPECT_FALSE(drawn(family).isNull());
}

TEST(PrintedPage, ATallChartIsAsHighAsAPage) {
  const auto sizeOf = [](int height) {
    const QByteArray svg = "<svg viewBox=\"0 0 100 " + QByteArray::number(height) +
                           "\" xmlns=\"http://www.w3.org/2000/svg\"></svg>";
    QStringList pictures;
    return printable(QStringLiteral("<img src=\"data:image/svg+xml;base64,%1\">")
                         .arg(QString::fromLatin1(svg.toBase64())),
                     pictures);
  };
  EXPECT_TRUE(sizeOf(100).contains(QLatin1String("width=\"470\" height=\"470\"")));
  EXPECT_TRUE(sizeOf(50).contains(QLatin1String("width=\"640\" height=\"320\"")));
  EXPECT_TRUE(sizeOf(400).contains(QLatin1String("height=\"950\""))) << sizeOf(400).toStdString();
}

TEST(PrintedPage, ALargeGeneratedImageIsNotCutByThePage) {
  const auto sizeOf = [](int width, int height) {
    QStringList pictures;
    return printable(
        QStringLiteral("<img src=\"data:image/png;base64,\" width=\"%1\" height=\"%2\">")
            .arg(width)
            .arg(height),
        pictures);
  };
  EXPECT_TRUE(sizeOf(56, 112).contains(QLatin1String("width=\"56\" height=\"112\"")));
  EXPECT_TRUE(sizeOf(1280, 640).contains(QLatin1String("width=\"640\" height=\"320\"")));
  EXPECT_TRUE(sizeOf(475, 1900).contains(QLatin1String("height=\"950\"")));
}

TEST(PrintedPage, PixelsKeepTheirColours) {
  QImage image(2, 1, QImage::Format_RGB32);
  image.setPixelColor(0, 0, Qt::red);
  image.setPixelColor(1, 0, Qt::blue);
  QByteArray png;
  QBuffer buffer(&png);
  ASSERT_TRUE(image.save(&buffer, "PNG"));
  const QTemporaryDir folder;
  const QString html = folder.filePath(QStringLiteral("page.html"));
  const QString pdf = folder.filePath(QStringLiteral("page.pdf"));
  QFile page(html);
  ASSERT_TRUE(page.open(QIODevice::WriteOnly));
  page.write("<img src=\"data:image/png;base64," + png.toBase64() +
             "\" width=\"20\" height=\"10\">");
  page.close();
  printPage(html, pdf);
  QFile printed(pdf);
  ASSERT_TRUE(printed.open(QIODevice::ReadOnly));
  const QByteArray bytes = printed.readAll();
  EXPECT_TRUE(bytes.contains("/Subtype /Image"));
  EXPECT_FALSE(bytes.contains("/DCTDecode")) << "JPEG";
}

TEST(PrintedPage, HasTheElementsOfAReportInThoseThatQtLaysOut) {
  QStringList pictures;
  const QString page = printable(
      QStringLiteral("<style>p {}</style><nav>x</nav><section><details><summary>More</summary>"
                     "<table><caption>C</caption></table></details></section>"),
      pictures);
  EXPECT_FALSE(page.contains(QLatin1String("nav")));
  EXPECT_TRUE(page.contains(QLatin1String("<h4>More</h4>"))) << page.toStdString();
  EXPECT_TRUE(pictures.isEmpty());
}

}  // namespace
}  // namespace vitrine::ui
