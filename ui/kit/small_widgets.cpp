#include "ui/kit/small_widgets.h"

#include <QApplication>
#include <QClipboard>
#include <QGuiApplication>
#include <QLayout>
#include <QPainter>
#include <QStyleOptionComboBox>
#include <QStyleOptionToolButton>
#include <QStylePainter>
#include <utility>

#include "ui/kit/icons.h"
#include "ui/kit/menus.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

QSize ElidedLabel::minimumSizeHint() const { return {px(40), QLabel::minimumSizeHint().height()}; }

void ElidedLabel::setWhole(const QString& whole) {
  whole_ = whole;
  update();
}

void ElidedLabel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setPen(palette().color(QPalette::WindowText));
  const QString shown = fontMetrics().elidedText(text(), Qt::ElideRight, width());
  if (isTwoLines_ && shown != text()) {
    const auto place = static_cast<int>(alignment()) | Qt::TextWordWrap;
    const QFontMetrics small(smallFont());
    const QSize needed = small.boundingRect(rect(), place, text()).size();
    if (needed.height() <= height() && needed.width() <= width()) {
      setToolTip(whole_);
      painter.setFont(smallFont());
      painter.drawText(rect(), place, text());
      return;
    }
  }
  setToolTip(!whole_.isEmpty() || shown == text() ? whole_ : text());
  painter.drawText(rect(), static_cast<int>(alignment() | Qt::TextSingleLine), shown);
}

void ElidedComboBox::paintEvent(QPaintEvent* /*event*/) {
  QStylePainter painter(this);
  QStyleOptionComboBox option;
  initStyleOption(&option);
  painter.drawComplexControl(QStyle::CC_ComboBox, option);
  const QRect field =
      style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this);
  const int mark = option.currentIcon.isNull() ? 0 : option.iconSize.width() + px(8);
  option.currentText =
      fontMetrics().elidedText(option.currentText, cut_, field.width() - mark - px(2));
  painter.drawControl(QStyle::CE_ComboBoxLabel, option);
}

WordLabel::WordLabel(const QString& text, QWidget* parent) : QLabel(text, parent) {
  setTextFormat(Qt::PlainText);  // names of users may look like HTML
  setWordWrap(true);
}

int WordLabel::heightForWidth(int width) const {
  ensurePolished();  // the style sheet may have another font
  const QMargins margins = contentsMargins();
  if (measuredText_ != text() || measuredFont_ != font() || measuredMargins_ != margins) {
    heights_.clear();
    measuredText_ = text();
    measuredFont_ = font();
    measuredMargins_ = margins;
  }
  const auto [known, isNew] = heights_.try_emplace(width);
  if (isNew) {
    constexpr std::size_t kMostWidths = 64;  // of a window whose edge is dragged
    if (heights_.size() > kMostWidths) heights_.clear();
    ++measurings_;
    const int height = QLabel::heightForWidth(width);
    heights_[width] = height;
    return height;
  }
  return known->second;
}

void WordLabel::changeEvent(QEvent* event) {
  if (event->type() == QEvent::StyleChange || event->type() == QEvent::FontChange) heights_.clear();
  QLabel::changeEvent(event);
}

QVBoxLayout* columnIn(QWidget* owner, const QMargins& edges, int spacing) {
  auto* column = new QVBoxLayout(owner);
  column->setContentsMargins(edges);
  column->setSpacing(spacing);
  return column;
}

QHBoxLayout* rowIn(QWidget* owner, const QMargins& edges, int spacing) {
  auto* row = new QHBoxLayout(owner);
  row->setContentsMargins(edges);
  row->setSpacing(spacing);
  return row;
}

QLabel* wrappedLabel(const char* role, QWidget* parent, const QString& text) {
  auto* label = withRole(new QLabel(text, parent), role);
  label->setWordWrap(true);
  return label;
}

void sayIn(QLabel& label, const QString& text) {
  label.setText(text);
  label.setVisible(!text.isEmpty());
}

QWidget* paintAs(QWidget* widget, const char* role) {
  widget->setAttribute(Qt::WA_StyledBackground);
  return withRole(widget, role);
}

QFrame* makeRule(QWidget* parent) { return withRole(new QFrame(parent), "rule"); }

QToolButton* makeToolButton(const QString& text, const QString& tip, QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setText(text);
  button->setToolTip(tip);
  return button;
}

void restyle(QWidget& widget, const char* property, const QVariant& value) {
  const QVariant now = widget.property(property);
  if (now == value || (!now.isValid() && !value.toBool())) return;
  widget.setProperty(property, value);
  widget.style()->unpolish(&widget);
  widget.style()->polish(&widget);
}

void disconnectParts(QWidget& widget) {
  QObject::disconnect(qApp, nullptr, &widget, nullptr);
  for (const QWidget* part : widget.findChildren<QWidget*>()) part->disconnect(&widget);
}

