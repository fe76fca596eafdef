#include "ui/plugins/diff_view.h"

#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QStyledItemDelegate>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/config/to_toml.h"
#include "ui/configure/configure_page.h"
#include "ui/configure/experiment_form.h"
#include "ui/figures/painting.h"
#include "ui/shell/icons.h"
#include "ui/shell/theme.h"

namespace vitrine::ui {
namespace {

constexpr int kMostRunsListed = 300;
enum BlockColumn {
  PartOfModel,
  OperatorA,
  OperatorB,
  ParametersA,
  ParametersB,
  ParametersDelta,
  FlopsA,
  FlopsB,
  FlopsDelta,
  BlockColumns
};

/// The style sheet paints over the background of an item: a thin tint is laid over it here.
class TintedRows : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const QVariant tint = index.data(Qt::BackgroundRole);
    QStyledItemDelegate::paint(painter, option, index);
    if (tint.isValid()) painter->fillRect(option.rect, tint.value<QBrush>());
  }
};

QString signedCount(std::int64_t value) {
  if (value == 0) return QStringLiteral("0");
  return (value > 0 ? QStringLiteral("+") : QStringLiteral("\u2212")) + count(std::abs(value));
}

/// Millions, with as many decimals as a small model needs.
QString megaText(double flops) {
  const double mega = flops / 1e6;
  return number(mega, mega >= 100 ? 0 : mega >= 1 ? 2 : 3);
}

QString signedMega(double flops) {
  if (flops == 0) return QStringLiteral("0");
  return (flops > 0 ? QStringLiteral("+") : QStringLiteral("\u2212")) + megaText(std::abs(flops));
}

QString partName(const QString& kind) {
  QString name = kind;
  name.replace(QLatin1Char('_'), QLatin1Char(' '));
  if (name == QLatin1String("rope")) return QStringLiteral("rotary positions");
  return name;
}

QString whatText(const std::optional<ModelBlock>& block) {
  if (!block) return QStringLiteral("\u2013");
  return block->what.isEmpty() ? partName(block->kind) : block->what;
}

QString keyText(const Json& value) {
  if (value.is_null()) return QStringLiteral("\u2013");
  if (value.is_array() && value.size() == 2 && value[0] == value[1])
    return QString::fromStdString(value[0].dump());
  return QString::fromStdString(value.is_string() ? value.get<std::string>() : tomlValue(value));
}

}  // namespace

