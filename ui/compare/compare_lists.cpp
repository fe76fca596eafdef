// The order of the table, differences between runs, and the paper's numbers next to ours.
#include <QCheckBox>
#include <QFileDialog>
#include <QFrame>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QStackedWidget>
#include <QStyleOption>
#include <QTableView>
#include <QToolButton>
#include <QTreeWidget>
#include <algorithm>

#include "ui/compare/compare_page.h"
#include "ui/figures/painting.h"
#include "ui/kit/flow_row.h"
#include "ui/kit/menus.h"
#include "ui/kit/small_widgets.h"

namespace vitrine::ui {

namespace {

/// Cuts the names of runs in their middle while it paints: variants of an experiment differ at the
/// end, where a header with a style sheet cuts.
class RunsHeader final : public QHeaderView {
 public:
  explicit RunsHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {
    setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    setSectionsMovable(true);
  }

 protected:
  void initStyleOptionForIndex(QStyleOptionHeader* option, int section) const override {
    QHeaderView::initStyleOptionForIndex(option, section);
    option->text = fontMetrics().elidedText(option->text, Qt::ElideMiddle,
                                            sectionSize(section) - 2 * px(8) - px(4));
  }
};

QTreeWidget* makeRows(QWidget* parent, const QString& name) {
  auto* tree = withName(withRole(new QTreeWidget(parent), "rows"), name);
  tree->setUniformRowHeights(true);
  tree->setTextElideMode(Qt::ElideRight);
  tree->setIndentation(px(14));
  tree->header()->setStretchLastSection(true);
  return tree;
}

QColor verdictColor(PublishedVerdict verdict) {
  if (verdict == PublishedVerdict::Matches) return themeColors().ok;
  return verdict == PublishedVerdict::Differs ? themeColors().bad : themeColors().muted;
}

QString verdictSign(PublishedVerdict verdict) {
  if (verdict == PublishedVerdict::Matches) return QStringLiteral("\u2713 ");
  return verdict == PublishedVerdict::Differs ? QStringLiteral("\u2717 ") : QString();
}

}  // namespace

// Up, down, then as the file orders them.
void ComparePage::sortBy(int column) {
  change([&](CompareChoice& choice) {
    if (choice.sortColumn != column) {
      choice.sortColumn = column;
      choice.sortOrder = Qt::AscendingOrder;
    } else if (choice.sortOrder == Qt::AscendingOrder) {
      choice.sortOrder = Qt::DescendingOrder;
    } else {
      choice.sortColumn = -1;
      choice.sortOrder = Qt::AscendingOrder;
    }
  });
}

// Its entries sort as a click on the head of a column does.
QMenu* ComparePage::makeSortMenu() {
  auto* menu = new QMenu(tr("Sort the table by"), this);
  connect(menu, &QMenu::aboutToShow, this, [this, menu] {
    menu->clear();
    for (int column = 0; column < model_.columnCount(); ++column) {
      QAction* one = menu->addAction(menuText(model_.titleOf(column)), this,
                                     [this, column] { sortBy(column); });
      one->setCheckable(true);
      one->setChecked(column == choice_.sortColumn);
    }
  });
  return menu;
}

QWidget* ComparePage::makeDifferences() {
  auto* view = new QWidget(views_);
  auto* column = columnIn(view, {}, px(8));
  auto* bar = new FlowBar(view);
  FlowRow* row = &bar->row();
  onlyDifferences_ = new QCheckBox(tr("Only differences"), view);
  connect(onlyDifferences_, &QCheckBox::clicked, this, [this](bool isOn) {
    change([isOn](CompareChoice& choice) { choice.onlyDifferences = isOn; });
  });
  row->addWidget(onlyDifferences_);
  differencesAbout_ = withRole(new ElidedLabel(view), "small");
  row->addWidget(differencesAbout_);
  row->addStretch();
  auto* copy =
      makeToolButton(tr("Copy as overrides"),
                     tr("key=value in which the run of the current column differs from the first, "
                        "for `vitrine train FILE`"),
                     view);
  connect(copy, &QToolButton::clicked, this, &ComparePage::copyOverrides);
  row->addWidget(copy);
  column->addWidget(bar);
  auto* splitter = new QSplitter(Qt::Vertical, view);
  splitter->setChildrenCollapsible(false);
  auto* card = withRole(new QFrame(splitter), "card");
  auto* inside = columnIn(card, {1, px(4), 1, px(4)});
  differenceTree_ = makeRows(card, tr("Differences between the runs"));
  differenceTree_->setHeader(new RunsHeader(differenceTree_));
  differenceTree_->setMinimumHeight(px(160));
  differenceTree_->setSelectionBehavior(QAbstractItemView::SelectItems);
  inside->addWidget(differenceTree_);
  splitter->addWidget(card);
  auto* sourceCard = withRole(new QFrame(splitter), "card");
  auto* sourceColumn = columnIn(sourceCard, {px(12), px(8), px(12), px(8)});
  auto* title = withRole(new QLabel(tr("Source"), sourceCard), "title");
  sourceColumn->addWidget(title);
  source_ = withName(withRole(new QPlainTextEdit(sourceCard), "mono"),
                     tr("Difference of the experiment files"));
  useMonoFont(*source_);
  source_->setReadOnly(true);
  source_->setLineWrapMode(QPlainTextEdit::NoWrap);
  source_->setMinimumHeight(px(90));
  title->setBuddy(source_);
  sourceColumn->addWidget(source_, 1);
  splitter->addWidget(sourceCard);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 1);
  column->addWidget(splitter, 1);
  return view;
}

