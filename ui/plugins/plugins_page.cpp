#include "ui/plugins/plugins_page.h"

#include <QButtonGroup>
#include <QCoreApplication>
#include <QElapsedTimer>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTextBrowser>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "core/artifact/artifact.h"
#include "ui/figures/figure.h"
#include "ui/plugins/diff_view.h"
#include "ui/plugins/item_text.h"
#include "ui/shell/icons.h"
#include "ui/shell/theme.h"

namespace vitrine::ui {
namespace {

constexpr int kEntryRole = Qt::UserRole;      // "plugin:vit", "item:architecture/vit"
constexpr int kWordsRole = Qt::UserRole + 1;  // what the search looks at
constexpr int kPluginsSettleMs = 20'000;

QString entryOf(const ItemCard& card) {
  return QStringLiteral("item:") + QString::fromStdString(toString(card.kind)) + QLatin1Char('/') +
         QString::fromStdString(card.id);
}

QString stateWord(PluginEntry::State state) {
  switch (state) {
    case PluginEntry::State::Loaded:
      return QStringLiteral("loaded");
    case PluginEntry::State::Disabled:
      return QStringLiteral("disabled");
    case PluginEntry::State::Refused:
      return QStringLiteral("refused");
  }
  return {};
}

}  // namespace

PageFactory pluginsPage() {
  return {QStringLiteral("plugins"), PluginsPage::tr("Plugins"),
          [](Workbench& workbench, QWidget* parent) { return new PluginsPage(workbench, parent); }};
}

PluginsPage::PluginsPage(Workbench& workbench, QWidget* parent)
    : Page(parent), workbench_(workbench) {
  setProperty("role", "canvas");
  setAttribute(Qt::WA_StyledBackground);
  setMinimumSize(420, 300);
  probe_ = new QAction(icon(Icon::Refresh), tr("Probe again"), this);
  probe_->setToolTip(tr("Look for plugins once more and ask each for its schemas"));
  connect(probe_, &QAction::triggered, this, &PluginsPage::probe);

  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  outer->setSpacing(0);
  auto* head = new QWidget(this);
  head->setProperty("role", "panel");
  head->setAttribute(Qt::WA_StyledBackground);
  auto* line = new QHBoxLayout(head);
  line->setContentsMargins(px(12), px(4), px(12), px(4));
  line->setSpacing(px(4));
  auto* group = new QButtonGroup(this);
  const auto mode = [&](const QString& text, const QString& tip) {
    auto* button = new QToolButton(head);
    button->setText(text);
    button->setAccessibleName(text);
    button->setToolTip(tip);
    button->setCheckable(true);
    button->setProperty("quiet", true);
    group->addButton(button);
    line->addWidget(button);
    return button;
  };
  listButton_ = mode(tr("Plugins and items"), tr("What is loaded, and what each item takes"));
  diffButton_ = mode(tr("Architecture diff"), tr("Two configurations block by block"));
  line->addStretch();
  state_ = new QLabel(head);
  state_->setProperty("role", "muted");
  state_->setAccessibleName(tr("How many plugins are loaded"));
  line->addWidget(state_);
  outer->addWidget(head);
  auto* rule = new QFrame(this);
  rule->setProperty("role", "rule");
  outer->addWidget(rule);

  modes_ = new QStackedWidget(this);
  auto* splitter = new QSplitter(modes_);
  splitter->setChildrenCollapsible(false);
  splitter->setHandleWidth(1);
  splitter->addWidget(makeList());
  splitter->addWidget(makeText());
  splitter->setStretchFactor(1, 1);
  splitter->setSizes({px(250), px(800)});
  modes_->addWidget(splitter);
  diff_ = new DiffView(workbench_, modes_);
  modes_->addWidget(diff_);
  outer->addWidget(modes_, 1);
  listButton_->setChecked(true);

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
    failure_ = sentence;
    fillList();
  });
  connect(&workbench_, &Workbench::themeChanged, this, [this] {
    fillList();
    diff_->restyle();
  });
  connect(&process_, &PluginsProcess::finished, this, [this](const Json& report) {
    plugins_ = pluginsFromJson(report);
    failure_.clear();
    probe_->setEnabled(true);
    fillList();
  });
  connect(&process_, &PluginsProcess::failed, this, [this](const QString& sentence) {
    probe_->setEnabled(true);
    if (!plugins_.empty()) {
      workbench_.say(sentence);  // what was known before still stands
      fillList();
      return;
    }
    failure_ = sentence;
    fillList();
  });
}

