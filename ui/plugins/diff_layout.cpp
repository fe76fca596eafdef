// The widgets of the architecture diff.
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

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/plugins/block_text.h"
#include "ui/plugins/diff_view.h"

namespace vitrine::ui {
namespace {

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

}  // namespace

DiffView::DiffView(Workbench& workbench, QWidget* parent) : QWidget(parent), workbench_(workbench) {
  auto* column = columnIn(this, {px(12), px(12), px(12), px(12)}, px(8));
  auto* line = rowIn(nullptr, {}, px(8));
  const auto side = [&](Side& one, const QString& name) {
    auto* label = withRole(new QLabel(name, this), "title");
    one.choice = withName(new QComboBox(this), tr("Configuration %1").arg(name),
                          tr("A preset, a run, or the form; type to find one"));
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
      one.error = sentence;
      show();
    });
  };
  side(a_, tr("A"));
  auto* swap = withName(makeToolButton(QStringLiteral("\u21c4"), tr("Swap A and B"), this),
                        tr("Swap A and B"));
  connect(swap, &QToolButton::clicked, this, &DiffView::swapSides);
  line->addWidget(swap);
  side(b_, tr("B"));
  setFocusProxy(a_.choice);
  ablate_ = new QPushButton(tr("Ablate this difference"), this);
  ablate_->setProperty("primary", true);
  ablate_->setToolTip(
      tr("Opens Configure with A as the baseline and one variant for each difference"));
  connect(ablate_, &QPushButton::clicked, this, &DiffView::ablate);
  line->addWidget(ablate_);
  column->addLayout(line);

  auto* card = withRole(new QFrame(this), "card");
  auto* inCard = columnIn(card, {1, 1, 1, 1}, 0);
  auto* head = new QWidget(card);
  auto* inHead = rowIn(head, {px(12), px(8), px(12), px(8)});
  totals_ = withName(new QLabel(head), tr("Totals of A and B"));
  totals_->setTextFormat(Qt::RichText);
  totals_->setWordWrap(true);
  totals_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  onlyChanges_ = withName(
      makeToolButton(tr("Only changes"), tr("Hide the pieces that are the same in both"), head),
      tr("Only changes"));
  onlyChanges_->setCheckable(true);
  onlyChanges_->setProperty("quiet", true);
  connect(onlyChanges_, &QToolButton::toggled, this, &DiffView::showBlocks);
  inHead->addWidget(totals_, 1);
  inHead->addWidget(onlyChanges_, 0, Qt::AlignTop);
  inCard->addWidget(head);
  inCard->addWidget(makeRule(card));

  stack_ = new QStackedWidget(card);
  auto* down = new QSplitter(Qt::Vertical, stack_);
  down->setChildrenCollapsible(false);
  down->setHandleWidth(1);
  blocks_ = withName(new QTreeWidget(down), tr("Blocks of A and B"));
  blocks_->setColumnCount(BlockColumns);
  blocks_->setHeaderLabels({tr("Part"), tr("A"), tr("B"), tr("Parameters A"), tr("B"), tr("\u0394"),
                            tr("MFLOP A"), tr("B"), tr("\u0394")});
  blocks_->setItemDelegate(new TintedRows(blocks_));
  keys_ = withName(new QTreeWidget(down), tr("Keys that differ"));
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
        i, tr("Millions of operations for one sample, forward; a multiply-add counts as two"));
  keys_->header()->setSectionResizeMode(QHeaderView::Stretch);
  down->addWidget(blocks_);
  down->addWidget(keys_);
  down->setStretchFactor(0, 3);
  down->setStretchFactor(1, 2);
  down->setSizes({px(360), px(200)});
  stack_->addWidget(down);
  auto* other = new QWidget(stack_);
  auto* inOther = columnIn(other, {px(16), px(16), px(16), px(16)});
  message_ = wrappedLabel("muted", other);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  inOther->addWidget(message_);
  inOther->addStretch();
  stack_->addWidget(other);
  inCard->addWidget(stack_, 1);
  column->addWidget(card, 1);
  note_ = wrappedLabel("small", this);
  column->addWidget(note_);
  show();
}

}  // namespace vitrine::ui
