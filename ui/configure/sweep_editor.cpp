// Rows that are added and removed; the document is read from them after each edit.
#include "ui/configure/sweep_editor.h"

#include <QCompleter>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/config/to_toml.h"

namespace vitrine::ui {

namespace {

const char* const kSeedKey = "train.seed";

QLabel* labelOf(const QString& text, const char* role, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setProperty("role", QString::fromLatin1(role));
  return label;
}

QToolButton* quietButton(const QString& text, const QString& name, QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setText(text);
  button->setProperty("quiet", true);
  button->setAccessibleName(name);
  button->setToolTip(name);
  return button;
}

}  // namespace

std::vector<Json> parseValues(const QString& text) {
  const std::string trimmed = text.trimmed().toStdString();
  if (trimmed.empty()) return {};
  // A list of TOML values as it stands, so that lists and tables may be swept too.
  const Json whole = parseValue("[" + trimmed + "]");
  if (whole.is_array()) return {whole.begin(), whole.end()};
  std::vector<Json> values;
  for (const QString& part : text.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
    if (!part.trimmed().isEmpty()) values.push_back(parseValue(part.trimmed().toStdString()));
  }
  return values;
}

QString valuesText(const std::vector<Json>& values) {
  QStringList parts;
  for (const Json& value : values) {
    const bool isWord = value.is_string() && parseValue(value.get<std::string>()) == value &&
                        value.get<std::string>().find(',') == std::string::npos;
    parts << QString::fromStdString(isWord ? value.get<std::string>() : tomlValue(value));
  }
  return parts.join(QStringLiteral(", "));
}

SweepEditor::SweepEditor(QWidget* parent)
    : QWidget(parent),
      seeds_(new QLineEdit(this)),
      axesBox_(new QVBoxLayout),
      variantsBox_(new QVBoxLayout) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  const auto heading = [&](const QString& text, const QString& button, auto slot) {
    auto* line = new QHBoxLayout;
    line->addWidget(labelOf(text, "title", this));
    line->addStretch();
    QToolButton* add = quietButton(button, QStringLiteral("Add: ") + button.mid(2), this);
    connect(add, &QToolButton::clicked, this, slot);
    line->addWidget(add);
    column->addLayout(line);
  };
  heading(QStringLiteral("Sweep"), QStringLiteral("+ axis"), &SweepEditor::addAxis);
  auto* seedLine = new QHBoxLayout;
  auto* seedLabel = labelOf(QStringLiteral("Seeds"), "muted", this);
  seedLabel->setBuddy(seeds_);
  seedLine->addWidget(seedLabel);
  seeds_->setPlaceholderText(QStringLiteral("0, 1, 2 for three runs"));
  seeds_->setAccessibleName(QStringLiteral("Seeds, comma separated"));
  seedLine->addWidget(seeds_, 1);
  column->addLayout(seedLine);
  axesBox_->setSpacing(4);
  column->addLayout(axesBox_);
  column->addSpacing(6);
  heading(QStringLiteral("Variants"), QStringLiteral("+ variant"), &SweepEditor::addVariant);
  variantsBox_->setSpacing(8);
  column->addLayout(variantsBox_);
  connect(seeds_, &QLineEdit::textEdited, this, &SweepEditor::edited);
}

void SweepEditor::setKeys(const QStringList& keys) {
  if (keys == keys_) return;
  keys_ = keys;
  for (const AxisRow& axis : axes_) complete(axis.key);
}

void SweepEditor::complete(QLineEdit* line) const {
  auto* completer = new QCompleter(keys_, line);
  completer->setFilterMode(Qt::MatchContains);
  line->setCompleter(completer);
}

void SweepEditor::setDocument(const Document& document) {
  Document shown;
  applyTo(shown);
  const auto same = [](const Document& a, const Document& b) {
    return toText(Document{{}, Json::object(), a.sweep, a.variants, Json::object(), {}}) ==
           toText(Document{{}, Json::object(), b.sweep, b.variants, Json::object(), {}});
  };
  if (same(shown, document)) return;  // lines that are being typed in stay as they are
  const Document::Axis* seeds = document.axis(kSeedKey);
  seeds_->setText(seeds == nullptr ? QString() : valuesText(seeds->values));
  for (const AxisRow& axis : axes_) axis.row->deleteLater();
  for (const VariantRow& variant : variants_) variant.row->deleteLater();
  axes_.clear();
  variants_.clear();
  for (const Document::Axis& axis : document.sweep) {
    if (axis.key != kSeedKey) appendAxis(axis.key, axis.values);
  }
  for (const Document::Variant& variant : document.variants) appendVariant(variant);
}

void SweepEditor::applyTo(Document& document) const {
  document.sweep.clear();
  for (const AxisRow& axis : axes_) {
    const std::string key = axis.key->text().trimmed().toStdString();
    std::vector<Json> values = parseValues(axis.values->text());
    if (!key.empty() && !values.empty()) document.sweep.push_back({key, std::move(values)});
  }
  if (std::vector<Json> seeds = parseValues(seeds_->text()); !seeds.empty()) {
    document.sweep.push_back({kSeedKey, std::move(seeds)});  // last: the fastest
  }
  document.variants.clear();
  for (const VariantRow& row : variants_) {
    std::vector<std::string> bad;
    Document::Variant variant{row.name->text().toStdString(),
                              parseOverrides(row.overrides->toPlainText().toStdString(), bad)};
    row.problem->setVisible(!bad.empty());
    if (!bad.empty()) {
      row.problem->setText(
          QStringLiteral("\"%1\" is not key = value").arg(QString::fromStdString(bad.front())));
    }
    document.variants.push_back(std::move(variant));
  }
}