void ComparePage::showDifferences() {
  DifferenceList list = differenceList(*data_, differedRuns(*data_, choice_, scope_));
  // While runs write, unchanged rows stay where the user scrolled them.
  if (list == differences_ && differenceTree_->property("only") == choice_.onlyDifferences) return;
  differences_ = std::move(list);
  differenceTree_->setProperty("only", choice_.onlyDifferences);
  differenceTree_->clear();
  QStringList header{tr("Key")};
  header << differences_.names;
  differenceTree_->setColumnCount(static_cast<int>(header.size()));
  differenceTree_->setHeaderLabels(header);
  int shown = 0, all = 0;
  QFont strong = bodyFont();
  strong.setWeight(QFont::DemiBold);
  for (const DifferenceSection& section : differences_.sections) {
    auto* top = new QTreeWidgetItem(differenceTree_, {section.title});
    top->setFont(0, strong);
    top->setFirstColumnSpanned(true);
    for (const DifferenceRow& row : section.rows) {
      ++all;
      if (choice_.onlyDifferences && !row.isDifferent) continue;
      ++shown;
      auto* item = new QTreeWidgetItem(top, QStringList{row.key} + row.values);
      for (int i = 0; i <= row.values.size(); ++i) {
        const bool isOther = i > 1 && row.values[i - 1] != row.values[0];
        item->setForeground(i, i == 0 ? themeColors().muted : themeColors().text);
        item->setToolTip(i, i == 0 ? row.key : row.values[i - 1]);
        if (isOther) {
          QFont font = bodyFont();
          font.setWeight(QFont::Medium);
          item->setFont(i, font);
          item->setBackground(i, themeColors().selection);
        }
      }
    }
    if (top->childCount() == 0) {
      auto* none = new QTreeWidgetItem(top, {tr("no difference")});
      none->setForeground(0, themeColors().muted);
    }
    top->setExpanded(true);
  }
  differenceTree_->header()->setStretchLastSection(true);
  differenceTree_->setColumnWidth(0, px(240));
  for (int i = 1; i < header.size(); ++i) {
    differenceTree_->setColumnWidth(
        i, std::clamp(differenceTree_->header()->sectionSizeHint(i), px(190), px(320)));
    differenceTree_->headerItem()->setToolTip(i, header[i]);
  }
  differencesAbout_->setText(
      tr("%1 of %2 keys%3")
          .arg(shown)
          .arg(all)
          .arg(data_->runs.size() > differences_.runs.size()
                   ? tr(" \u00b7 one run of each variant, at most six; select up to "
                        "six runs to choose")
                   : QString()));
  source_->setPlainText(differences_.source);
}

