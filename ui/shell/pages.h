// The pages of the window, in the order of their tabs.
#pragma once

#include <vector>

#include "ui/workbench/page.h"

namespace vitrine::ui {

[[nodiscard]] const std::vector<PageFactory>& pages();

}  // namespace vitrine::ui