QToolButton* makeQuietButton(const QString& text, const QString& name, QWidget* parent) {
  auto* button = withName(makeToolButton(text, name, parent), name);
  button->setProperty("quiet", true);
  return button;
}

QToolButton* makeFoldButton(const QString& title, QWidget* parent) {
  auto* button = withName(withRole(new QToolButton(parent), "fold"), title);
  button->setText(title);
  button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  button->setIconSize({px(12), px(12)});
  button->setCheckable(true);
  button->setProperty("quiet", true);
  QObject::connect(button, &QToolButton::toggled, button, [button](bool isOpen) {
    button->setArrowType(isOpen ? Qt::DownArrow : Qt::RightArrow);
    button->setToolTip(isOpen ? QObject::tr("Close this group") : QObject::tr("Open this group"));
  });
  button->setChecked(true);
  return button;
}

QLineEdit* makeSearchField(const QString& name, const QString& hint, QWidget* parent) {
  auto* field = withName(new QLineEdit(parent), name);
  field->setPlaceholderText(hint.isEmpty() ? name : hint);
  field->setClearButtonEnabled(true);
  for (auto* clear : field->findChildren<QToolButton*>())
    clear->setAccessibleName(QObject::tr("Clear the search"));
  return field;
}

namespace {

/// \param last  of the places before, or nullptr \returns  the last one behind those of `layout`
QWidget* tabThroughLayout(const QLayout& layout, QWidget* last) {
  for (int i = 0; i < layout.count(); ++i) {
    QLayoutItem* item = layout.itemAt(i);
    if (item->layout() != nullptr) last = tabThroughLayout(*item->layout(), last);
    QWidget* widget = item->widget();
    if (widget == nullptr) continue;
    if ((widget->focusPolicy() & Qt::TabFocus) != 0) {
      if (last != nullptr) QWidget::setTabOrder(last, widget);
      last = widget;
    }
    if (widget->layout() != nullptr) last = tabThroughLayout(*widget->layout(), last);
  }
  return last;
}

}  // namespace

void tabThrough(const QWidget& root) { tabThroughLayout(*root.layout(), nullptr); }

DockHeader::DockHeader(const QString& title, QWidget* parent) : QWidget(parent) {
  setFixedHeight(px(32));
  auto* elided = withRole(new ElidedLabel(title), "title");
  title_ = elided;
  note_ = new ElidedLabel;  // a narrow dock stays narrow
  note_->setProperty("role", "small");
  auto* layout = rowIn(this, {px(12), 0, px(12), 0}, px(8));
  layout->addWidget(title_, 1);
  layout->addWidget(note_);
}

QSize DockHeader::sizeHint() const { return {QWidget::sizeHint().width(), px(32)}; }

void DockHeader::setTitle(const QString& title) { title_->setText(title); }

void DockHeader::setNote(const QString& note) {
  wholeNote_ = note;
  fitNote();
}

void DockHeader::fitNote() {
  const QMargins edges = layout()->contentsMargins();
  int room = width() - edges.left() - edges.right();
  for (int i = 0; i < layout()->count(); ++i) {
    const QWidget* part = layout()->itemAt(i)->widget();
    if (part == note_) continue;
    room -= part->sizeHint().expandedTo(part->minimumSizeHint()).width() + layout()->spacing();
  }
  QString fitting = wholeNote_;
  note_->ensurePolished();
  while (note_->fontMetrics().horizontalAdvance(fitting) > room) {
    const auto comma = fitting.lastIndexOf(QLatin1String(", "));
    if (comma < 0) break;
    fitting.truncate(comma);
  }
  note_->setText(fitting);
  setToolTip(fitting == wholeNote_ ? QString() : wholeNote_);
}

void DockHeader::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitNote();
}

void DockHeader::addButton(QWidget* button) {
  layout()->addWidget(button);
  layout()->setContentsMargins(px(12), 0, px(4), 0);
  fitNote();
}

void DockHeader::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), themeColors().panel);
  painter.fillRect(QRect(0, height() - 1, width(), 1), themeColors().line);
}

QSize EdgeButton::sizeHint() const {
  const QFontMetrics metrics(smallFont());
  return {px(26), metrics.horizontalAdvance(text()) + px(44)};
}

