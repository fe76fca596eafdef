// A part of the side panel under a heading that opens and closes it.
#pragma once

#include <QString>
#include <QWidget>

class QHBoxLayout;
class QToolButton;
class QVBoxLayout;

namespace vitrine::ui {

/// The palette finds the heading under the title of its section.
void listAsSection(QToolButton& heading, const QString& title);

class CollapsibleSection : public QWidget {
  Q_OBJECT
 public:
  /// \param name  of the part in the state of the view: "changes"
  CollapsibleSection(const QString& name, const QString& title, QWidget* parent = nullptr);

  [[nodiscard]] QString name() const { return name_; }
  [[nodiscard]] bool isOpen() const;
  void setOpen(bool isOpen);
  void setTitle(const QString& title);
  /// Right of the heading.
  [[nodiscard]] QHBoxLayout* corner() const { return corner_; }
  [[nodiscard]] QVBoxLayout* body() const { return body_; }

 Q_SIGNALS:
  void toggled(bool isOpen);  ///< by the user

 private:
  QString name_;
  QToolButton* heading_;
  QHBoxLayout* corner_;
  QWidget* holder_;
  QVBoxLayout* body_;
};

}  // namespace vitrine::ui
