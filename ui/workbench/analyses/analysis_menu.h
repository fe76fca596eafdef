// The menu of analyses that runs lack, each with what computing it costs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/config/catalog.h"
#include "core/store/types.h"

class QMenu;

namespace vitrine::ui {

class Workbench;

/// A run as the menu asks about it.
struct AnalysedRun {
  std::int64_t run = 0;
  const Json* config = nullptr;                                ///< nullptr: unknown
  const std::vector<store::ArtifactRow>* artifacts = nullptr;  ///< nullptr: none
};

/// Whether what its architecture, task and data offer includes all that the analysis needs.
[[nodiscard]] bool canAnalyse(const Catalog& catalog, const AnalysedRun& run,
                              const ItemCard& analysis);
/// Whether anything can be computed of one of them now.
[[nodiscard]] bool canCompute(Workbench& workbench, const std::vector<std::int64_t>& runs);

/// Fills an empty menu. \param compute  is called with the analysis that the user chose, and the
/// ended runs with a checkpoint of which it has not seen the newest
void fillAnalysisMenu(QMenu& menu, Workbench& workbench, const std::vector<AnalysedRun>& runs,
                      const std::function<void(const std::string& analysis,
                                               const std::vector<std::int64_t>& runs)>& compute);

}  // namespace vitrine::ui
