#include "ui/plugins/item_text.h"

#include <QStringList>
#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/config/config.h"
#include "core/config/toml/to_toml.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {
namespace {

QString itemEscaped(const std::string& text) {
  return QString::fromStdString(text).toHtmlEscaped();
}

QString mutedText(const QString& html) {
  return QStringLiteral("<span style='color:%1'>%2</span>").arg(themeColors().muted.name(), html);
}

QString codeText(const QString& html) {
  return QStringLiteral("<span style='font-family:\"%1\"'>%2</span>")
      .arg(monoFont().family(), html);
}

/// \param widths  of the columns, per cent; empty: as their text needs
QString htmlTable(const QStringList& heads, const QList<QStringList>& rows,
                  const QList<int>& widths = {}) {
  QString html = QStringLiteral("<table width='100%' cellspacing='0' cellpadding='5'><tr>");
  for (int i = 0; i < heads.size(); ++i) {
    const QString width =
        i < widths.size() ? QStringLiteral(" width='%1%'").arg(widths[i]) : QString();
    html += QStringLiteral("<td%1 style='border-bottom:1px solid %2'>%3</td>")
                .arg(width, themeColors().line.name(), mutedText(heads[i]));
  }
  html += QStringLiteral("</tr>");
  for (const QStringList& row : rows) {
    html += QStringLiteral("<tr>");
    for (const QString& cell : row)
      html += QStringLiteral("<td style='border-bottom:1px solid %1' valign='top'>%2</td>")
                  .arg(themeColors().grid.name(), cell);
    html += QStringLiteral("</tr>");
  }
  return html + QStringLiteral("</table>");
}

QString heading(const QString& text) {
  return QStringLiteral("<p style='margin-top:18px; margin-bottom:6px; font-weight:600'>%1</p>")
      .arg(text);
}

QString defaultText(const Field& field) {
  if (field.required) return QObject::tr("required");
  if (field.defaultValue.is_null()) return QStringLiteral("none");
  if (field.type == FieldType::Size && field.defaultValue.is_array() &&
      field.defaultValue.size() == 2 && field.defaultValue[0] == field.defaultValue[1])
    return itemEscaped(field.defaultValue[0].dump());
  return itemEscaped(tomlValue(field.defaultValue));
}

void addFieldRows(QList<QStringList>& rows, const std::vector<Field>& fields,
                  const std::string& prefix) {
  for (const Field& field : fields) {
    const std::string key = prefix + field.name;
    if (field.type == FieldType::Table) {
      addFieldRows(rows, field.fields, key + ".");
      continue;
    }
    QString meaning = itemEscaped(field.doc);
    for (std::size_t i = 0; i < field.choices.size() && i < field.choiceDocs.size(); ++i) {
      meaning += QStringLiteral("<br>%1 %2")
                     .arg(codeText(itemEscaped(field.choices[i])),
                          mutedText(itemEscaped(field.choiceDocs[i])));
    }
    if (!field.refusal.empty())
      meaning += QStringLiteral("<br>") + mutedText(itemEscaped(field.refusal));
    QString name = itemEscaped(key);
    name.replace(QLatin1Char('.'), QStringLiteral(".&#8203;"));
    rows << QStringList{codeText(name), fieldTypeText(field).toHtmlEscaped(),
                        fieldRangeText(field).toHtmlEscaped(), codeText(defaultText(field)),
                        meaning};
  }
}

QString schemaHtml(const Schema& schema) {
  QList<QStringList> rows;
  addFieldRows(rows, schema.fields, "");
  QString html;
  if (rows.isEmpty()) {
    html += heading(QObject::tr("Keys")) + mutedText(QObject::tr("It has no settings."));
  } else {
    html += heading(QObject::tr("Keys")) +
            htmlTable({QObject::tr("key"), QObject::tr("type"), QObject::tr("range"),
                       QObject::tr("default"), QObject::tr("meaning")},
                      rows, {18, 20, 16, 13, 33});
  }
  if (!schema.rules.empty()) {
    html += heading(QObject::tr("Rules")) + QStringLiteral("<ul style='margin:0'>");
    for (const Rule& rule : schema.rules) {
      QStringList keys;
      for (const Json& one : rule.arguments) {
        if (one.is_string())
          keys << codeText(itemEscaped(one.get<std::string>()));
        else
          keys << codeText(itemEscaped(one.dump()));
      }
      html += QStringLiteral("<li>%1 %2</li>")
                  .arg(itemEscaped(rule.sentence),
                       mutedText(QLatin1Char('(') + keys.join(QStringLiteral(", ")) +
                                 QLatin1Char(')')));
    }
    html += QStringLiteral("</ul>");
  }
  if (!schema.presets.empty()) {
    rows.clear();
    for (const Preset& preset : schema.presets) {
      QStringList sets;
      for (const auto& [key, value] : flatten(preset.values)) {
        const bool isSquare = value.is_array() && value.size() == 2 && value[0] == value[1];
        sets << codeText(itemEscaped(key) + QStringLiteral(" = ") +
                         itemEscaped(isSquare ? value[0].dump() : tomlValue(value)));
      }
      rows << QStringList{codeText(itemEscaped(preset.name)), itemEscaped(preset.doc),
                          sets.join(QStringLiteral(", "))};
    }
    html += heading(QObject::tr("Presets")) +
            htmlTable({QObject::tr("preset"), QObject::tr("meaning"), QObject::tr("sets")},
                      rows, {18, 26, 56});
  }
  return html;
}

/// A capability and the items on its other side.
QString capabilityText(const std::string& name, const Catalog& catalog, bool isOffered) {
  QStringList others;
  for (const ItemCard& other : catalog.items) {
    const auto& list = isOffered ? other.needs : other.offers;
    if (std::find(list.begin(), list.end(), name) != list.end()) others << itemEscaped(other.id);
  }
  QString word = itemEscaped(name).replace(QLatin1Char('_'), QLatin1Char(' '));
  if (others.isEmpty()) return word;
  return word + QLatin1Char(' ') +
         mutedText(QLatin1Char('(') +
                   (isOffered ? QObject::tr("needed by ") : QObject::tr("offered by ")) +
                   others.join(QStringLiteral(", ")) + QLatin1Char(')'));
}

QString titleHtml(const QString& title, const QString& about) {
  return QStringLiteral(
             "<p style='font-size:%1px; font-weight:600; margin-bottom:2px'>%2</p>"
             "<p style='margin-top:0'>%3</p>")
      .arg(px(17))
      .arg(title, mutedText(about));
}

}  // namespace

