// Rows that are added and removed; the document is read from them after each edit.
#include "ui/configure/form/sweep_editor.h"

#include <QAbstractTextDocumentLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QToolButton>
#include <algorithm>

#include "ui/configure/form/collapsible_section.h"
#include "ui/configure/form/experiment_form.h"
#include "ui/configure/form/wording.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

const char* const kSeedKey = "train.seed";

/// As tall as its lines, up to six.
void fitOverrides(QPlainTextEdit& overrides) {
  const int lines = static_cast<int>(overrides.document()->size().height());  // of a plain text
  overrides.setVerticalScrollBarPolicy(lines > 6 ? Qt::ScrollBarAsNeeded : Qt::ScrollBarAlwaysOff);
  overrides.setFixedHeight(overrides.fontMetrics().lineSpacing() * std::clamp(lines, 1, 6) +
                           px(22));
}

}  // namespace

SweepEditor::SweepEditor(QWidget* parent)
    : QWidget(parent),
      stages_(wrappedLabel("small", this)),
      seeds_(new QLineEdit(this)),
      seedsProblem_(wrappedLabel("error", this)),
      axes_(new AxisList(QStringLiteral("sweep"), tr("sweep axis"), this)),
      variantsBox_(new QVBoxLayout) {
  auto* column = columnIn(this, {}, px(8));
  const auto section = [&](const QString& name, const QString& title, const QString& button,
                           const QString& tip, auto slot) {
    auto* part = new CollapsibleSection(name, title, this);
    QToolButton* add = makeQuietButton(button, tip, part);
    connect(add, &QToolButton::clicked, this, slot);
    part->corner()->addWidget(add);
    column->addWidget(part);
    sections_.push_back(part);
    return part;
  };
  CollapsibleSection* sweep =
      section(QStringLiteral("sweep"), tr("Sweep"), tr("+ axis"),
              tr("Add an axis: every value makes a run"), qOverload<>(&SweepEditor::addAxis));
  auto* seedLine = new QHBoxLayout;
  auto* seedLabel = withRole(new QLabel(tr("Seeds"), this), "muted");
  seedLabel->setBuddy(seeds_);
  seedLine->addWidget(seedLabel);
  seeds_->setPlaceholderText(tr("0, 1, 2 for three runs"));
  seeds_->setAccessibleName(tr("Seeds, comma separated"));
  seeds_->setToolTip(
      tr("Values of train.seed: every variant and every combination of values is run with each"));
  seedLine->addWidget(seeds_, 1);
  sweep->body()->addLayout(seedLine);
  seedsProblem_->hide();
  sweep->body()->addWidget(seedsProblem_);
  sweep->body()->addWidget(axes_);
  connect(axes_, &AxisList::edited, this, &SweepEditor::edited);
  CollapsibleSection* variants =
      section(QStringLiteral("variants"), tr("Variants"), tr("+ variant"),
              tr("Add a variant: a named change, compared with the first"),
              qOverload<>(&SweepEditor::addVariant));
  variantsBox_->setSpacing(px(8));
  variants->body()->addLayout(variantsBox_);
  stages_->setAccessibleName(tr("Stages"));
  stages_->hide();
  variants->body()->addWidget(stages_);
  connect(seeds_, &QLineEdit::textEdited, this,
          [this] { Q_EMIT edited(tr("seeds"), QStringLiteral("sweep:seeds")); });
}

void SweepEditor::setKeys(const QStringList& keys) { axes_->setKeys(keys); }

void SweepEditor::showStages(const Document& document) {
  QStringList names;
  for (const Json& stage : stateList(document.rest, "stage"))
    names << QString::fromStdString(stateText(stage, "name", "?"));
  stages_->setVisible(!names.isEmpty());
  stages_->setText(tr("Stages, each a run that follows the one before: %1. They are "
                      "edited in the TOML.")
                       .arg(names.join(QStringLiteral(" \u2192 "))));
}