DiffView::DiffView(Workbench& workbench, QWidget* parent) : QWidget(parent), workbench_(workbench) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(px(12), px(12), px(12), px(12));
  column->setSpacing(px(8));
  auto* line = new QHBoxLayout;
  line->setSpacing(px(8));
  const auto side = [&](Side& one, const QString& name) {
    auto* label = new QLabel(name, this);
    label->setProperty("role", "title");
    one.choice = new QComboBox(this);
    one.choice->setAccessibleName(tr("Configuration %1").arg(name));
    one.choice->setToolTip(tr("A preset, a run, or what the form shows; type to find one"));
    one.choice->setMinimumContentsLength(14);
    one.choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    one.choice->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    label->setBuddy(one.choice);
    line->addWidget(label);
    line->addWidget(one.choice, 1);
    one.check = new CheckProcess(this);
    connect(one.choice, &QComboBox::currentIndexChanged, this, [this, &one] {
      if (isFilling_) return;
      ask(one);
      Q_EMIT sourcesChosen();
    });
    connect(one.check, &CheckProcess::finished, this, [this, &one](const Json& report) {
      one.report = report;
      show();
    });
    connect(one.check, &CheckProcess::failed, this, [this, &one](const QString& sentence) {
      one.failure = sentence;
      show();
    });
  };
  side(a_, tr("A"));
  auto* swap = new QToolButton(this);
  swap->setText(QStringLiteral("\u21c4"));
  swap->setAccessibleName(tr("Swap A and B"));
  swap->setToolTip(tr("Swap A and B"));
  connect(swap, &QToolButton::clicked, this, &DiffView::swapSides);
  line->addWidget(swap);
  side(b_, tr("B"));
  ablate_ = new QPushButton(tr("Ablate this difference"), this);
  ablate_->setProperty("primary", true);
  ablate_->setToolTip(
      tr("Opens Configure with A as the baseline and one variant for each difference"));
  connect(ablate_, &QPushButton::clicked, this, &DiffView::ablate);
  line->addWidget(ablate_);
  column->addLayout(line);

  auto* card = new QFrame(this);
  card->setProperty("role", "card");
  auto* inCard = new QVBoxLayout(card);
  inCard->setContentsMargins(1, 1, 1, 1);
  inCard->setSpacing(0);
  auto* head = new QWidget(card);
  auto* inHead = new QHBoxLayout(head);
  inHead->setContentsMargins(px(12), px(8), px(12), px(8));
  totals_ = new QLabel(head);
  totals_->setTextFormat(Qt::RichText);
  totals_->setWordWrap(true);
  totals_->setAccessibleName(tr("Totals of A and B"));
  totals_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  onlyChanges_ = new QToolButton(head);
  onlyChanges_->setText(tr("Only changes"));
  onlyChanges_->setAccessibleName(tr("Only changes"));
  onlyChanges_->setToolTip(tr("Hide the pieces that are the same in both"));
  onlyChanges_->setCheckable(true);
  onlyChanges_->setProperty("quiet", true);
  connect(onlyChanges_, &QToolButton::toggled, this, &DiffView::showBlocks);
  inHead->addWidget(totals_, 1);
  inHead->addWidget(onlyChanges_, 0, Qt::AlignTop);
  inCard->addWidget(head);
  auto* rule = new QFrame(card);
  rule->setProperty("role", "rule");
  inCard->addWidget(rule);

  stack_ = new QStackedWidget(card);
  auto* down = new QSplitter(Qt::Vertical, stack_);
  down->setChildrenCollapsible(false);
  down->setHandleWidth(1);
  blocks_ = new QTreeWidget(down);
  blocks_->setAccessibleName(tr("Blocks of A and B"));
  blocks_->setColumnCount(BlockColumns);
  blocks_->setHeaderLabels({tr("Part"), tr("A"), tr("B"), tr("Parameters A"), tr("B"), tr("\u0394"),
                            tr("MFLOP A"), tr("B"), tr("\u0394")});
  blocks_->setItemDelegate(new TintedRows(blocks_));
  keys_ = new QTreeWidget(down);
  keys_->setAccessibleName(tr("Keys that differ"));
  keys_->setColumnCount(3);
  keys_->setHeaderLabels({tr("Key that differs"), tr("A"), tr("B")});
  keys_->setRootIsDecorated(false);
  for (QTreeWidget* tree : {blocks_, keys_}) {
    tree->setFrameShape(QFrame::NoFrame);
    tree->setUniformRowHeights(true);
    tree->setSelectionMode(QAbstractItemView::ExtendedSelection);
    tree->setIndentation(px(14));
    tree->header()->setStretchLastSection(false);
    tree->header()->setMinimumSectionSize(px(36));
    tree->header()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  }
  for (int i = ParametersA; i < BlockColumns; ++i)
    blocks_->headerItem()->setTextAlignment(i, Qt::AlignRight | Qt::AlignVCenter);
  for (const int i : {ParametersA, ParametersB})
    blocks_->headerItem()->setToolTip(i, tr("Numbers that training changes"));
  for (const int i : {FlopsA, FlopsB, FlopsDelta})
    blocks_->headerItem()->setToolTip(
        i, tr("Millions of operations for one image, forward; a multiply-add counts as two"));
  keys_->header()->setSectionResizeMode(QHeaderView::Stretch);
  down->addWidget(blocks_);
  down->addWidget(keys_);
  down->setStretchFactor(0, 3);
  down->setStretchFactor(1, 2);
  down->setSizes({px(360), px(200)});
  stack_->addWidget(down);
  auto* other = new QWidget(stack_);
  auto* inOther = new QVBoxLayout(other);
  inOther->setContentsMargins(px(16), px(16), px(16), px(16));
  message_ = new QLabel(other);
  message_->setWordWrap(true);
  message_->setProperty("role", "muted");
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  inOther->addWidget(message_);
  inOther->addStretch();
  stack_->addWidget(other);
  inCard->addWidget(stack_, 1);
  column->addWidget(card, 1);
  note_ = new QLabel(this);
  note_->setProperty("role", "small");
  note_->setWordWrap(true);
  column->addWidget(note_);
  show();
}