QString fieldTypeText(const Field& field) {
  switch (field.type) {
    case FieldType::Bool:
      return QObject::tr("true or false");
    case FieldType::Integer:
      return QObject::tr("integer");
    case FieldType::Real:
      return QObject::tr("number");
    case FieldType::Text:
      return QObject::tr("text");
    case FieldType::Choice: {
      QStringList names;
      for (const std::string& choice : field.choices) names << QString::fromStdString(choice);
      return names.size() == 1 ? names.front()
                               : QObject::tr("one of ") + names.join(QStringLiteral(", "));
    }
    case FieldType::List:
      return QObject::tr("list");
    case FieldType::Table:
      return QObject::tr("table");
    case FieldType::Size:
      return QObject::tr("n or [height, width]");
  }
  return {};
}

QString fieldRangeText(const Field& field) {
  const auto real = [](double value) {
    const bool isWhole = std::floor(value) == value && std::abs(value) < 1e12;
    return isWhole ? count(static_cast<std::int64_t>(value))
                   : QString::fromStdString(formatReal(value));
  };
  QStringList parts;
  if (field.minimum && field.maximum) {
    parts << QObject::tr("%1 to %2").arg(real(*field.minimum), real(*field.maximum));
  } else if (field.minimum) {
    parts << QObject::tr("at least ") + real(*field.minimum);
  } else if (field.maximum) {
    parts << QObject::tr("at most ") + real(*field.maximum);
  }
  if (field.above) parts << QObject::tr("above ") + real(*field.above);
  if (field.below) parts << QObject::tr("below ") + real(*field.below);
  QString text = parts.join(QStringLiteral(", "));
  if (!field.unit.empty())
    text += (text.isEmpty() ? QString() : QStringLiteral("\u202f")) +
            QString::fromStdString(field.unit);
  if (field.nullable)
    text += text.isEmpty() ? QObject::tr("or none") : QObject::tr(", or none");
  return text;
}

QString itemHtml(const ItemCard& card, const Catalog& catalog) {
  QString about = QString::fromStdString(toString(card.kind)) + QLatin1Char(' ') +
                  codeText(itemEscaped(card.id));
  if (!card.plugin.empty())
    about += QObject::tr(" \u00b7 plugin ") + codeText(itemEscaped(card.plugin));
  QString html = titleHtml(itemEscaped(card.title.empty() ? card.id : card.title), about);
  if (!card.doc.empty()) html += QStringLiteral("<p>%1</p>").arg(itemEscaped(card.doc));
  if (!card.paper.empty())
    html += QStringLiteral("<p>%1</p>")
                .arg(mutedText(QObject::tr("Paper: ")) + itemEscaped(card.paper));
  const auto capabilities = [&](const std::vector<std::string>& names, const QString& label,
                                bool isOffered) {
    if (names.empty()) return;
    QStringList texts;
    for (const std::string& name : names) texts << capabilityText(name, catalog, isOffered);
    html += QStringLiteral("<p>%1 %2</p>").arg(mutedText(label), texts.join(QStringLiteral("; ")));
  };
  capabilities(card.offers, QObject::tr("Offers:"), true);
  capabilities(card.needs, QObject::tr("Needs:"), false);
  return html + schemaHtml(card.schema);
}