QWidget* PluginsPage::makeList() {
  auto* panel = new QWidget(this);
  panel->setProperty("role", "panel");
  panel->setAttribute(Qt::WA_StyledBackground);
  panel->setMinimumWidth(px(180));
  auto* column = new QVBoxLayout(panel);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  search_ = new QLineEdit(panel);
  search_->setPlaceholderText(tr("Search items, keys and meanings"));
  search_->setAccessibleName(tr("Search plugins and items"));
  search_->setClearButtonEnabled(true);
  auto* top = new QWidget(panel);
  auto* inTop = new QVBoxLayout(top);
  inTop->setContentsMargins(px(12), px(8), px(12), px(8));
  inTop->addWidget(search_);
  column->addWidget(top);
  list_ = new QTreeWidget(panel);
  list_->setAccessibleName(tr("Plugins and their items"));
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
  column->addWidget(list_, 1);
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
  auto* column = new QVBoxLayout(shown);
  column->setContentsMargins(px(12), px(12), px(12), px(12));
  auto* card = new QFrame(shown);
  card->setProperty("role", "card");
  auto* inCard = new QVBoxLayout(card);
  inCard->setContentsMargins(px(4), px(4), px(4), px(8));
  inCard->setSpacing(px(8));
  text_ = new QTextBrowser(card);
  text_->setFrameShape(QFrame::NoFrame);
  text_->setProperty("role", "mono");  // no field around it
  text_->setOpenLinks(false);
  text_->setAccessibleName(tr("About the chosen plugin or item"));
  text_->document()->setDocumentMargin(px(12));
  inCard->addWidget(text_, 1);
  change_ = new QPushButton(card);
  change_->setAccessibleName(tr("Change the chosen plugin"));  // its text says how
  auto* buttons = new QHBoxLayout;
  buttons->setContentsMargins(px(12), 0, px(12), px(4));
  buttons->addWidget(change_);
  buttons->addStretch();
  inCard->addLayout(buttons);
  column->addWidget(card);
  stack_->addWidget(shown);
  connect(change_, &QPushButton::clicked, this, &PluginsPage::onChange);

  auto* other = new QWidget(stack_);
  auto* inOther = new QVBoxLayout(other);
  inOther->setContentsMargins(px(24), px(24), px(24), px(24));
  inOther->setSpacing(px(12));
  message_ = new QLabel(other);
  message_->setWordWrap(true);
  message_->setAlignment(Qt::AlignCenter);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  retry_ = new QPushButton(tr("Probe again"), other);
  connect(retry_, &QPushButton::clicked, probe_, &QAction::trigger);
  inOther->addStretch(1);
  inOther->addWidget(message_);
  inOther->addWidget(retry_, 0, Qt::AlignHCenter);
  inOther->addStretch(2);
  stack_->addWidget(other);
  return stack_;
}

void PluginsPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (!isAsked_) {
    isAsked_ = true;
    process_.ask();
    (void)workbench_.catalog();
  }
  fillList();
  if (isDiffShown()) diff_->fillSources();
}

void PluginsPage::probe() {
  isAsked_ = true;
  failure_.clear();
  probe_->setEnabled(false);
  process_.ask();
  workbench_.askCatalogAgain();
  fillList();
}

void PluginsPage::setEnabledPlugin(const QString& id, bool isEnabled) {
  probe_->setEnabled(false);
  process_.ask({isEnabled ? QStringLiteral("--enable") : QStringLiteral("--disable"), id});
  // The schemas follow once the setting is written.
  auto* once = new QObject(this);
  connect(&process_, &PluginsProcess::finished, once, [this, once, id, isEnabled] {
    once->deleteLater();
    workbench_.askCatalogAgain();
    workbench_.say(isEnabled ? tr("The plugin %1 is loaded from now on.").arg(id)
                             : tr("The plugin %1 is not loaded from now on; runs in progress keep "
                                  "it.")
                                   .arg(id));
  });
  connect(&process_, &PluginsProcess::failed, once, [once] { once->deleteLater(); });
  fillList();
}

void PluginsPage::trust(const QString& file) {
  probe_->setEnabled(false);
  process_.ask({QStringLiteral("--trust"), file});
  auto* once = new QObject(this);
  connect(&process_, &PluginsProcess::finished, once, [this, once, file] {
    once->deleteLater();
    workbench_.askCatalogAgain();
    workbench_.say(tr("%1 is trusted as long as its content stays.").arg(file));
  });
  connect(&process_, &PluginsProcess::failed, once, [once] { once->deleteLater(); });
  fillList();
}