void DiffView::fill(Side& side, const QString& wanted) {
  side.choice->clear();
  const auto add = [&side](const QString& text, const QString& source) {
    side.choice->addItem(text, source);
  };
  for (const ItemCard& card : workbench_.catalog().items) {
    if (card.kind != ItemKind::Architecture) continue;
    const QString id = QString::fromStdString(card.id);
    for (const Preset& preset : card.schema.presets) {
      const QString name = QString::fromStdString(preset.name);
      add(name, QStringLiteral("preset:") + name);
    }
    add(tr("%1, all defaults").arg(id), QStringLiteral("architecture:") + id);
  }
  if (window()->findChild<ConfigurePage*>() != nullptr || wanted == QLatin1String("form"))
    add(tr("What the form shows"), QStringLiteral("form"));
  int listed = 0;
  const auto& runs = workbench_.runs();
  for (auto run = runs.rbegin(); run != runs.rend() && listed < kMostRunsListed; ++run, ++listed) {
    add(tr("run #%1 %2").arg(run->first).arg(QString::fromStdString(run->second.name)),
        QStringLiteral("run:%1").arg(run->first));
  }
  side.choice->setCurrentIndex(side.choice->findData(wanted));
}

void DiffView::fillSources() {
  isFilling_ = true;
  QString a = sourceA(), b = sourceB();
  if (a.isEmpty() || b.isEmpty()) {
    // The demo presets of two architectures are the difference that most people ask for first.
    QStringList presets;
    for (const ItemCard& card : workbench_.catalog().items) {
      if (card.kind != ItemKind::Architecture || card.schema.presets.empty()) continue;
      const Preset* demo = card.schema.preset(card.id + "/demo");
      presets << QStringLiteral("preset:") +
                     QString::fromStdString(demo != nullptr ? demo->name
                                                            : card.schema.presets.front().name);
    }
    // ViT-like encoders come before what was made of them in no catalog: the older paper first.
    if (presets.size() > 1) {
      const auto vit = presets.indexOf(QStringLiteral("preset:vit/demo"));
      if (vit > 0) presets.move(vit, 0);
    }
    if (a.isEmpty()) a = presets.value(0);
    if (b.isEmpty()) b = presets.value(1, presets.value(0));
  }
  fill(a_, a);
  fill(b_, b);
  isFilling_ = false;
  for (Side* side : {&a_, &b_}) {
    if (side->choice->currentData().toString() != side->asked) ask(*side);
  }
  show();
}

void DiffView::choose(const QString& a, const QString& b) {
  isFilling_ = true;
  a_.choice->setCurrentIndex(a_.choice->findData(a));
  b_.choice->setCurrentIndex(b_.choice->findData(b));
  isFilling_ = false;
  ask(a_);
  ask(b_);
}

void DiffView::swapSides() {
  choose(sourceB(), sourceA());
  Q_EMIT sourcesChosen();
}

QString DiffView::sourceA() const { return a_.choice->currentData().toString(); }
QString DiffView::sourceB() const { return b_.choice->currentData().toString(); }
QString DiffView::totals() const { return totals_->text(); }
QString DiffView::failure() const { return !a_.failure.isEmpty() ? a_.failure : b_.failure; }
bool DiffView::isBusy() const { return a_.check->isRunning() || b_.check->isRunning(); }

QString DiffView::nameOf(const Side& side) const {
  QString name = side.choice->currentText();
  if (name.size() > 48) name = name.left(47) + QChar(0x2026);
  return name;
}

std::string DiffView::textOf(const QString& source, QString& failure) const {
  const QString kind = source.section(QLatin1Char(':'), 0, 0);
  const std::string name = source.section(QLatin1Char(':'), 1).toStdString();
  const Catalog& catalog = workbench_.catalog();
  try {
    if (kind == QLatin1String("run")) return toToml(workbench_.store().config(std::stoll(name)));
    if (kind == QLatin1String("form")) {
      const auto* form = window()->findChild<ConfigurePage*>();
      if (form != nullptr) return form->text();
      failure = tr("The form was not opened yet: open Configure first.");
      return {};
    }
    Document document = ExperimentForm::freshDocument(catalog);
    document.title = name;
    document.erase("model.preset");
    for (const ItemCard& card : catalog.items) {
      if (card.kind != ItemKind::Architecture) continue;
      const bool isIts =
          kind == QLatin1String("preset") ? card.schema.preset(name) != nullptr : card.id == name;
      if (!isIts) continue;
      document.set("model.architecture", card.id);
      if (kind == QLatin1String("preset")) document.set("model.preset", name);
      return toText(document);
    }
    failure = tr("'%1' is not there any more: choose another configuration.").arg(source);
  } catch (const std::exception& error) {
    failure = QString::fromUtf8(error.what());
  }
  return {};
}

