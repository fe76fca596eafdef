// Names, tags, notes and marks changed from the list of runs: of one run or of many, each change
// with Undo.
#pragma once

#include <QObject>
#include <QString>
#include <QWidget>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ui/workbench/studio_workbench.h"

namespace vitrine::ui {

class RunEdits : public QObject {
  Q_OBJECT
 public:
  /// \param window  parent of the dialogs
  RunEdits(StudioWorkbench& workbench, QWidget* window);

  void rename(std::int64_t run, const QString& name);
  /// Asks which tags these runs have: a tag that only some have stays as it is unless it is
  /// clicked.
  void askTags(const std::vector<std::int64_t>& runs);
  /// Asks for the note of a run, or for words that are added to the notes of several.
  void askNote(const std::vector<std::int64_t>& runs);

  /// Gives runs a mark, by run: \see store::Annotations::setMark
  void mark(store::RunField field, const std::map<std::int64_t, std::string>& values,
            const QString& sentence);

  /// Tags of a text: between commas, each once, without spaces around them.
  [[nodiscard]] static std::vector<std::string> tagsOf(const QString& line);

 private:
  struct Change {
    std::int64_t run = 0;
    std::int64_t version = 0;  ///< that `before` has
    std::string before, after;
  };
  [[nodiscard]] Change changeOf(std::int64_t run, store::RunField field);
  /// Stores the changes and says so. \param sentence  "Renamed run 3, baseline."
  void save(store::RunField field, std::vector<Change> changes, const QString& sentence);
  void takeBack(store::RunField field, const std::vector<Change>& changes);

  StudioWorkbench& workbench_;
  QWidget* window_;
};

}  // namespace vitrine::ui
