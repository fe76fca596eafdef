// A report's HTML as a PDF file.
#pragma once

#include <QByteArray>
#include <QImage>
#include <QRectF>
#include <QSize>
#include <QString>
#include <functional>

class QPainter;
class QTextDocument;

namespace vitrine::ui {

/// Pages of A4 with everything inside. Takes what `vitrine report` writes: headings, tables, text
/// and pictures that are in the page; nothing is fetched from outside.
/// \throws Error  `html` cannot be read, or `pdf` cannot be written
void printPage(const QString& html, const QString& pdf);

/// The same page in elements that Qt's text layout knows, without its style sheet; pictures as
/// "picture:0", "picture:1" ... \param pictures  receives their data URIs, in that order
[[nodiscard]] QString printable(const QString& html, QStringList& pictures);

/// A chart as it is printed, `size` pixels of the text large; null if it is none.
[[nodiscard]] QImage chartPicture(const QByteArray& svg, const QSize& size);

/// Paints a document page by page, with the number of each below it. Nothing but that number lies
/// outside of `body`.
/// \param body       of a page, in the painter's units
/// \param startPage  called before every page but the first
void paintPages(QTextDocument& document, QPainter& painter, const QRectF& body,
                const std::function<void()>& startPage);

}  // namespace vitrine::ui