QWidget* ComparePage::makePublished() {
  auto* view = new QWidget(views_);
  auto* column = columnIn(view, {}, px(8));
  auto* row = rowIn(nullptr, {}, px(8));
  paper_ = withName(new WrapLabel(view), tr("Paper"));
  paper_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  row->addWidget(paper_, 1);
  auto* open = makeToolButton(tr("Open numbers\u2026"), tr("Another published.toml"), view);
  connect(open, &QToolButton::clicked, this, [this] {
    const QString file = QFileDialog::getOpenFileName(
        this, tr("Numbers of a paper"), published_.file, tr("Published numbers (*.toml)"));
    if (!file.isEmpty()) change([&](CompareChoice& choice) { choice.publishedFile = file; });
  });
  row->addWidget(open);
  column->addLayout(row);
  auto* card = withRole(new QFrame(view), "card");
  auto* inside = columnIn(card, {1, px(4), 1, px(4)});
  publishedTree_ = makeRows(card, tr("Published numbers next to ours"));
  publishedTree_->setMinimumHeight(px(160));
  publishedTree_->viewport()->installEventFilter(this);
  publishedTree_->setRootIsDecorated(false);
  publishedTree_->setHeaderLabels({tr("Variant"), tr("Model"), tr("Metric"), tr("Paper"),
                                   tr("Ours"), QStringLiteral("n"), tr("Order"), tr("Verdict"),
                                   tr("Place and conditions")});
  const QStringList tips{
      tr("Our variant that the printed number belongs to"),
      tr("Model and size that the number is of"),
      tr("The name that the paper has for it is in the tool tip"),
      tr("As printed"),
      tr("Mean over seeds, \u00b1 half of its 95\u2009% interval, in the paper's unit"),
      tr("Seeds"),
      tr("Whether ours moves against the baseline as the paper's does, by the paired difference "
         "over common seeds"),
      tr("Matches: the printed number lies within our interval, which reaches no further than "
         "1\u2009% of it. Undecided: a wider one. Not comparable: with the reasons"),
      tr("Table, data and other conditions of the number")};
  for (int i = 0; i < publishedTree_->columnCount(); ++i) {
    publishedTree_->headerItem()->setToolTip(i, tips[i]);
    if (i >= 3 && i <= 5)
      publishedTree_->headerItem()->setTextAlignment(i, Qt::AlignRight | Qt::AlignVCenter);
  }
  inside->addWidget(publishedTree_);
  column->addWidget(card, 3);
  claimsTitle_ = withRole(new QLabel(tr("Claims testable at this scale"), view), "title");
  column->addWidget(claimsTitle_);
  auto* claimCard = withRole(new QFrame(view), "card");
  auto* claimColumn = columnIn(claimCard, {1, px(4), 1, px(4)});
  claimTree_ = makeRows(claimCard, tr("Claims"));
  claimTree_->setMinimumHeight(px(110));
  claimColumn->addWidget(claimTree_);
  claimTree_->setRootIsDecorated(false);
  claimTree_->setHeaderLabels({tr("Claim"), tr("Verdict"), QStringLiteral("n"),
                               tr("Measured, 95\u2009% interval"), tr("Margin"), tr("Why")});
  column->addWidget(claimCard, 1);
  return view;
}

void ComparePage::readPublished() {
  publishedReader_.run(
      [this, data = data_, choice = choice_](store::RunReader& store,
                                             const std::atomic<bool>&) -> Background::Finish {
        PublishedTable table =
            readPublishedTable([&](const std::string& sql) { return store.query(sql); }, *data,
                               choice, experimentFolders());
        return [this, table = std::move(table)] {
          published_ = table;
          showPublished();
        };
      });
}