void EdgeButton::paintEvent(QPaintEvent*) {
  const ThemeColors& t = themeColors();
  QPainter painter(this);
  painter.fillRect(rect(), underMouse() ? t.raised : t.panel);
  if (hasFocus()) {
    painter.setPen(QPen(t.accent, 1));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
  QToolButton::icon().paint(&painter, QRect((width() - px(16)) / 2, px(8), px(16), px(16)));
  painter.translate(width(), px(30));
  painter.rotate(90);
  painter.setFont(smallFont());
  painter.setPen(t.text);
  painter.drawText(QRect(0, 0, height() - px(30), width()), Qt::AlignLeft | Qt::AlignVCenter,
                   text());
}

SearchButton::SearchButton(QAction* palette, QWidget* parent)
    : QPushButton(parent), palette_(palette) {
  setAccessibleName(tr("Search commands, runs and pages"));
  setToolTip(tr("Search commands, runs and pages"));
  showKeyOf(palette, *this);
  connect(palette, &QAction::changed, this, qOverload<>(&QWidget::update));
  connect(this, &QPushButton::clicked, palette, &QAction::trigger);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  setFocusPolicy(Qt::TabFocus);
}

QSize SearchButton::sizeHint() const { return {px(260), px(26)}; }

QSize SearchButton::minimumSizeHint() const { return {px(92), px(26)}; }

void SearchButton::paintEvent(QPaintEvent* event) {
  QPushButton::paintEvent(event);
  const ThemeColors& t = themeColors();
  QPainter painter(this);
  vitrine::ui::icon(Icon::Search)
      .paint(&painter, QRect(px(8), (height() - px(14)) / 2, px(14), px(14)), Qt::AlignCenter,
             QIcon::Disabled);
  painter.setPen(t.muted);
  painter.setFont(smallFont());
  const QString key = palette_->shortcut().toString(QKeySequence::NativeText);
  const int keyWidth = painter.fontMetrics().horizontalAdvance(key);
  const QRect inside = rect().adjusted(px(28), 0, -px(10), 0);
  painter.drawText(inside, Qt::AlignRight | Qt::AlignVCenter, key);
  const QRect words = inside.adjusted(0, 0, -keyWidth - px(8), 0);
  painter.drawText(words, Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(tr("Search commands, runs, pages"),
                                                    Qt::ElideRight, words.width()));
}

BottomBar::BottomBar(QWidget* parent) : QWidget(parent) {
  setProperty("role", "panel");
  setFixedHeight(px(34));  // the same with and without a message
  auto* title = withRole(new QLabel(tr("Queue")), "title");
  queue_ = withRole(new QLabel, "small");
  sentence_ = new ElidedLabel;
  sentence_->setTwoLines();
  sentence_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  sentence_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  sentence_->setAccessibleName(tr("Last message"));
  copy_ = new QToolButton;
  copy_->setIcon(icon(Icon::Copy));
  copy_->setProperty("quiet", true);
  copy_->setAccessibleName(tr("Copy the message"));
  copy_->setToolTip(tr("Copy the message"));
  copy_->hide();
  connect(copy_, &QToolButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(sentence_->text()); });
  act_ = withName(new QToolButton, tr("Act on the message"));
  act_->hide();
  connect(act_, &QToolButton::clicked, this, &BottomBar::act);
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget* old, const QWidget* now) {
    if (now == act_ && old != nullptr) before_ = old;
  });
  fading_.setSingleShot(true);
  setMessageTime(std::chrono::seconds(8));
  connect(&fading_, &QTimer::timeout, this, [this] {
    // Not while it is read or copied.
    if (sentence_->underMouse() || copy_->hasFocus()) return fading_.start();
    showMessage(QString());
  });
  machine_ = withRole(new QLabel, "small");
  auto* layout = rowIn(this, {px(12), 1, px(12), 1}, px(12));
  layout->addWidget(title);
  layout->addWidget(queue_);
  layout->addSpacing(px(12));
  layout->addWidget(sentence_, 1);
  layout->addWidget(copy_);
  layout->addWidget(act_);
  layout->addWidget(machine_);
}

void BottomBar::setQueue(const QString& text) { queue_->setText(text); }

void BottomBar::showMessage(const QString& sentence) {
  sentence_->setText(sentence);
  copy_->setVisible(!sentence.isEmpty());
  // A button that is hidden with the focus gives it to the first part of the window.
  if (window()->focusWidget() == act_ && before_ != nullptr && before_->window() == window())
    before_->setFocus();
  act_->hide();
  offered_ = {};
  if (sentence.isEmpty())
    fading_.stop();
  else
    fading_.start();
  Q_EMIT offerChanged(false);
}

void BottomBar::offer(const QString& sentence, const QString& label, std::function<void()> act) {
  showMessage(sentence);
  fading_.stop();
  offered_ = std::move(act);
  act_->setText(label);
  act_->setToolTip(label);
  act_->setAccessibleName(label);
  act_->show();
  Q_EMIT offerChanged(true);
}

void BottomBar::amend(const QString& sentence, const QString& now) {
  if (sentence_->text() != sentence) return;
  if (now.isEmpty()) return showMessage(now);
  sentence_->setText(now);
}

void BottomBar::act() {
  if (!offered_) return;
  const std::function<void()> chosen = std::exchange(offered_, {});
  showMessage(QString());
  chosen();
}

void BottomBar::setMachine(const QString& text) { machine_->setText(text); }

QString BottomBar::sentence() const { return sentence_->text(); }

}  // namespace vitrine::ui
