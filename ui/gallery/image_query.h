// The search of the Gallery: "sampler:ddim class:3 guidance>2 run:12 starred tag:paper boots".
#pragma once

#include <QString>

#include "core/store/image_finder.h"
#include "ui/workbench/sampling/class_names.h"

namespace vitrine::ui {

struct ImageQuery {
  store::ImageSearch search;
  QString error;  ///< one sentence where the text cannot be asked; "" otherwise
};

/// Words apart by blanks; all of them hold. "key:value", "key=value", "key!=value" and the four
/// orders compare a key of the recipe, "run", "step", "seed", "width", "height" or "tag". "starred"
/// stands alone. Any other word is looked for in the recipe and the name of the run. A minus before
/// a word turns it round; quotation marks hold blanks together.
[[nodiscard]] ImageQuery parseImageQuery(const QString& text);

/// The search with the classes that its words name: a word of a name ("boot" for "Ankle boot"), and
/// for "class:" the whole name.
[[nodiscard]] store::ImageSearch withClasses(store::ImageSearch search, const ClassNames& names);

}  // namespace vitrine::ui
