// The recipe of an image as lines that people read.
#pragma once

#include <QString>
#include <QStringList>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace vitrine::ui {

struct RecipeFact {
  std::string key;           ///< of the recipe or of its settings: "class", "guidance"
  QString label, value;      ///< the value is an en dash where only the compared recipe has one
  bool isDifferent = false;  ///< from the recipe it is compared with
  QString compared;          ///< value of that one where it differs
};

/// The lines of a recipe and those that only the compared one has, the most important first,
/// without what was not set.
/// \param compared    another recipe; not an object: nothing differs
/// \param runName     shown for the run
/// \param classNames  in order; a class is named where they reach
[[nodiscard]] std::vector<RecipeFact> recipeFacts(const Json& recipe, const Json& compared,
                                                  const QString& runName,
                                                  const QStringList& classNames = {});

}  // namespace vitrine::ui