void SweepEditor::setDocument(const Document& document) {
  showStages(document);
  Document shown;
  applyTo(shown);
  const auto same = [](const Document& a, const Document& b) {
    return toText(Document{{}, Json::object(), a.sweep, a.variants, {}, Json::object()}) ==
           toText(Document{{}, Json::object(), b.sweep, b.variants, {}, Json::object()});
  };
  if (same(shown, document)) return;  // lines that are being typed in stay as they are
  const Document::Axis* seeds = document.axis(kSeedKey);
  seeds_->setText(seeds == nullptr ? QString() : valuesText(seeds->values));
  for (const VariantRow& variant : variants_) variant.row->deleteLater();
  variants_.clear();
  std::vector<Document::Axis> axes;
  for (const Document::Axis& axis : document.sweep) {
    if (axis.key != kSeedKey) axes.push_back(axis);
  }
  axes_->clear();
  axes_->setAxes(axes);
  for (const Document::Variant& variant : document.variants) appendVariant(variant);
}

void SweepEditor::applyTo(Document& document) const {
  document.sweep = axes_->axes();
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
  // The excluded runs of a variant follow its name.
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
  if (document.variants.size() > 1) words << tr("%1 variants").arg(document.variants.size());
  for (const Document::Axis& axis : document.sweep) {
    const QString word = axis.key == kSeedKey
                             ? (axis.values.size() == 1 ? tr("seed") : tr("seeds"))
                             : (axis.values.size() == 1 ? tr("value of ") : tr("values of ")) +
                                   QString::fromStdString(axis.key);
    words << QStringLiteral("%1 %2").arg(axis.values.size()).arg(word);
  }
  if (document.find("select") != nullptr) {
    std::size_t grid = 1;
    for (const Document::Axis& axis : gridOf(document)) grid *= axis.values.size();
    const Json* seeds = document.find("select.refit_seeds");
    const std::size_t refits = seeds != nullptr && seeds->is_array() ? seeds->size() : 1;
    words << tr("(%1 of a grid + %2 final)").arg(grid).arg(refits);
  }
  if (const Json& stages = stateMember(document.rest, "stage"); stages.is_array())
    words << tr("%1 stages").arg(stages.size());
  return words;
}

void SweepEditor::addAxis() {
  sections_[0]->setOpen(true);
  axes_->addAxis();
}

void SweepEditor::sweep(const std::string& key, const std::vector<Json>& values) {
  sections_[0]->setOpen(true);
  QLineEdit* line = seeds_;
  if (key != kSeedKey) {
    line = axes_->valuesOf(key, values);
  } else if (seeds_->text().trimmed().isEmpty()) {
    seeds_->setText(valuesText(values));
  }
  line->setFocus();
  line->selectAll();
  Q_EMIT edited(tr("sweep of ") + QString::fromStdString(key), QString());
}

void SweepEditor::addVariant(const std::string& name, const std::string& key, const Json& value) {
  sections_[1]->setOpen(true);
  if (variants_.empty()) appendVariant({"baseline", {}});
  appendVariant({name, {{key, value}}});
  variants_.back().name->setFocus();
  variants_.back().name->selectAll();
  Q_EMIT edited(tr("variant ") + QString::fromStdString(name), QString());
}

void SweepEditor::addToVariant(int place, const std::string& key, const Json& value) {
  if (place < 0 || static_cast<std::size_t>(place) >= variants_.size()) return;
  const VariantRow& row = variants_[static_cast<std::size_t>(place)];
  std::vector<std::string> bad;
  auto overrides = parseOverrides(row.overrides->toPlainText().toStdString(), bad);
  const auto there = std::find_if(overrides.begin(), overrides.end(),
                                  [&](const auto& one) { return one.first == key; });
  if (there == overrides.end()) {
    overrides.emplace_back(key, value);
  } else {
    there->second = value;
  }
  QString text = QString::fromStdString(overridesText(overrides));
  for (const std::string& line : bad) text += QLatin1Char('\n') + QString::fromStdString(line);
  const QSignalBlocker quiet(row.overrides);
  row.overrides->setPlainText(text);
  fitOverrides(*row.overrides);
  Q_EMIT edited(tr("variant ") + row.name->text(), QString());
}

QStringList SweepEditor::variantNames() const {
  QStringList names;
  for (const VariantRow& row : variants_) names << row.name->text();
  return names;
}