void ComparePage::showPublished() {
  publishedTree_->clear();
  claimTree_->clear();
  if (published_.file.isEmpty()) {
    paper_->setText(tr("No published numbers belong to \u201c%1\u201d. They come from a "
                       "published.toml next to its experiment file; open one.")
                        .arg(QString::fromStdString(data_->experiment)));
  } else if (!published_.error.isEmpty()) {
    paper_->setText(published_.paper + QLatin1Char('\n') + published_.error);
  } else {
    paper_->setText(published_.paper +
                    tr(" \u00b7 %1 of %2 published numbers have a variant here \u00b7 ours: %3")
                        .arg(published_.rows.size())
                        .arg(published_.total)
                        .arg(valueChoiceText(choice_.value)));
  }
  // Of one selected run, all of its experiment is compared.
  if (scope_.size() > 1)
    paper_->setText(paper_->text() + QLatin1Char('\n') +
                    tr("Counts only the selected runs: %1. Select one run to count all of its "
                       "experiment.")
                        .arg(data_->runs.size()));
  for (const PublishedRow& row : published_.rows) {
    auto* item =
        new QTreeWidgetItem(publishedTree_, {data_->labels[row.variant], row.model, row.title,
                                             number(row.value, row.decimals), oursText(row),
                                             QString::number(row.ours.count), row.order,
                                             verdictSign(row.verdict) + shortVerdictText(row),
                                             row.place + QStringLiteral(": ") + row.conditions});
    for (int i = 0; i < publishedTree_->columnCount(); ++i) {
      item->setToolTip(i, item->text(i));
      if (i >= 3 && i <= 5) item->setTextAlignment(i, Qt::AlignRight | Qt::AlignVCenter);
    }
    item->setToolTip(2, tr("%1; the paper names it %2").arg(row.title, row.metric));
    item->setToolTip(7, verdictText(row));
    item->setForeground(7, verdictColor(row.verdict));
    item->setForeground(8, themeColors().muted);
  }
  fitPublished();
  for (const ClaimRow& row : published_.claims) {
    const SampleStatistics& s = row.judgement.statistics;
    auto* item = new QTreeWidgetItem(
        claimTree_,
        {QString::fromStdString(row.claim.name),
         QString::fromStdString(toString(row.judgement.verdict)), QString::number(s.count),
         measuredText(row), thresholdText(row), QString::fromStdString(row.judgement.reason)});
    item->setToolTip(0,
                     item->text(0) + QLatin1Char('\n') + QString::fromStdString(row.claim.source));
    item->setToolTip(5, item->text(5));
    item->setToolTip(3, QString::fromStdString(measureText(row.claim)));
    item->setForeground(1, verdictColor(row.judgement.verdict));
  }
  for (int i = 0; i < 5; ++i) {
    claimTree_->resizeColumnToContents(i);
    claimTree_->setColumnWidth(i, std::min(claimTree_->columnWidth(i) + px(12), px(360)));
  }
  claimsTitle_->setVisible(!published_.claims.empty());
  claimTree_->parentWidget()->setVisible(!published_.claims.empty());
}

// The verdict is whole: the names before it are elided where there is no room for all.
void ComparePage::fitPublished() {
  constexpr int kVariant = 0, kModel = 1, kVerdict = 7;
  int all = 0;
  for (int i = 0; i <= kVerdict; ++i) {
    publishedTree_->resizeColumnToContents(i);
    const int most = i == kVerdict ? px(420) : px(220);
    publishedTree_->setColumnWidth(i, std::min(publishedTree_->columnWidth(i) + px(12), most));
    all += publishedTree_->columnWidth(i);
  }
  for (const int name : {kModel, kVariant}) {
    const int excess = all - publishedTree_->viewport()->width();
    if (excess <= 0) break;
    const int before = publishedTree_->columnWidth(name);
    publishedTree_->setColumnWidth(name, std::max(px(80), before - excess));
    all += publishedTree_->columnWidth(name) - before;
  }
}

bool ComparePage::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) {
    if (watched == tableView_->viewport()) {
      if (fitWords())
        fitColumns();
      else
        fitDiffers();
    }
    if (publishedTree_ != nullptr && watched == publishedTree_->viewport()) fitPublished();
  }
  return Page::eventFilter(watched, event);
}

QString ComparePage::howToRead() const {
  return tr(
      "Each row is a variant: runs that differ in their seed alone. The number is the mean over "
      "seeds, \u00b1 half of its 95\u2009% interval (Student's t); n is the number of seeds.\n\n"
      "The paired difference subtracts the baseline's run of the same seed, which removes the "
      "effect of the seed. Its interval is often far narrower than those of the two means. "
      "\u201cBetter\u201d or \u201cworse\u201d: the interval does not include zero. \u201cNo clear "
      "difference\u201d: it does, which does not mean that the two are equal.\n\n"
      "Finished runs count, the newest of each seed; the line below the table names the others. "
      "\u201cBest value\u201d takes the luckiest evaluation of each run and overestimates the "
      "model. With many variants some intervals miss zero by chance: one of twenty that have no "
      "effect.");
}

}  // namespace vitrine::ui
