#include "app/vitrine/report/html.h"

#include <QByteArray>

#include "core/base/text.h"

namespace vitrine::app {

namespace {

constexpr const char* kReplacement = "\xef\xbf\xbd";

void escapeInto(std::string& out, std::string_view text) {
  for (const char c : cleanUtf8(text)) {
    const auto u = static_cast<unsigned char>(c);
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if ((u < 0x20 && c != '\n' && c != '\t') || u == 0x7f) {
          out += kReplacement;
        } else {
          out += c;
        }
    }
  }
}

std::string opened(const char* name, const Html::Attributes& values) {
  std::string markup = std::string("<") + name;
  for (const auto& [key, value] : values) {
    markup += std::string(" ") + key + "=\"";
    escapeInto(markup, value);
    markup += '"';
  }
  return markup + ">";
}

}  // namespace

Html::Html(std::string_view text) { escapeInto(markup_, text); }

Html Html::element(const char* name, const Attributes& values, const Html& content) {
  Html html;
  html.markup_ = opened(name, values) + content.markup_ + "</" + name + ">";
  return html;
}

Html Html::empty(const char* name, const Attributes& values) {
  Html html;
  html.markup_ = opened(name, values);
  return html;
}

Html& Html::operator+=(const Html& other) {
  markup_ += other.markup_;
  return *this;
}

Html toHtml(const HtmlTable& table) {
  Html head, body, all;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    Html::Attributes values{{"scope", "col"}};
    const bool isNumber =
        !table.rows.empty() && i < table.rows.front().size() && table.rows.front()[i].isNumber;
    if (isNumber) values.emplace_back("class", "number");
    head += Html::element("th", values, Html(table.columns[i]));
  }
  for (const std::vector<HtmlTable::Cell>& row : table.rows) {
    Html cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      Html::Attributes values;
      if (i == 0) values.emplace_back("scope", "row");
      if (row[i].isNumber) values.emplace_back("class", "number");
      cells += Html::element(i == 0 ? "th" : "td", values, row[i].content);
    }
    body += Html::element("tr", cells);
  }
  if (!table.caption.empty()) all += Html::element("caption", Html(table.caption));
  all += Html::element("thead", Html::element("tr", head));
  all += Html::element("tbody", body);
  // Wide tables scroll in a box of their own.
  return Html::element("div", {{"class", "scroll"}}, Html::element("table", all));
}

HtmlTable::Cell textCell(std::string_view text) { return {Html(text), false}; }
HtmlTable::Cell numberCell(std::string_view text) { return {Html(text), true}; }
HtmlTable::Cell codeCell(std::string_view text) {
  return {Html::element("code", Html(text)), false};
}

std::string dataUri(std::string_view type, std::span<const std::byte> bytes) {
  const QByteArray encoded =
      QByteArray(reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size()))
          .toBase64();
  return "data:" + std::string(type) + ";base64," + encoded.toStdString();
}

Html folded(std::string_view summary, std::string_view text) {
  Html content = Html::element("summary", Html(summary));
  content += Html::element("pre", Html(text));
  return Html::element("details", content);
}

std::string documentOf(std::string_view title, std::string_view style, const Html& body) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
         Html(title).markup() + "</title>\n<style>\n" + std::string(style) + "</style>\n</head>\n" +
         "<body>\n" + body.markup() + "\n</body>\n</html>\n";
}

}  // namespace vitrine::app
