// Details of the current image: its star, its tags and its recipe.
#pragma once

#include <QWidget>
#include <optional>

#include "ui/gallery/gallery_model.h"

class QLabel;
class QLineEdit;
class QToolButton;

namespace vitrine::ui {

class ElidedLabel;
class FlowBar;
class RecipeTable;
class WrapLabel;

class ImageDetails : public QWidget {
  Q_OBJECT
 public:
  explicit ImageDetails(QWidget* parent = nullptr);

  struct Facts {
    store::GeneratedImageRow image;
    std::optional<store::GeneratedImageRow> other;  ///< the one that is compared
    QString run;                                    ///< name
    QStringList classNames;                         ///< of its data
    QImage picture;
    bool isStarred = false;
    QStringList tags;
  };
  void setFacts(const Facts& facts);
  void setEmpty();
  /// Whether the image could be made again; "": nothing is said.
  void setVerdict(const QString& text);
  /// Tags that other images have, offered while one is typed.
  void setKnownTags(const QStringList& tags);
  /// A button below the recipe.
  void addButton(QWidget* button);
  void focusTag();

 Q_SIGNALS:
  void starToggled(bool isOn);
  void tagAdded(const QString& tag);
  void tagRemoved(const QString& tag);

 private:
  void showTags(const QStringList& tags);

  ElidedLabel* title_;
  QLabel *about_, *hint_;
  QLabel* preview_;
  QToolButton* star_;
  QLineEdit* newTag_;
  FlowBar* tags_;
  RecipeTable* recipe_;
  WrapLabel* verdict_;
  FlowBar* buttons_;
  QStringList shownTags_;
};

}  // namespace vitrine::ui
