// The editor of one field: what it shows is decided by the field's type alone.
#pragma once

#include <QString>
#include <QWidget>
#include <optional>

#include "core/config/schema.h"

class QCheckBox;
class QComboBox;
class QLineEdit;

namespace vitrine::ui {

/// What the form calls it; where the plugin gives no title, `mask_kind` as "Mask kind".
[[nodiscard]] QString titleOf(const Field& field);
/// "1 to 1024 px, none", "more than 0", ...: what the schema allows, or "".
[[nodiscard]] QString rangeText(const Field& field);
/// A value in words: "28 x 32", "0.001"; an absent one as the field calls it: "all", "none".
[[nodiscard]] QString fieldText(const Field& field, const Json& value);
/// What a text in an editor means. Text that is not such a value stays text, so that the planner
/// can name the problem; nothing where the editor is empty: the default.
[[nodiscard]] std::optional<Json> parseFieldText(const Field& field, const QString& text);
/// One spelling per value: a size as its pair, a real as a double.
[[nodiscard]] Json normalized(const Field& field, const Json& value);

class FieldEditor : public QWidget {
  Q_OBJECT
 public:
  /// \param label  names the editor to a screen reader
  FieldEditor(const Field& field, const QString& label, QWidget* parent = nullptr);

  [[nodiscard]] const Field& field() const { return field_; }
  /// Nothing where the editor is empty: the default holds.
  [[nodiscard]] std::optional<Json> value() const;
  /// Whose text wins while the line has the focus.
  enum class Typing {
    Keep,     ///< typed text stays as long as it means the value
    Replace,  ///< the value comes from elsewhere: undo, the TOML
  };
  /// Shows a value without emitting edited().
  void setValue(const Json& value, Typing typing = Typing::Keep);
  /// Whether edits are keys typed in a line: many of them are one step.
  [[nodiscard]] bool isTyped() const { return line_ != nullptr; }
  void setInvalid(const QString& message);  ///< "": valid
  /// The line, box or list itself.
  [[nodiscard]] QWidget* input() const;

 Q_SIGNALS:
  void edited();
  /// The menu of the field, asked for with the mouse or the menu key. \param place  on the screen
  void menuRequested(const QPoint& place);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void step(int direction);

  Field field_;
  QCheckBox* box_ = nullptr;
  QComboBox* list_ = nullptr;
  QLineEdit* line_ = nullptr;
};

}  // namespace vitrine::ui
