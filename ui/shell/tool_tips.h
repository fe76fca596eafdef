// Tool tips in lines of readable length: Qt breaks rich text, and draws plain text in one line.
#pragma once

#include <QObject>
#include <QString>

namespace vitrine::ui {

inline constexpr int kToolTipColumns = 60;

/// The text with line breaks at spaces, so that no line has more characters; longer words stay.
[[nodiscard]] QString wrappedText(const QString& text, int columns = kToolTipColumns);

/// A filter of the application that wraps the tool tips of widgets, of items in lists and of
/// headings, and adds the keys of
/// buttons. An entry of a menu or a button that cannot be used says why not.
class ToolTipWrapper final : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace vitrine::ui
