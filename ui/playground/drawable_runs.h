// Runs whose models a sampler can draw with, and the form of that sampler. Both are read from
// schemas and configurations, so that no page knows a paper.
#pragma once

#include <QString>
#include <QStringList>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/store/run_reader.h"
#include "ui/playground/sampler_form.h"
#include "ui/workbench/sampling/first_drawing.h"

namespace vitrine::ui {

struct DrawableRun {
  std::int64_t id = 0;
  QString name;
  std::string dataset;
  std::vector<std::string> samplers;  ///< whose needs its model meets, in the order of the catalog
  std::vector<store::CheckpointRow> checkpoints;  ///< the newest first; never empty
  bool hasAverage = false;                        ///< averaged weights (EMA) were kept
  QString caption = {};  ///< that it trains with, "a photo of a {class}"; "": none is known
};

struct DrawableRuns {
  std::vector<DrawableRun> runs;                  ///< the newest first
  std::int64_t coming = 0;                        ///< as in DrawingRuns
  std::map<std::string, QStringList> classNames;  ///< by data set, where they are known
};
/// Names of classes come from the configuration, else from a matrix that a run of the same data
/// set stored. \param isStale  looked at between two runs
[[nodiscard]] DrawableRuns readDrawableRuns(store::RunReader& store, const Catalog& catalog,
                                            const std::atomic<bool>& isStale);

/// The schema of a sampler with what every sampler takes.
[[nodiscard]] Schema samplerSchema(const Catalog& catalog, const std::string& sampler);
/// All that the sampler makes is text: it asks for a language model and for nothing else.
[[nodiscard]] bool makesTextOnly(const Catalog& catalog, const std::string& sampler);
/// Rows of the form: checkpoint, weights, device, sampler, then the keys of the schema. The page
/// gives `attention` by clicks. \param others  those among them that the sampler fits are values of
/// the key `run`
[[nodiscard]] std::vector<FormEntry> formEntries(const Catalog& catalog, const DrawableRun& run,
                                                 const std::string& sampler,
                                                 const QStringList& classNames,
                                                 const std::vector<DrawableRun>& others = {});
/// Settings with which any of the run's samplers draws as little as it can.
[[nodiscard]] Json probeSettings(const Catalog& catalog, const DrawableRun& run);

}  // namespace vitrine::ui
