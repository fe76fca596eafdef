// Rows that are added and removed; the document is read from them after each edit.
#include "ui/configure/form/sweep_editor.h"

#include <QAbstractTextDocumentLayout>
#include <QCompleter>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/config/to_toml.h"
#include "ui/configure/form/fold.h"
#include "ui/configure/form/wording.h"
#include "ui/kit/theme.h"

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

/// As tall as its lines, up to six.
void fitOverrides(QPlainTextEdit& overrides) {
  const int lines = static_cast<int>(overrides.document()->size().height());  // of a plain text
  overrides.setVerticalScrollBarPolicy(lines > 6 ? Qt::ScrollBarAsNeeded : Qt::ScrollBarAlwaysOff);
  overrides.setFixedHeight(overrides.fontMetrics().lineSpacing() * std::clamp(lines, 1, 6) +
                           px(22));
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
      stages_(new QLabel(this)),
      seeds_(new QLineEdit(this)),
      axesBox_(new QVBoxLayout),
      variantsBox_(new QVBoxLayout) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(px(8));
  const auto fold = [&](const QString& name, const QString& title, const QString& button,
                        const QString& tip, auto slot) {
    auto* part = new Fold(name, title, this);
    QToolButton* add = quietButton(button, tip, part);
    connect(add, &QToolButton::clicked, this, slot);
    part->corner()->addWidget(add);
    column->addWidget(part);
    folds_.push_back(part);
    return part;
  };
  Fold* sweep = fold(QStringLiteral("sweep"), QStringLiteral("Sweep"), QStringLiteral("+ axis"),
                     QStringLiteral("Add an axis: every value makes a run"),
                     qOverload<>(&SweepEditor::addAxis));
  auto* seedLine = new QHBoxLayout;
  auto* seedLabel = labelOf(QStringLiteral("Seeds"), "muted", this);
  seedLabel->setBuddy(seeds_);
  seedLine->addWidget(seedLabel);
  seeds_->setPlaceholderText(QStringLiteral("0, 1, 2 for three runs"));
  seeds_->setAccessibleName(QStringLiteral("Seeds, comma separated"));
  seeds_->setToolTip(
      QStringLiteral("Values of train.seed, the fastest axis: every other axis and "
                     "variant is run with each"));
  seedLine->addWidget(seeds_, 1);
  sweep->body()->addLayout(seedLine);
  axesBox_->setSpacing(px(4));
  sweep->body()->addLayout(axesBox_);
  Fold* variants =
      fold(QStringLiteral("variants"), QStringLiteral("Variants"), QStringLiteral("+ variant"),
           QStringLiteral("Add a variant: a named change, compared with the first"),
           qOverload<>(&SweepEditor::addVariant));
  variantsBox_->setSpacing(px(8));
  variants->body()->addLayout(variantsBox_);
  stages_->setProperty("role", QStringLiteral("small"));
  stages_->setWordWrap(true);
  stages_->setAccessibleName(QStringLiteral("Stages"));
  stages_->hide();
  variants->body()->addWidget(stages_);
  connect(seeds_, &QLineEdit::textEdited, this,
          [this] { Q_EMIT edited(QStringLiteral("seeds"), QStringLiteral("sweep:seeds")); });
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

void SweepEditor::showStages(const Document& document) {
  QStringList names;
  if (const auto stages = document.rest.find("stage");
      stages != document.rest.end() && stages->is_array()) {
    for (const Json& stage : *stages) {
      names << QString::fromStdString(stage.is_object() && stage.contains("name") &&
                                              stage["name"].is_string()
                                          ? stage["name"].get<std::string>()
                                          : std::string("?"));
    }
  }
  stages_->setVisible(!names.isEmpty());
  stages_->setText(QStringLiteral("Stages, each a run that follows the one before: %1. They are "
                                  "edited in the TOML.")
                       .arg(names.join(QStringLiteral(" \u2192 "))));
}

void SweepEditor::setDocument(const Document& document) {
  showStages(document);
  Document shown;
  applyTo(shown);
  const auto same = [](const Document& a, const Document& b) {
    return toText(Document{{}, Json::object(), a.sweep, a.variants, {}, Json::object(), {}}) ==
           toText(Document{{}, Json::object(), b.sweep, b.variants, {}, Json::object(), {}});
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
  const std::vector<Document::Variant> before = std::move(document.variants);
  document.variants.clear();
  for (const VariantRow& row : variants_) {
    std::vector<std::string> bad;
    Document::Variant variant{row.name->text().toStdString(),
                              parseOverrides(row.overrides->toPlainText().toStdString(), bad)};
    row.problem->setVisible(!bad.empty());
    if (!bad.empty()) row.problem->setText(unreadLine(row));
    document.variants.push_back(std::move(variant));
  }
  if (before.size() != document.variants.size()) return;
  // What is left out of a variant goes with its name.
  for (Document::Exclude& exclude : document.excludes) {
    for (auto& [key, value] : exclude) {
      for (std::size_t i = 0; key == "variant" && i < before.size(); ++i) {
        if (value != before[i].name) continue;
        value = document.variants[i].name;
        break;
      }
    }
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
            : (axis.values.size() == 1 ? QStringLiteral("value of ")
                                       : QStringLiteral("values of ")) +
                  QString::fromStdString(axis.key);
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
  folds_[0]->setOpen(true);
  axes_.back().key->setFocus();
}

void SweepEditor::sweep(const std::string& key, const std::vector<Json>& values) {
  folds_[0]->setOpen(true);
  QLineEdit* line = seeds_;
  if (key != kSeedKey) {
    const auto there = std::find_if(axes_.begin(), axes_.end(), [&](const AxisRow& axis) {
      return axis.key->text().trimmed().toStdString() == key;
    });
    if (there == axes_.end()) {
      appendAxis(key, values);
      line = axes_.back().values;
    } else {
      line = there->values;
    }
  } else if (seeds_->text().trimmed().isEmpty()) {
    seeds_->setText(valuesText(values));
  }
  line->setFocus();
  line->selectAll();
  Q_EMIT edited(QStringLiteral("sweep of ") + QString::fromStdString(key), QString());
}

void SweepEditor::addVariant(const std::string& name, const std::string& key, const Json& value) {
  folds_[1]->setOpen(true);
  if (variants_.empty()) appendVariant({"baseline", {}});
  appendVariant({name, {{key, value}}});
  variants_.back().name->setFocus();
  variants_.back().name->selectAll();
  Q_EMIT edited(QStringLiteral("variant ") + QString::fromStdString(name), QString());
}

void SweepEditor::addToVariant(int place, const std::string& key, const Json& value) {
  if (place < 0 || static_cast<std::size_t>(place) >= variants_.size()) return;
  const VariantRow& row = variants_[static_cast<std::size_t>(place)];
  std::vector<std::string> bad;
  auto said = parseOverrides(row.overrides->toPlainText().toStdString(), bad);
  const auto there =
      std::find_if(said.begin(), said.end(), [&](const auto& one) { return one.first == key; });
  if (there == said.end()) {
    said.emplace_back(key, value);
  } else {
    there->second = value;
  }
  QString text = QString::fromStdString(overridesText(said));
  for (const std::string& line : bad) text += QLatin1Char('\n') + QString::fromStdString(line);
  const QSignalBlocker quiet(row.overrides);
  row.overrides->setPlainText(text);
  fitOverrides(*row.overrides);
  Q_EMIT edited(QStringLiteral("variant ") + row.name->text(), QString());
}

QStringList SweepEditor::variantNames() const {
  QStringList names;
  for (const VariantRow& row : variants_) names << row.name->text();
  return names;
}

QString SweepEditor::unreadAxis(const AxisRow& axis) {
  const QString key = axis.key->text().trimmed();
  const bool hasValues = !parseValues(axis.values->text()).empty();
  if (key.isEmpty() == !hasValues) return {};  // whole, or not begun
  return key.isEmpty() ? QStringLiteral("the axis with the values %1 has no key")
                             .arg(axis.values->text().trimmed())
                       : QStringLiteral("the axis %1 has no values").arg(key);
}

QString SweepEditor::unreadLine(const VariantRow& variant) {
  std::vector<std::string> bad;
  (void)parseOverrides(variant.overrides->toPlainText().toStdString(), bad);
  if (bad.empty()) return {};
  return QStringLiteral("\"%1\" is not key = value").arg(QString::fromStdString(bad.front()));
}

QStringList SweepEditor::unread() const {
  QStringList sentences;
  for (const AxisRow& axis : axes_) {
    if (const QString said = unreadAxis(axis); !said.isEmpty())
      sentences << QStringLiteral("In the sweep: ") + said;
  }
  for (const VariantRow& row : variants_) {
    if (const QString said = unreadLine(row); !said.isEmpty())
      sentences << QStringLiteral("In the variant \"%1\": %2").arg(row.name->text(), said);
  }
  return sentences;
}

void SweepEditor::showProblems(const std::vector<Problem>& problems) {
  for (const AxisRow& axis : axes_) {
    const std::string key = axis.key->text().trimmed().toStdString();
    QString said = unreadAxis(axis);
    for (const Problem& problem : problems) {
      const bool isMine =
          !key.empty() &&
          (problem.key == "sweep." + key ||
           (problem.key == key && problem.message.starts_with("there is no such key")));
      if (!isMine || !said.isEmpty()) continue;
      said = messageOf(problem);
    }
    axis.problem->setText(said);
    axis.problem->setVisible(!said.isEmpty());
    for (QLineEdit* line : {axis.key, axis.values}) {
      if (line->property("invalid").toBool() == !said.isEmpty()) continue;
      line->setProperty("invalid", !said.isEmpty());
      line->style()->unpolish(line);
      line->style()->polish(line);
    }
  }
}

void SweepEditor::showVariantProblems(const std::map<int, QString>& problems) {
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    const VariantRow& row = variants_[i];
    if (!unreadLine(row).isEmpty()) continue;  // said already, and first
    const auto found = problems.find(static_cast<int>(i));
    row.problem->setText(found == problems.end() ? QString() : found->second);
    row.problem->setVisible(found != problems.end());
  }
}

void SweepEditor::addVariant() {
  // The first variant is the baseline: an ablation needs it beside the change.
  if (variants_.empty()) appendVariant({"baseline", {}});
  appendVariant({"+ change", {}});
  folds_[1]->setOpen(true);
  variants_.back().overrides->setFocus();
  Q_EMIT edited(QStringLiteral("new variant"), QString());
}

void SweepEditor::appendAxis(const std::string& key, const std::vector<Json>& values) {
  auto* row = new QWidget(this);
  auto* column = new QVBoxLayout(row);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(px(2));
  auto* line = new QHBoxLayout;
  line->setSpacing(px(4));
  column->addLayout(line);
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
  QLabel* problem = labelOf(QString(), "error", row);
  problem->setWordWrap(true);
  problem->hide();
  column->addWidget(problem);
  axesBox_->addWidget(row);
  row->show();
  axes_.push_back({row, keyLine, valueLine, problem});
  const QString mergeKey = QStringLiteral("sweep:%1").arg(reinterpret_cast<quintptr>(row));
  connect(keyLine, &QLineEdit::textChanged, this, [this, mergeKey] {
    Q_EMIT edited(QStringLiteral("sweep axis"), mergeKey + QStringLiteral(":key"));
  });
  connect(valueLine, &QLineEdit::textEdited, this, [this, mergeKey] {
    Q_EMIT edited(QStringLiteral("sweep values"), mergeKey + QStringLiteral(":values"));
  });
  connect(remove, &QToolButton::clicked, this, [this, row] {
    axes_.erase(std::find_if(axes_.begin(), axes_.end(),
                             [row](const AxisRow& one) { return one.row == row; }));
    row->deleteLater();
    Q_EMIT edited(QStringLiteral("removal of an axis"), QString());
  });
}

void SweepEditor::appendVariant(const Document::Variant& variant) {
  auto* row = new QWidget(this);
  auto* column = new QVBoxLayout(row);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(px(4));
  auto* line = new QHBoxLayout;
  line->setSpacing(px(4));
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
  overrides->setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  connect(overrides->document()->documentLayout(),
          &QAbstractTextDocumentLayout::documentSizeChanged, overrides,
          [overrides] { fitOverrides(*overrides); });
  fitOverrides(*overrides);
  column->addWidget(overrides);
  QLabel* problem = labelOf(QString(), "error", row);
  problem->setWordWrap(true);
  problem->hide();
  column->addWidget(problem);
  variantsBox_->addWidget(row);
  row->show();
  variants_.push_back({row, name, overrides, problem});
  const QString mergeKey = QStringLiteral("variant:%1").arg(reinterpret_cast<quintptr>(row));
  connect(name, &QLineEdit::textEdited, this, [this, mergeKey] {
    Q_EMIT edited(QStringLiteral("name of a variant"), mergeKey + QStringLiteral(":name"));
  });
  connect(overrides, &QPlainTextEdit::textChanged, this, [this, overrides, mergeKey] {
    fitOverrides(*overrides);
    Q_EMIT edited(QStringLiteral("changes of a variant"), mergeKey + QStringLiteral(":set"));
  });
  connect(remove, &QToolButton::clicked, this, [this, row] {
    variants_.erase(std::find_if(variants_.begin(), variants_.end(),
                                 [row](const VariantRow& one) { return one.row == row; }));
    row->deleteLater();
    Q_EMIT edited(QStringLiteral("removal of a variant"), QString());
  });
}

}  // namespace vitrine::ui
