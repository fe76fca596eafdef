// A report's HTML as a PDF file.
#pragma once

#include <QString>

namespace vitrine::ui {

/// Pages of A4 with everything inside. Takes what `vitrine report` writes: headings, tables, text
/// and pictures that are in the page; nothing is fetched from outside.
/// \throws Error  `html` cannot be read, or `pdf` cannot be written
void printPage(const QString& html, const QString& pdf);

/// The same page in elements that Qt's text layout knows, without its style sheet; pictures as
/// "picture:0", "picture:1" ... \param pictures  receives their data URIs, in that order
[[nodiscard]] QString printable(const QString& html, QStringList& pictures);

}  // namespace vitrine::ui
