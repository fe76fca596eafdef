#include "ui/workbench/command_palette.h"

#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <algorithm>
#include <tuple>

#include "ui/kit/fuzzy.h"
#include "ui/kit/icons.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {
namespace {

constexpr int kMostShown = 60;
constexpr int kGroupRole = Qt::UserRole + 1;
constexpr int kIsOffRole = Qt::UserRole + 3;

class CommandDelegate final : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {px(200), px(28)};
  }
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const ThemeColors& t = themeColors();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const bool isCurrent = option.state.testFlag(QStyle::State_Selected);
    if (isCurrent) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(t.selection);
      painter->drawRoundedRect(option.rect, px(4), px(4));
    }
    const QRect line = option.rect.adjusted(px(10), 0, -px(10), 0);
    const bool isOff = index.data(kIsOffRole).toBool();
    QString hint = index.data(CommandPalette::kHintRole).toString();
    const QString group = index.data(kGroupRole).toString();
    const QFontMetrics metrics(smallFont());
    painter->setFont(smallFont());
    painter->setPen(t.muted);
    const int groupWidth = px(56);
    hint = metrics.elidedText(hint, Qt::ElideRight, line.width() / 2);
    painter->drawText(line, Qt::AlignLeft | Qt::AlignVCenter, group);
    painter->drawText(line, Qt::AlignRight | Qt::AlignVCenter, hint);
    const QRect title = line.adjusted(groupWidth, 0, -metrics.horizontalAdvance(hint) - px(12), 0);
    writeLine(*painter, bodyFont(), isOff ? t.muted : t.text, title, Qt::AlignLeft,
              index.data().toString());
    painter->restore();
  }
};

}  // namespace

CommandPalette::CommandPalette(QWidget* parent) : QDialog(parent, Qt::Popup) {
  setAccessibleName(tr("Command palette"));
  setObjectName(QStringLiteral("palette"));
  auto* frame = withRole(new QFrame, "card");
  input_ = new QLineEdit;
  input_->setPlaceholderText(tr("Search commands, runs, pages"));
  input_->setAccessibleName(tr("Search commands, runs and pages"));
  list_ = withName(new QListWidget, tr("Commands that match"));
  list_->setItemDelegate(new CommandDelegate(list_));
  list_->setFrameShape(QFrame::NoFrame);
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setUniformItemSizes(true);
  auto* inner = columnIn(frame, {px(8), px(8), px(8), px(8)}, px(8));
  inner->addWidget(input_);
  inner->addWidget(list_);
  auto* layout = columnIn(this, {});
  layout->addWidget(frame);
  input_->installEventFilter(this);
  connect(input_, &QLineEdit::textChanged, this, &CommandPalette::filter);
  connect(list_, &QListWidget::itemClicked, this, &CommandPalette::run);
}

void CommandPalette::ask(std::vector<Command> commands) {
  commands_ = std::move(commands);
  const QWidget* over = parentWidget();
  const int width = std::min(px(560), over->width() - px(40));
  const int height = std::min(px(400), over->height() - px(80));
  resize(width, height);
  move(over->mapToGlobal(QPoint((over->width() - width) / 2, px(72))));
  input_->clear();
  filter(QString());
  show();
  input_->setFocus();
}

void CommandPalette::filter(const QString& text) {
  struct Hit {
    bool isTitle;  // all of it was typed
    bool isWhole;  // the letters stand together, as they were typed
    int score;
    bool isEnabled;
    std::size_t index;
  };
  std::vector<Hit> found;
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const Command& command = commands_[i];
    const int score = fuzzyScore(text, command.title);
    const QString words = text.trimmed();
    const bool isTitle = command.title.compare(words, Qt::CaseInsensitive) == 0;
    const bool isWhole = command.title.contains(words, Qt::CaseInsensitive);
    if (score >= 0) found.push_back({isTitle, isWhole, score, command.isEnabled, i});
  }
  // What can be done now comes before what cannot.
  std::stable_sort(found.begin(), found.end(), [](const Hit& a, const Hit& b) {
    return std::tie(a.isTitle, a.isWhole, a.score, a.isEnabled) >
           std::tie(b.isTitle, b.isWhole, b.score, b.isEnabled);
  });
  list_->clear();
  for (const Hit& hit : found) {
    if (list_->count() == kMostShown) break;
    const std::size_t i = hit.index;
    auto* item = new QListWidgetItem(commands_[i].title, list_);
    item->setData(Qt::UserRole, static_cast<qulonglong>(i));
    item->setData(kGroupRole, commands_[i].group);
    const Command& command = commands_[i];
    const QString off = command.why.isEmpty() ? tr("not now") : tr("not now: %1").arg(command.why);
    item->setData(kHintRole, command.isEnabled ? command.hint : off);
    item->setData(kIsOffRole, !command.isEnabled);
    item->setData(Qt::AccessibleTextRole,
                  QStringList{command.title, command.isEnabled ? command.hint : off}.join(
                      QStringLiteral(", ")));
    if (!command.isEnabled) item->setToolTip(off);
  }
  if (found.empty()) {
    auto* none = new QListWidgetItem(tr("Nothing matches \u201c%1\u201d.").arg(text), list_);
    none->setFlags(Qt::NoItemFlags);
    none->setData(kIsOffRole, true);
  }
  list_->setCurrentRow(0);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched == input_ && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const int rows = list_->count();
    switch (key->key()) {
      case Qt::Key_Down:
        if (rows > 0) list_->setCurrentRow((list_->currentRow() + 1) % rows);
        return true;
      case Qt::Key_Up:
        if (rows > 0) list_->setCurrentRow((list_->currentRow() + rows - 1) % rows);
        return true;
      case Qt::Key_Return:
      case Qt::Key_Enter:
        run();
        return true;
      case Qt::Key_Escape:
        close();
        return true;
      default:
        break;
    }
  }
  return QDialog::eventFilter(watched, event);
}

void CommandPalette::run() {
  const QListWidgetItem* item = list_->currentItem();
  if (item == nullptr || !item->flags().testFlag(Qt::ItemIsEnabled)) return;
  const Command& command = commands_[item->data(Qt::UserRole).toULongLong()];
  if (!command.isEnabled) return;  // stays open: it says why not
  const auto act = command.act;
  close();
  act();
}

}  // namespace vitrine::ui