QStringList SweepEditor::factors(const Document& document) {
  QStringList words;
  if (document.variants.size() > 1)
    words << QStringLiteral("%1 variants").arg(document.variants.size());
  for (const Document::Axis& axis : document.sweep) {
    const QString word =
        axis.key == kSeedKey
            ? (axis.values.size() == 1 ? QStringLiteral("seed") : QStringLiteral("seeds"))
            : QStringLiteral("values of ") + QString::fromStdString(axis.key);
    words << QStringLiteral("%1 %2").arg(axis.values.size()).arg(word);
  }
  if (const auto stages = document.rest.find("stage");
      stages != document.rest.end() && stages->is_array()) {
    words << QStringLiteral("%1 stages").arg(stages->size());
  }
  return words;
}

void SweepEditor::addAxis() {
  appendAxis({}, {});
  axes_.back().key->setFocus();
}

void SweepEditor::addVariant() {
  // The first variant is the baseline: an ablation needs it beside the change.
  if (variants_.empty()) appendVariant({"baseline", {}});
  appendVariant({"+ change", {}});
  variants_.back().overrides->setFocus();
  Q_EMIT edited();
}

void SweepEditor::appendAxis(const std::string& key, const std::vector<Json>& values) {
  auto* row = new QWidget(this);
  auto* line = new QHBoxLayout(row);
  line->setContentsMargins(0, 0, 0, 0);
  line->setSpacing(4);
  auto* keyLine = new QLineEdit(QString::fromStdString(key), row);
  keyLine->setPlaceholderText(QStringLiteral("key"));
  keyLine->setAccessibleName(QStringLiteral("Key of the sweep axis"));
  complete(keyLine);
  auto* valueLine = new QLineEdit(valuesText(values), row);
  valueLine->setPlaceholderText(QStringLiteral("values, with commas"));
  valueLine->setAccessibleName(QStringLiteral("Values of the sweep axis, comma separated"));
  QToolButton* remove =
      quietButton(QStringLiteral("\u00d7"), QStringLiteral("Remove this axis"), row);
  line->addWidget(keyLine, 1);
  line->addWidget(valueLine, 1);
  line->addWidget(remove);
  axesBox_->addWidget(row);
  row->show();
  axes_.push_back({row, keyLine, valueLine});
  connect(keyLine, &QLineEdit::textChanged, this, &SweepEditor::edited);
  connect(valueLine, &QLineEdit::textEdited, this, &SweepEditor::edited);
  connect(remove, &QToolButton::clicked, this, [this, row] {
    axes_.erase(std::find_if(axes_.begin(), axes_.end(),
                             [row](const AxisRow& one) { return one.row == row; }));
    row->deleteLater();
    Q_EMIT edited();
  });
}

void SweepEditor::appendVariant(const Document::Variant& variant) {
  auto* row = new QWidget(this);
  auto* column = new QVBoxLayout(row);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  auto* line = new QHBoxLayout;
  line->setSpacing(4);
  auto* name = new QLineEdit(QString::fromStdString(variant.name), row);
  name->setAccessibleName(QStringLiteral("Name of the variant"));
  QToolButton* remove =
      quietButton(QStringLiteral("\u00d7"), QStringLiteral("Remove this variant"), row);
  line->addWidget(name, 1);
  line->addWidget(remove);
  column->addLayout(line);
  auto* overrides = new QPlainTextEdit(QString::fromStdString(overridesText(variant.set)), row);
  overrides->setPlaceholderText(variants_.empty() ? QStringLiteral("nothing changed: the baseline")
                                                  : QStringLiteral("model.mask.kind = \"soft\""));
  overrides->setAccessibleName(QStringLiteral("Changes of the variant, one key = value per line"));
  overrides->setTabChangesFocus(true);
  overrides->setLineWrapMode(QPlainTextEdit::NoWrap);
  overrides->setFixedHeight(
      overrides->fontMetrics().height() *
          static_cast<int>(std::clamp<std::size_t>(variant.set.size(), 1, 6)) +
      26);
  column->addWidget(overrides);
  QLabel* problem = labelOf(QString(), "error", row);
  problem->setWordWrap(true);
  problem->hide();
  column->addWidget(problem);
  variantsBox_->addWidget(row);
  row->show();
  variants_.push_back({row, name, overrides, problem});
  connect(name, &QLineEdit::textEdited, this, &SweepEditor::edited);
  connect(overrides, &QPlainTextEdit::textChanged, this, &SweepEditor::edited);
  connect(remove, &QToolButton::clicked, this, [this, row] {
    variants_.erase(std::find_if(variants_.begin(), variants_.end(),
                                 [row](const VariantRow& one) { return one.row == row; }));
    row->deleteLater();
    Q_EMIT edited();
  });
}

}  // namespace vitrine::ui