void PluginsPage::onChange() {
  const PluginEntry* plugin = currentPlugin();
  if (plugin == nullptr) return;
  if (plugin->state != PluginEntry::State::Refused) {
    setEnabledPlugin(plugin->id, plugin->state == PluginEntry::State::Disabled);
    return;
  }
  const auto answer = QMessageBox::question(
      this, tr("Trust a plugin"),
      tr("A plugin is a program that runs as you. Trust %1 as it is now, if you know where it "
         "comes from.\n\nSHA-256 %2")
          .arg(plugin->file, plugin->sha256),
      QMessageBox::Yes | QMessageBox::Cancel, QMessageBox::Cancel);
  if (answer == QMessageBox::Yes) trust(plugin->file);
}

const PluginEntry* PluginsPage::currentPlugin() const {
  const QTreeWidgetItem* item = list_->currentItem();
  const QString entry = item == nullptr ? QString() : item->data(0, kEntryRole).toString();
  if (!entry.startsWith(QLatin1String("plugin:"))) return nullptr;
  const auto found = std::find_if(
      plugins_.begin(), plugins_.end(),
      [&entry](const PluginEntry& one) { return entry == QStringLiteral("plugin:") + one.name(); });
  return found == plugins_.end() ? nullptr : &*found;
}

void PluginsPage::fillList() {
  isFilling_ = true;
  const QTreeWidgetItem* was = list_->currentItem();
  QString current = was == nullptr ? wanted_ : was->data(0, kEntryRole).toString();
  if (!wanted_.isEmpty()) current = wanted_;
  list_->clear();
  const Catalog& catalog = workbench_.catalog();
  int loaded = 0, disabled = 0, refused = 0;
  const auto addItems = [&](QTreeWidgetItem* parent, const std::string& plugin) {
    QStringList words;
    for (const ItemKind kind :
         {ItemKind::Architecture, ItemKind::Task, ItemKind::Dataset, ItemKind::Analysis}) {
      for (const ItemCard& card : catalog.items) {
        if (card.kind != kind || card.plugin != plugin) continue;
        auto* item = new QTreeWidgetItem(
            parent, {QString::fromStdString(card.id), QString::fromStdString(toString(kind))});
        item->setData(0, kEntryRole, entryOf(card));
        item->setData(0, kWordsRole, itemWords(card));
        item->setForeground(1, tokens().muted);
        item->setToolTip(0, QString::fromStdString(card.title));
        words << itemWords(card);
      }
    }
    return words.join(QLatin1Char(' '));
  };
  for (const PluginEntry& plugin : plugins_) {
    auto* item = new QTreeWidgetItem(list_, {plugin.name(), stateWord(plugin.state)});
    item->setData(0, kEntryRole, QStringLiteral("plugin:") + plugin.name());
    const bool isLoaded = plugin.state == PluginEntry::State::Loaded;
    (isLoaded ? loaded : plugin.state == PluginEntry::State::Disabled ? disabled : refused) += 1;
    item->setForeground(
        1, plugin.state == PluginEntry::State::Refused ? tokens().bad : tokens().muted);
    if (!isLoaded) item->setForeground(0, tokens().muted);
    if (isLoaded) item->setText(1, plugin.version);
    QFont strong = item->font(0);
    strong.setWeight(QFont::Medium);
    item->setFont(0, strong);
    item->setToolTip(0, plugin.sentence.isEmpty() ? plugin.file : plugin.sentence);
    item->setToolTip(1, item->toolTip(0));
    QString words =
        plugin.name() + QLatin1Char(' ') + plugin.file + QLatin1Char(' ') + plugin.sentence;
    if (isLoaded) words += QLatin1Char(' ') + addItems(item, plugin.id.toStdString());
    item->setData(0, kWordsRole, words);
    item->setExpanded(isLoaded);
  }
  if (plugins_.empty() && !catalog.items.empty()) {
    // The schemas are cached, the plugins have to be asked: show what is known already.
    QStringList known;
    for (const ItemCard& card : catalog.items) {
      const QString id = QString::fromStdString(card.plugin);
      if (known.contains(id)) continue;
      known << id;
      auto* item = new QTreeWidgetItem(list_, {id, QString()});
      item->setData(0, kEntryRole, QStringLiteral("plugin:") + id);
      item->setData(0, kWordsRole, addItems(item, card.plugin));
      item->setExpanded(true);
    }
  }
  if (list_->topLevelItemCount() > 0) {
    auto* core = new QTreeWidgetItem(list_, {tr("Every experiment"), QString()});
    core->setFlags(Qt::ItemIsEnabled);
    core->setForeground(0, tokens().muted);
    QString words;
    for (const char* name : {"train", "data", "observe"}) {
      const QString text = QString::fromLatin1(name);
      auto* item =
          new QTreeWidgetItem(core, {QLatin1Char('[') + text + QLatin1Char(']'), tr("table")});
      item->setData(0, kEntryRole, QStringLiteral("core:") + text);
      ItemCard card;
      card.id = name;
      card.schema = text == QLatin1String("train")  ? trainSchema()
                    : text == QLatin1String("data") ? dataSchema()
                                                    : observeSchema();
      item->setData(0, kWordsRole, itemWords(card));
      item->setForeground(1, tokens().muted);
      words += itemWords(card);
    }
    core->setData(0, kWordsRole, words);
    core->setExpanded(true);
  }
  QStringList parts;
  if (loaded > 0) parts << tr("%1 loaded").arg(loaded);
  if (disabled > 0) parts << tr("%1 disabled").arg(disabled);
  if (refused > 0) parts << tr("%1 refused").arg(refused);
  if (process_.isRunning()) parts << tr("probing\u2026");
  state_->setText(parts.join(QStringLiteral(" \u00b7 ")));
  isFilling_ = false;
  filterList();
  showEntry(current);
  if (list_->currentItem() == nullptr && list_->topLevelItemCount() > 0) {
    const QSignalBlocker quiet(list_);
    list_->setCurrentItem(list_->topLevelItem(0));
  }
  showCurrent();
}