void DiffView::ask(Side& side) {
  side.asked = side.choice->currentData().toString();
  side.report.reset();
  side.failure.clear();
  side.check->cancel();
  if (side.asked.isEmpty()) {
    show();
    return;
  }
  const std::string text = textOf(side.asked, side.failure);
  side.text = QString::fromStdString(text);
  if (!text.empty()) side.check->ask(text);
  show();
}

std::optional<Json> DiffView::configOf(const Side& side) {
  if (!side.report || !side.report->contains("runs") || !(*side.report)["runs"].is_array() ||
      (*side.report)["runs"].empty())
    return std::nullopt;
  const Json& first = (*side.report)["runs"].front();
  if (!first.is_object() || !first.contains("config") || !first["config"].is_object())
    return std::nullopt;
  return first["config"];
}

void DiffView::show() {
  const auto problemOf = [this](const Side& side, const QString& name) -> QString {
    if (!side.failure.isEmpty()) return name + QStringLiteral(": ") + side.failure;
    if (!side.report || !blocksFromJson(*side.report).empty()) return {};
    QStringList sentences;
    for (const Json& one : side.report->value("problems", Json::array())) {
      if (!one.is_object()) continue;
      const std::string key = one.value("key", std::string()),
                        message = one.value("message", std::string());
      sentences << QString::fromStdString(key.empty() ? message : key + ": " + message);
    }
    return name + QStringLiteral(": ") +
           (sentences.isEmpty() ? tr("the model has no blocks to compare")
                                : sentences.mid(0, 3).join(QStringLiteral("; ")));
  };
  QStringList problems;
  for (const auto& [side, name] : {std::pair<const Side*, QString>{&a_, tr("A")}, {&b_, tr("B")}}) {
    const QString problem = problemOf(*side, name);
    if (!problem.isEmpty()) problems << problem;
  }
  const bool isReady = a_.report && b_.report && problems.isEmpty();
  ablate_->setEnabled(isReady);
  onlyChanges_->setEnabled(isReady);
  note_->hide();
  groups_.clear();
  if (!isReady) {
    totals_->setText(tr("Architecture, block by block"));
    message_->setProperty("role", problems.isEmpty() ? "muted" : "error");
    message_->setStyleSheet(QString());
    if (!problems.isEmpty()) {
      message_->setText(problems.join(QLatin1Char('\n')));
    } else if (isBusy()) {
      message_->setText(tr("Both are built to count their blocks: a second or two."));
    } else {
      message_->setText(
          tr("Choose two configurations: their blocks are laid side by side, with "
             "what each difference costs."));
    }
    stack_->setCurrentIndex(1);
    return;
  }
  groups_ = groupBlocks(alignBlocks(blocksFromJson(*a_.report), blocksFromJson(*b_.report)));
  const auto total = [](const Side& side, const char* key) {
    const Json totals = side.report->value("totals", Json());
    return totals.is_object() && totals.contains(key) && totals[key].is_number()
               ? totals[key].get<double>()
               : 0.0;
  };
  const double parametersA = total(a_, "parameters"), parametersB = total(b_, "parameters"),
               flopsA = total(a_, "flops"), flopsB = total(b_, "flops");
  const auto share = [](double before, double after) {
    return before > 0 ? QStringLiteral(" (%1%2\u202f%)")
                            .arg(after >= before ? QStringLiteral("+") : QStringLiteral("\u2212"),
                                 number(std::abs(after / before - 1) * 100, 1))
                      : QString();
  };
  totals_->setText(
      tr("<b>%1</b> to <b>%2</b>: parameters %3 \u2192 %4, %5%6 \u00b7 MFLOP per image %7 \u2192 "
         "%8, %9")
          .arg(nameOf(a_).toHtmlEscaped(), nameOf(b_).toHtmlEscaped(),
               count(static_cast<std::int64_t>(parametersA)),
               count(static_cast<std::int64_t>(parametersB)),
               signedCount(static_cast<std::int64_t>(parametersB - parametersA)),
               share(parametersA, parametersB), megaText(flopsA), megaText(flopsB),
               signedMega(flopsB - flopsA)) +
      share(flopsA, flopsB));
  showBlocks();
  showKeys();
  stack_->setCurrentIndex(0);
}