QString coreHtml(const QString& name) {
  const Schema& schema = name == QLatin1String("train")  ? trainSchema()
                         : name == QLatin1String("data") ? dataSchema()
                                                         : observeSchema();
  const QString about = name == QLatin1String("train") ? QObject::tr("The same for every task")
                        : name == QLatin1String("data")
                            ? QObject::tr("Next to the dataset's own keys")
                            : QObject::tr("Next to each analysis's own keys");
  return titleHtml(QLatin1Char('[') + name + QLatin1Char(']'), about) + schemaHtml(schema);
}

QString itemWords(const ItemCard& card) {
  QStringList words{
      QString::fromStdString(card.id),     QString::fromStdString(card.title),
      QString::fromStdString(card.paper),  QString::fromStdString(card.doc),
      QString::fromStdString(card.plugin), QString::fromStdString(toString(card.kind))};
  for (const auto* list : {&card.offers, &card.needs}) {
    for (const std::string& one : *list) words << QString::fromStdString(one);
  }
  for (const std::string& key : card.schema.keys()) {
    words << QString::fromStdString(key);
    if (const Field* field = card.schema.find(key); field != nullptr) {
      words << QString::fromStdString(field->doc);
      for (const std::string& choice : field->choices) words << QString::fromStdString(choice);
    }
  }
  for (const Preset& preset : card.schema.presets)
    words << QString::fromStdString(preset.name) << QString::fromStdString(preset.doc);
  for (const Rule& rule : card.schema.rules) words << QString::fromStdString(rule.sentence);
  return words.join(QLatin1Char(' '));
}

QString pluginHtml(const PluginEntry& plugin, const Catalog& catalog) {
  const bool isLoaded = plugin.state == PluginEntry::State::Loaded;
  const QString state = isLoaded                                       ? QObject::tr("loaded")
                        : plugin.state == PluginEntry::State::Disabled ? QObject::tr("disabled")
                                                                       : QObject::tr("refused");
  const QColor color = isLoaded                                       ? themeColors().ok
                       : plugin.state == PluginEntry::State::Disabled ? themeColors().muted
                                                                      : themeColors().bad;
  QString html = titleHtml(plugin.name().toHtmlEscaped(),
                           QObject::tr("plugin %1 \u00b7 <span style='color:%2'>%3</span>")
                               .arg(plugin.version.toHtmlEscaped(), color.name(), state));
  if (!plugin.sentence.isEmpty())
    html += QStringLiteral("<p>%1</p>").arg(plugin.sentence.toHtmlEscaped());
  QStringList papers;
  QList<QStringList> items;
  for (const ItemCard& card : catalog.items) {
    if (!isLoaded || QString::fromStdString(card.plugin) != plugin.id) continue;
    const QString paper = itemEscaped(card.paper);
    if (!paper.isEmpty() && !papers.contains(paper)) papers << paper;
    items << QStringList{QString::fromStdString(toString(card.kind)),
                         codeText(itemEscaped(card.id)), itemEscaped(card.title)};
  }
  for (const QString& paper : papers)
    html += QStringLiteral("<p>%1 %2</p>").arg(mutedText(QObject::tr("Paper:")), paper);
  QList<QStringList> facts;
  const auto fact = [&facts](const char* name, const QString& value) {
    if (!value.isEmpty())
      facts << QStringList{mutedText(QObject::tr(name)), value.toHtmlEscaped()};
  };
  QString file = plugin.file;
  fact("file", file);
  fact("SHA-256", plugin.sha256);
  fact("trust", plugin.trust == QLatin1String("built in")
                    ? QObject::tr("built in: it came with this program")
                    : plugin.trust);
  fact("interface", plugin.interface);
  fact("LibTorch", plugin.torch);
  fact("compiler", plugin.compiler);
  html += heading(QObject::tr("File")) + QStringLiteral("<table cellspacing='0' cellpadding='4'>");
  for (const QStringList& row : facts)
    html += QStringLiteral("<tr><td>%1</td><td>%2</td></tr>").arg(row[0], row[1]);
  html += QStringLiteral("</table>");
  if (!items.isEmpty())
    html +=
        heading(QObject::tr("Items")) +
        htmlTable({QObject::tr("kind"), QObject::tr("id"), QObject::tr("title")}, items);
  return html;
}

}  // namespace vitrine::ui