QString SweepEditor::unreadLine(const VariantRow& variant) {
  std::vector<std::string> bad;
  (void)parseOverrides(variant.overrides->toPlainText().toStdString(), bad);
  if (bad.empty()) return {};
  return tr("\u201c%1\u201d is not of the form key = value")
      .arg(QString::fromStdString(bad.front()));
}

QStringList SweepEditor::unread() const {
  QStringList sentences;
  for (const QString& message : axes_->unread()) sentences << tr("In the sweep: ") + message;
  for (const VariantRow& row : variants_) {
    if (const QString message = unreadLine(row); !message.isEmpty())
      sentences << tr("In the variant \u201c%1\u201d: %2").arg(row.name->text(), message);
  }
  return sentences;
}

void SweepEditor::showProblems(const std::vector<Problem>& problems) {
  axes_->showProblems(problems);
  QString message;
  for (const Problem& problem : problems) {
    if (message.isEmpty() && problem.key == std::string("sweep.") + kSeedKey)
      message = messageOf(problem);
  }
  restyle(*seeds_, "invalid", !message.isEmpty());
  sayIn(*seedsProblem_, message);
}

void SweepEditor::showVariantProblems(const std::map<int, QString>& problems) {
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    const VariantRow& row = variants_[i];
    if (!unreadLine(row).isEmpty()) continue;  // said already, and first
    const auto found = problems.find(static_cast<int>(i));
    sayIn(*row.problem, found == problems.end() ? QString() : found->second);
  }
}

void SweepEditor::addVariant() {
  // The first variant is the baseline: an ablation needs it next to the change.
  if (variants_.empty()) appendVariant({"baseline", {}});
  appendVariant({"+ change", {}});
  sections_[1]->setOpen(true);
  variants_.back().overrides->setFocus();
  Q_EMIT edited(tr("new variant"), QString());
}

void SweepEditor::appendVariant(const Document::Variant& variant) {
  auto* row = new QWidget(this);
  auto* column = columnIn(row, {}, px(4));
  auto* line = rowIn(nullptr, {}, px(4));
  auto* name =
      withName(new QLineEdit(QString::fromStdString(variant.name), row), tr("Name of the variant"));
  QToolButton* remove = makeQuietButton(QStringLiteral("\u00d7"), tr("Remove this variant"), row);
  line->addWidget(name, 1);
  line->addWidget(remove);
  column->addLayout(line);
  auto* overrides =
      withName(new QPlainTextEdit(QString::fromStdString(overridesText(variant.set)), row),
               tr("Changes of the variant, one key = value per line"));
  overrides->setPlaceholderText(variants_.empty() ? tr("nothing changed: the baseline")
                                                  : QStringLiteral("model.mask.kind = \"soft\""));
  overrides->setTabChangesFocus(true);
  overrides->setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  connect(overrides->document()->documentLayout(),
          &QAbstractTextDocumentLayout::documentSizeChanged, overrides,
          [overrides] { fitOverrides(*overrides); });
  fitOverrides(*overrides);
  column->addWidget(overrides);
  QLabel* problem = wrappedLabel("error", row);
  problem->hide();
  column->addWidget(problem);
  variantsBox_->addWidget(row);
  row->show();
  variants_.push_back({row, name, overrides, problem});
  const QString mergeKey = QStringLiteral("variant:%1").arg(reinterpret_cast<quintptr>(row));
  connect(name, &QLineEdit::textEdited, this, [this, mergeKey] {
    Q_EMIT edited(tr("name of a variant"), mergeKey + QStringLiteral(":name"));
  });
  connect(overrides, &QPlainTextEdit::textChanged, this, [this, overrides, mergeKey] {
    fitOverrides(*overrides);
    Q_EMIT edited(tr("changes of a variant"), mergeKey + QStringLiteral(":set"));
  });
  connect(remove, &QToolButton::clicked, this, [this, row] {
    variants_.erase(std::find_if(variants_.begin(), variants_.end(),
                                 [row](const VariantRow& one) { return one.row == row; }));
    row->deleteLater();
    Q_EMIT edited(tr("removal of a variant"), QString());
  });
}

}  // namespace vitrine::ui