void PluginsPage::filterList() {
  const QStringList wanted =
      search_->text().simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  const auto fits = [&wanted](const QTreeWidgetItem* item) {
    const QString words = item->data(0, kWordsRole).toString() + QLatin1Char(' ') + item->text(0);
    return std::all_of(wanted.begin(), wanted.end(), [&words](const QString& one) {
      return words.contains(one, Qt::CaseInsensitive);
    });
  };
  for (int i = 0; i < list_->topLevelItemCount(); ++i) {
    QTreeWidgetItem* plugin = list_->topLevelItem(i);
    bool isAny = fits(plugin);
    for (int j = 0; j < plugin->childCount(); ++j) {
      const bool isIt = fits(plugin->child(j));
      plugin->child(j)->setHidden(!isIt);
      isAny = isAny || isIt;
    }
    plugin->setHidden(!isAny);
  }
}

void PluginsPage::showEntry(const QString& entry) {
  if (entry.isEmpty()) return;
  wanted_ = entry;
  for (int i = 0; i < list_->topLevelItemCount(); ++i) {
    QTreeWidgetItem* plugin = list_->topLevelItem(i);
    for (int j = -1; j < plugin->childCount(); ++j) {
      QTreeWidgetItem* item = j < 0 ? plugin : plugin->child(j);
      if (item->data(0, kEntryRole).toString() != entry) continue;
      wanted_.clear();
      list_->setCurrentItem(item);
      return;
    }
  }
}

