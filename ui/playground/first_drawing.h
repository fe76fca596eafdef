// The experiment that the Playground offers where no run can draw yet.
#pragma once

#include <string>

#include "core/config/catalog.h"

namespace vitrine::ui {

struct FirstDrawing {
  std::string text, title;  ///< of the experiment file; "": no plugin brings what that needs
  double seconds = 0;       ///< that its run took on two cores; 0: it was not measured
};
/// The one that comes with the window where its model and a sampler are there; else one that the
/// plugins together can do.
[[nodiscard]] FirstDrawing firstDrawing(const Catalog& catalog);

}  // namespace vitrine::ui