void DiffView::showBlocks() {
  blocks_->clear();
  QColor tint = tokens().accent;
  tint.setAlphaF(0.16F);
  const auto fillRow = [&](QTreeWidgetItem* item, const BlockPair& pair) {
    const QString kind = pair.a ? pair.a->kind : pair.b->kind;
    item->setText(PartOfModel, partName(kind));
    item->setText(OperatorA, whatText(pair.a));
    item->setText(OperatorB, whatText(pair.b));
    const auto numberOf = [](const std::optional<ModelBlock>& block, bool isFlops) {
      if (!block) return QStringLiteral("\u2013");
      return isFlops ? megaText(block->flops) : count(block->parameters);
    };
    item->setText(ParametersA, numberOf(pair.a, false));
    item->setText(ParametersB, numberOf(pair.b, false));
    item->setText(ParametersDelta, signedCount(pair.parameterDelta()));
    item->setText(FlopsA, numberOf(pair.a, true));
    item->setText(FlopsB, numberOf(pair.b, true));
    item->setText(FlopsDelta, signedMega(pair.flopDelta()));
    item->setToolTip(PartOfModel, (pair.a ? pair.a->name : QStringLiteral("\u2013")) +
                                      QStringLiteral(" \u2192 ") +
                                      (pair.b ? pair.b->name : QStringLiteral("\u2013")));
    for (const int i : {OperatorA, OperatorB}) item->setToolTip(i, item->text(i));
    const bool isChanged = pair.isChanged();
    const bool isOther = !pair.a || !pair.b || pair.a->what != pair.b->what;
    for (int i = 0; i < BlockColumns; ++i) {
      if (i >= ParametersA) item->setTextAlignment(i, Qt::AlignRight | Qt::AlignVCenter);
      if (isChanged) item->setBackground(i, tint);
      if (!isChanged) item->setForeground(i, tokens().muted);
    }
    if (isOther) {
      QFont strong = item->font(OperatorB);
      strong.setWeight(QFont::DemiBold);
      item->setFont(OperatorB, strong);
    }
    // Not by colour alone.
    item->setText(PartOfModel, (isChanged ? QStringLiteral("\u2260 ") : QStringLiteral("= ")) +
                                   item->text(PartOfModel));
  };
  for (const BlockGroup& group : groups_) {
    if (onlyChanges_->isChecked() && !group.isChanged()) continue;
    auto* item = new QTreeWidgetItem(blocks_);
    if (group.layers == 0) {
      fillRow(item, group.pairs.front());
      continue;
    }
    std::int64_t a = 0, b = 0;
    double flopsA = 0, flopsB = 0;
    for (const BlockPair& pair : group.pairs) {
      a += pair.a ? pair.a->parameters : 0;
      b += pair.b ? pair.b->parameters : 0;
      flopsA += pair.a ? pair.a->flops : 0;
      flopsB += pair.b ? pair.b->flops : 0;
      if (onlyChanges_->isChecked() && !pair.isChanged()) continue;
      fillRow(new QTreeWidgetItem(item), pair);
    }
    const int n = group.layers;
    item->setText(PartOfModel, group.name);
    item->setText(OperatorA, n > 1 ? tr("%1 alike; one is listed").arg(n) : QString());
    item->setForeground(OperatorA, tokens().muted);
    item->setText(ParametersA, count(a * n));
    item->setText(ParametersB, count(b * n));
    item->setText(ParametersDelta, signedCount((b - a) * n));
    item->setText(FlopsA, megaText(flopsA * n));
    item->setText(FlopsB, megaText(flopsB * n));
    item->setText(FlopsDelta, signedMega((flopsB - flopsA) * n));
    item->setToolTip(PartOfModel,
                     n > 1 ? tr("The numbers of this row are of all %1 blocks, those below "
                                "of one of them")
                                 .arg(n)
                           : group.name);
    QFont strong = item->font(PartOfModel);
    strong.setWeight(QFont::DemiBold);
    item->setFont(PartOfModel, strong);
    for (int i = ParametersA; i < BlockColumns; ++i)
      item->setTextAlignment(i, Qt::AlignRight | Qt::AlignVCenter);
    item->setExpanded(group.isChanged());
  }
  for (int i = 0; i < BlockColumns; ++i) {
    if (i == OperatorA || i == OperatorB) continue;
    blocks_->resizeColumnToContents(i);
    blocks_->setColumnWidth(i, blocks_->columnWidth(i) + px(10));
  }
  blocks_->header()->setSectionResizeMode(OperatorA, QHeaderView::Stretch);
  blocks_->header()->setSectionResizeMode(OperatorB, QHeaderView::Stretch);
}

