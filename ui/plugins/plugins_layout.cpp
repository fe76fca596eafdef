// The widgets of the Plugins page.
#include <QButtonGroup>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTextBrowser>
#include <QToolButton>
#include <QTreeWidget>

#include "ui/kit/fit_area.h"
#include "ui/kit/icons.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/plugins/diff_view.h"
#include "ui/plugins/plugins_page.h"

namespace vitrine::ui {

PluginsPage::PluginsPage(Workbench& workbench, QWidget* parent)
    : Page(parent), workbench_(workbench) {
  paintAs(this, "canvas");
  setMinimumSize(420, 300);
  probe_ = new QAction(icon(Icon::Refresh), tr("Reload plugins"), this);
  probe_->setToolTip(tr("Search for plugins again and read the settings of each"));
  connect(probe_, &QAction::triggered, this, &PluginsPage::probe);

  auto* outer = columnIn(this, {}, 0);
  auto* head = paintAs(new QWidget(this), "panel");
  auto* line = rowIn(head, {px(12), px(4), px(12), px(4)}, px(4));
  auto* group = new QButtonGroup(this);
  const auto mode = [&](const QString& text, const QString& tip) {
    auto* button = withName(makeToolButton(text, tip, head), text);
    button->setCheckable(true);
    button->setProperty("quiet", true);
    group->addButton(button);
    line->addWidget(button);
    return button;
  };
  listButton_ = mode(tr("Plugins and items"), tr("Loaded plugins, and the keys of each item"));
  diffButton_ = mode(tr("Architecture diff"), tr("Two configurations block by block"));
  line->addStretch();
  state_ = withName(withRole(new QLabel(head), "muted"), tr("How many plugins are loaded"));
  line->addWidget(state_);
  outer->addWidget(head);
  outer->addWidget(makeRule(this));

  modes_ = new QStackedWidget(this);
  auto* splitter = new QSplitter(modes_);
  splitter->setChildrenCollapsible(false);
  splitter->setHandleWidth(1);
  modes_->addWidget(makeFitArea(splitter, modes_));
  splitter->addWidget(makeList());
  splitter->addWidget(makeText());
  splitter->setStretchFactor(1, 1);
  splitter->setSizes({px(250), px(800)});
  diff_ = new DiffView(workbench_, modes_);
  modes_->addWidget(makeFitArea(diff_, modes_));
  outer->addWidget(modes_, 1);
  showDiff(false);

  connect(listButton_, &QToolButton::clicked, this, [this] {
    showDiff(false);
    Q_EMIT viewChanged();
  });
  connect(diffButton_, &QToolButton::clicked, this, [this] {
    showDiff(true);
    Q_EMIT viewChanged();
  });
  connect(diff_, &DiffView::sourcesChosen, this, &Page::viewChanged);
  connect(&workbench_, &Workbench::catalogReady, this, [this] {
    fillList();
    if (isDiffShown()) diff_->fillSources();
  });
  connect(&workbench_, &Workbench::catalogFailed, this, [this](const QString& sentence) {
    error_ = sentence;
    fillList();
  });
  connect(&workbench_, &Workbench::themeChanged, this, [this] {
    fillList();
    diff_->restyle();
  });
  connect(&process_, &HeadlessQuestion::finished, this, [this](const Json& report) {
    plugins_ = pluginsFromJson(report);
    folders_ = foldersFromJson(report);
    error_.clear();
    probe_->setEnabled(true);
    fillList();
  });
  connect(&process_, &HeadlessQuestion::failed, this, [this](const QString& sentence) {
    probe_->setEnabled(true);
    if (!plugins_.empty()) {
      workbench_.showError(sentence);  // what was known before still stands
      fillList();
      return;
    }
    error_ = sentence;
    fillList();
  });
}

QWidget* PluginsPage::makeList() {
  auto* panel = paintAs(new QWidget(this), "panel");
  panel->setMinimumWidth(px(140));
  auto* column = columnIn(panel, {}, 0);
  search_ = makeSearchField(tr("Search plugins and items"), tr("Search items and keys"), panel);
  auto* top = new QWidget(panel);
  auto* inTop = columnIn(top, {px(12), px(8), px(12), px(8)});
  inTop->addWidget(search_);
  column->addWidget(top);
  list_ = withName(new QTreeWidget(panel), tr("Plugins and their items"));
  list_->setColumnCount(2);
  list_->setHeaderHidden(true);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setUniformRowHeights(true);
  list_->setIndentation(px(14));
  list_->setTextElideMode(Qt::ElideRight);
  list_->header()->setStretchLastSection(false);
  list_->header()->setMinimumSectionSize(1);
  list_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  list_->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  auto* listLine = new QHBoxLayout;  // the kind of an item keeps its distance from the edge
  listLine->setContentsMargins(0, 0, px(8), 0);
  listLine->addWidget(list_);
  column->addLayout(listLine, 1);
  connect(search_, &QLineEdit::textChanged, this, &PluginsPage::filterList);
  connect(list_, &QTreeWidget::currentItemChanged, this, [this] {
    if (isFilling_) return;
    showCurrent();
    Q_EMIT viewChanged();
  });
  return panel;
}

QWidget* PluginsPage::makeText() {
  stack_ = new QStackedWidget(this);
  auto* shown = new QWidget(stack_);
  auto* column = columnIn(shown, {px(12), px(12), px(12), px(12)});
  auto* card = withRole(new QFrame(shown), "card");
  auto* inCard = columnIn(card, {px(4), px(4), px(4), px(8)}, px(8));
  text_ = withRole(new QTextBrowser(card), "mono");
  text_->setFrameShape(QFrame::NoFrame);  // no field around it
  text_->setOpenLinks(false);
  text_->setAccessibleName(tr("About the chosen plugin or item"));
  text_->document()->setDocumentMargin(px(12));
  inCard->addWidget(text_, 1);
  change_ = withName(new QPushButton(card), tr("Change the chosen plugin"));  // its text says how
  auto* buttons = rowIn(nullptr, {px(12), 0, px(12), px(4)});
  buttons->addWidget(change_);
  buttons->addStretch();
  inCard->addLayout(buttons);
  column->addWidget(card);
  stack_->addWidget(shown);
  connect(change_, &QPushButton::clicked, this, &PluginsPage::onChange);

  auto* other = new QWidget(stack_);
  auto* inOther = columnIn(other, {px(24), px(24), px(24), px(24)}, px(12));
  message_ = new WrapLabel(other);
  message_->setAlignment(Qt::AlignCenter);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  retry_ = new QPushButton(tr("Reload plugins"), other);
  connect(retry_, &QPushButton::clicked, probe_, &QAction::trigger);
  inOther->addStretch(1);
  inOther->addWidget(message_);
  inOther->addWidget(retry_, 0, Qt::AlignHCenter);
  inOther->addStretch(2);
  stack_->addWidget(makeFitArea(other, stack_));
  return stack_;
}

}  // namespace vitrine::ui
