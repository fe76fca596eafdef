// Small parts of the main window: layouts, header of a dock, button on the window's edge, bottom
// bar, search field.
#pragma once

#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMargins>
#include <QPointer>
#include <QPushButton>
#include <QTimer>
#include <QToolButton>
#include <QVariant>
#include <QWidget>
#include <chrono>
#include <functional>
#include <map>

namespace vitrine::ui {

/// Title left, a quiet word right, 32 px high; drags and floats its dock.
class DockHeader : public QWidget {
  Q_OBJECT
 public:
  DockHeader(const QString& title, QWidget* parent);
  void setTitle(const QString& title);
  /// \param note  parts with commas between them: those that have no room are left out, from the
  /// end
  void setNote(const QString& note);
  /// What of the note has room.
  [[nodiscard]] QString note() const { return note_->text(); }
  /// A button at the right end.
  void addButton(QWidget* button);
  /// A dock asks for this alone and ignores a fixed height.
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fitNote();

  QLabel* title_;
  QLabel* note_;
  QString wholeNote_;
};

/// A label that gives way: shows as much of its text as fits, with an ellipsis, and all of it as
/// its tool tip.
class ElidedLabel : public QLabel {
  Q_OBJECT
 public:
  using QLabel::QLabel;
  /// The tool tip instead of that of a text that is cut; "": none.
  void setWhole(const QString& whole);
  /// What one line cannot show stands in two small ones where they can and the label is high
  /// enough.
  void setTwoLines() { isTwoLines_ = true; }
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString whole_;
  bool isTwoLines_ = false;
};

/// A list whose choice is cut with an ellipsis where it has no room.
class ElidedComboBox : public QComboBox {
  Q_OBJECT
 public:
  explicit ElidedComboBox(QWidget* parent, Qt::TextElideMode cut = Qt::ElideRight)
      : QComboBox(parent), cut_(cut) {}

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Qt::TextElideMode cut_;
};

/// Words that wrap, measured once for each width. A layout asks for their height at the same few
/// widths hundreds of times until a window is drawn. Qt sets the text each time.
class WordLabel : public QLabel {
  Q_OBJECT
 public:
  explicit WordLabel(const QString& text, QWidget* parent = nullptr);
  [[nodiscard]] int heightForWidth(int width) const override;

 protected:
  void changeEvent(QEvent* event) override;

 private:
  friend class Probe;  ///< of tests

  mutable std::map<int, int> heights_;  ///< by width, of the content below
  mutable QString measuredText_;
  mutable QFont measuredFont_;
  mutable QMargins measuredMargins_;
  mutable int measurings_ = 0;  ///< how often the text was set to know its height
};

/// A layout of `owner`, or one for another layout where that is nullptr: from top to bottom.
/// \param spacing  between its items; -1: that of the style
[[nodiscard]] QVBoxLayout* columnIn(QWidget* owner, const QMargins& edges, int spacing = -1);
/// The same from left to right.
[[nodiscard]] QHBoxLayout* rowIn(QWidget* owner, const QMargins& edges, int spacing = -1);

/// `widget`, drawn as the style sheet draws that role: "card", "muted", "small", "title" ...
template <class Widget>
[[nodiscard]] Widget* withRole(Widget* widget, const char* role) {
  widget->setProperty("role", QString::fromLatin1(role));
  return widget;
}

/// Words of that role, wrapped where they have no room.
[[nodiscard]] QLabel* wrappedLabel(const char* role, QWidget* parent, const QString& text = {});

/// Shows `text` in `label`; "" hides it.
void sayIn(QLabel& label, const QString& text);

/// `widget`, with the background that the style sheet gives that role: "panel", "canvas".
QWidget* paintAs(QWidget* widget, const char* role);

/// `widget` with the name that a screen reader says. \param tip  its tool tip; "": it has none
template <class Widget>
[[nodiscard]] Widget* withName(Widget* widget, const QString& name, const QString& tip = {}) {
  widget->setAccessibleName(name);
  if (!tip.isEmpty()) widget->setToolTip(tip);
  return widget;
}

/// Gives `widget` a property that the style sheet reads, and draws it so at once.
void restyle(QWidget& widget, const char* property, const QVariant& value);

/// For the destructor of a widget: neither its parts nor the focus tell it anything from then on.
/// They outlive its members, and the line that has the focus says that it is finished when the
/// window closes.
void disconnectParts(QWidget& widget);

/// A thin line across its parent.
[[nodiscard]] QFrame* makeRule(QWidget* parent);
[[nodiscard]] QToolButton* makeToolButton(const QString& text, const QString& tip, QWidget* parent);
/// A button without a frame. \param name  that a screen reader says, and its tool tip
[[nodiscard]] QToolButton* makeQuietButton(const QString& text, const QString& name,
                                           QWidget* parent);

/// A heading with an arrow that a click or Space turns: checked while what is below it is open, as
/// at first.
[[nodiscard]] QToolButton* makeFoldButton(const QString& title, QWidget* parent);

/// A line to search with, and a button that clears it. \param name  that a screen reader says
/// \param hint  shown while it is empty; "": the name
[[nodiscard]] QLineEdit* makeSearchField(const QString& name, const QString& hint, QWidget* parent);

/// Gives the places of the tab order in `root` the order of its layouts, whenever its parts were
/// made. The first one stays where it is.
void tabThrough(const QWidget& root);

/// Whether the keyboard brought the focus: what has it then is marked.
[[nodiscard]] constexpr bool isFromKeyboard(Qt::FocusReason reason) {
  return reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason ||
         reason == Qt::ShortcutFocusReason;
}

/// Text from top to bottom, for a bar on the right edge of the window.
class EdgeButton : public QToolButton {
  Q_OBJECT
 public:
  using QToolButton::QToolButton;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
};

/// Looks like a search field, opens the palette as `palette` does, whose key it shows.
class SearchButton : public QPushButton {
  Q_OBJECT
 public:
  explicit SearchButton(QAction* palette, QWidget* parent = nullptr);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QAction* palette_;
};

/// Queue left, the last sentence in the middle with a button to copy it, the machine right.
class BottomBar : public QWidget {
  Q_OBJECT
 public:
  explicit BottomBar(QWidget* parent = nullptr);
  void setQueue(const QString& text);
  /// For a while: see setMessageTime().
  void showMessage(const QString& sentence);
  /// How long a message stays that has no button.
  void setMessageTime(std::chrono::milliseconds time) { fading_.setInterval(time); }
  /// The same with a button next to it, until the next message.
  void offer(const QString& sentence, const QString& label, std::function<void()> act);
  /// Gives the message `sentence`, while it is shown, other words; "": it goes.
  void amend(const QString& sentence, const QString& now);
  /// What the button does, where there is one.
  void act();
  /// The button next to the message.
  [[nodiscard]] QToolButton& button() { return *act_; }
  void setMachine(const QString& text);
  [[nodiscard]] QString sentence() const;

 Q_SIGNALS:
  void offerChanged(bool isOffering);

 private:
  QLabel* queue_;
  ElidedLabel* sentence_;
  QToolButton *copy_, *act_;
  QPointer<QWidget> before_;  ///< that had the focus before `act_`
  std::function<void()> offered_;
  QTimer fading_;
  QLabel* machine_;
};

}  // namespace vitrine::ui