void DiffView::showKeys() {
  keys_->clear();
  const auto a = configOf(a_), b = configOf(b_);
  if (!a || !b) return;
  int other = 0;
  for (const char* table : {"model", "task", "data", "train"}) {
    const Json before = a->value(table, Json::object()), after = b->value(table, Json::object());
    for (const Difference& one : difference(before, after)) {
      auto* item = new QTreeWidgetItem(
          keys_, {QString::fromLatin1(table) + QLatin1Char('.') + QString::fromStdString(one.key),
                  keyText(one.before), keyText(one.after)});
      for (int i = 0; i < 3; ++i) item->setToolTip(i, item->text(i));
      if (std::string(table) != "model") {
        ++other;
        for (int i = 0; i < 3; ++i) item->setForeground(i, tokens().muted);
      }
    }
  }
  if (keys_->topLevelItemCount() == 0)
    new QTreeWidgetItem(keys_, {tr("Nothing differs."), QString(), QString()});
  ablate_->setEnabled(keys_->topLevelItemCount() > other &&
                      !keys_->topLevelItem(0)->text(1).isEmpty());
}

void DiffView::ablate() {
  const auto a = configOf(a_), b = configOf(b_);
  if (!a || !b || !a->contains("model") || !b->contains("model")) return;
  Problem problem;
  const auto base = parseDocument(a_.text.toStdString(), problem);
  if (!base) {
    workbench_.say(tr("A is no experiment file: %1").arg(QString::fromStdString(problem.message)));
    return;
  }
  const Ablation ablation =
      ablationOf(*base, nameOf(a_), (*a)["model"], nameOf(b_), (*b)["model"], workbench_.catalog());
  workbench_.configure(ablation.text, QString());
  workbench_.say(
      tr("%1 of %2 to %3 are ready to start.")
          .arg(counted(ablation.variants.size(), tr("variant"), tr("variants")), nameOf(a_),
               nameOf(b_)) +
      (ablation.left > 0 ? tr(" %1 differences found no room.").arg(ablation.left) : QString()));
}

void DiffView::restyle() { show(); }

Json DiffView::tableJson() const {
  if (groups_.empty()) return {};
  Json table = Json::object();
  table["columns"] = {"block",        "part",   "A",       "B",      "parameters A",
                      "parameters B", "change", "MFLOP A", "MFLOP B"};
  table["rows"] = Json::array();
  for (const BlockGroup& group : groups_) {
    for (const BlockPair& pair : group.pairs) {
      const QString kind = pair.a ? pair.a->kind : pair.b->kind;
      const auto numbers = [](const std::optional<ModelBlock>& one, bool isFlops) -> Json {
        if (!one) return nullptr;
        return isFlops ? Json(one->flops / 1e6) : Json(one->parameters);
      };
      table["rows"].push_back(
          {(group.name + (group.layers > 1 ? tr(", each") : QString())).toStdString(),
           partName(kind).toStdString(), whatText(pair.a).toStdString(),
           whatText(pair.b).toStdString(), numbers(pair.a, false), numbers(pair.b, false),
           pair.parameterDelta(), numbers(pair.a, true), numbers(pair.b, true)});
    }
  }
  return table;
}

QString DiffView::csv() const {
  const Json table = tableJson();
  if (!table.is_object()) return {};
  QString text;
  const auto line = [&text](const Json& cells) {
    QStringList out;
    for (const Json& cell : cells)
      out << (cell.is_null() ? QString()
                             : csvText(QString::fromStdString(
                                   cell.is_string() ? cell.get<std::string>() : cell.dump())));
    text += out.join(QLatin1Char(',')) + QLatin1Char('\n');
  };
  line(table["columns"]);
  for (const Json& row : table["rows"]) line(row);
  return text;
}

}  // namespace vitrine::ui