void PluginsPage::showCurrent() {
  if (list_->topLevelItemCount() == 0) {
    const bool isBusy = process_.isRunning() && failure_.isEmpty();
    message_->setProperty("role", failure_.isEmpty() ? "muted" : "error");
    message_->style()->unpolish(message_);
    message_->style()->polish(message_);
    message_->setText(!failure_.isEmpty() ? tr("The plugins cannot be asked: %1").arg(failure_)
                      : isBusy
                          ? tr("Plugins are asked what they bring: a second or two.")
                          : tr("No plugin was found: without one there is no model to train."));
    retry_->setVisible(!isBusy);
    stack_->setCurrentIndex(1);
    return;
  }
  stack_->setCurrentIndex(0);
  const QTreeWidgetItem* item = list_->currentItem();
  const QString entry = item == nullptr ? QString() : item->data(0, kEntryRole).toString();
  const Catalog& catalog = workbench_.catalog();
  QString html;
  if (entry.startsWith(QLatin1String("core:"))) {
    html = coreHtml(entry.mid(5));
  } else if (entry.startsWith(QLatin1String("item:"))) {
    for (const ItemCard& card : catalog.items) {
      if (entryOf(card) == entry) html = itemHtml(card, catalog);
    }
  }
  const PluginEntry* plugin = currentPlugin();
  if (plugin != nullptr) html = pluginHtml(*plugin, catalog);
  // The whole page in the colours of the theme, tables too.
  text_->document()->setDefaultFont(bodyFont());
  text_->document()->setDefaultStyleSheet(
      QStringLiteral("body, td, li, p { color: %1; }").arg(tokens().text.name()));
  text_->setHtml(QStringLiteral("<body>%1</body>").arg(html));
  const bool canTrust = plugin != nullptr && plugin->canBeTrusted;
  const bool canSwitch =
      plugin != nullptr && plugin->state != PluginEntry::State::Refused && !plugin->id.isEmpty();
  change_->setVisible(canTrust || canSwitch);
  change_->setEnabled(!process_.isRunning());
  if (canTrust) {
    change_->setText(tr("Trust\u2026"));
    change_->setToolTip(tr("Load this file from now on, as long as its content stays"));
  } else if (canSwitch) {
    const bool isOff = plugin->state == PluginEntry::State::Disabled;
    change_->setText(isOff ? tr("Enable") : tr("Disable"));
    change_->setToolTip(isOff ? tr("Load it again")
                              : tr("Do not load it from now on; runs that need it say so"));
  }
  change_->setAccessibleName(change_->text());
}

QString PluginsPage::failure() const { return failure_; }
bool PluginsPage::isDiffShown() const { return modes_->currentIndex() == 1; }

void PluginsPage::showDiff(bool isDiff) {
  modes_->setCurrentIndex(isDiff ? 1 : 0);
  (isDiff ? diffButton_ : listButton_)->setChecked(true);
  if (isDiff) diff_->fillSources();
}

void PluginsPage::settle() {
  if (!isAsked_) {
    isAsked_ = true;
    process_.ask();
    (void)workbench_.catalog();
  }
  QElapsedTimer timer;
  timer.start();
  // Schemas come from a thread, the rest from processes: all of them answer in the event loop.
  const auto isWaiting = [this] {
    return process_.isRunning() || diff_->isBusy() ||
           (workbench_.catalog().items.empty() && failure_.isEmpty());
  };
  while (isWaiting() && timer.elapsed() < kPluginsSettleMs)
    QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 50);
  fillList();
  for (int depth = 0; depth < 3; ++depth)
    QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
}

Json PluginsPage::viewState() const {
  Json state = Json::object();
  state["show"] = isDiffShown() ? "diff" : "items";
  const QTreeWidgetItem* item = list_->currentItem();
  state["entry"] = item == nullptr ? "" : item->data(0, kEntryRole).toString().toStdString();
  state["a"] = diff_->sourceA().toStdString();
  state["b"] = diff_->sourceB().toStdString();
  return state;
}

void PluginsPage::setViewState(const Json& state) {
  if (!state.is_object()) return;
  const auto text = [&state](const char* key) {
    const auto found = state.find(key);
    return found != state.end() && found->is_string()
               ? QString::fromStdString(found->get<std::string>())
               : QString();
  };
  showDiff(text("show") == QLatin1String("diff"));
  showEntry(text("entry"));
  if (!text("a").isEmpty() && !text("b").isEmpty() &&
      (text("a") != diff_->sourceA() || text("b") != diff_->sourceB()))
    diff_->choose(text("a"), text("b"));
}

std::unique_ptr<Figure> PluginsPage::figure() {
  const Json table = isDiffShown() ? diff_->tableJson() : Json();
  if (!table.is_object()) return nullptr;
  const std::string bytes = table.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return makeFigure(QString::fromLatin1(artifact_kind::kTable),
                    {{"title", "Architecture, block by block"}}, {begin, begin + bytes.size()});
}

QString PluginsPage::howToRead() const {
  return tr(
      "A plugin brings items: architectures, tasks, datasets and analyses. Each has a page made "
      "from its schema, the same one that the form, the command line and the check use. A refused "
      "plugin says why; one that is disabled is not loaded, and a run that needs it says so. "
      "Architecture diff lays the blocks of two configurations side by side: \u2260 marks what "
      "changed, the numbers are of one image and its forward pass. Ablate this difference opens "
      "Configure with one variant for each difference.");
}

}  // namespace vitrine::ui
