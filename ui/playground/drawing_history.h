// Drawings that are kept between starts of the program, by database: settings and a small picture
// of each. The images themselves can be drawn again from the settings.
#pragma once

#include <QString>
#include <memory>
#include <string>
#include <vector>

#include "ui/playground/drawing.h"

namespace vitrine::ui {

inline constexpr std::size_t kMostKeptDrawings = 30;

/// Keeps the newest ones. \param database  uuid; "": nothing is kept
void keepDrawings(const std::string& database, const std::vector<std::shared_ptr<Drawing>>& all);
/// The oldest first, each in the state Kept; what cannot be read is left out.
[[nodiscard]] std::vector<std::shared_ptr<Drawing>> keptDrawings(const std::string& database);

}  // namespace vitrine::ui
