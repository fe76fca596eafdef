#include "ui/workbench/sampling/class_names.h"

#include "core/artifact/artifact.h"
#include "core/config/lookup.h"
#include "core/store/run_reader.h"

namespace vitrine::ui {

QStringList namesFrom(const Json& list) {
  QStringList names;
  if (!list.is_array()) return names;
  for (const Json& name : list) {
    if (!name.is_string()) return {};
    names << QString::fromStdString(name.get<std::string>());
  }
  return names;
}

QStringList classNamesInConfig(const Json& config) {
  const Json* classes = valueAt(config, "data.classes");
  return classes == nullptr ? QStringList() : namesFrom(*classes);
}

QStringList classNamesInArtifacts(store::RunReader& store, std::int64_t run) {
  for (const store::ArtifactRow& row : store.artifacts(run)) {
    if (row.kind != artifact_kind::kMatrix || !row.meta.is_object()) continue;
    const auto rows = row.meta.find("rows"), columns = row.meta.find("columns");
    if (rows == row.meta.end() || columns == row.meta.end() || *rows != *columns) continue;
    if (const QStringList names = namesFrom(*rows); !names.isEmpty()) return names;
  }
  return {};
}

QString classNameIn(const QStringList& names, const Json& label) {
  if (!label.is_number_integer()) return {};
  const auto number = label.get<std::int64_t>();
  return number >= 0 && number < names.size() ? names[static_cast<qsizetype>(number)] : QString();
}

const QStringList& ClassNames::of(std::int64_t run) const {
  static const QStringList kNone;
  const auto dataset = datasets.find(run);
  if (dataset == datasets.end()) return kNone;
  const auto names = byDataset.find(dataset->second);
  return names == byDataset.end() ? kNone : names->second;
}

ClassNames readClassNames(store::RunReader& store, const std::atomic<bool>& isStale) {
  ClassNames found;
  for (const store::RunRow& row : store.runs()) {
    if (isStale) return found;
    const Json config = store.config(row.id);
    const std::string dataset = textAt(config, "data.dataset");
    if (dataset.empty()) continue;
    found.datasets[row.id] = dataset;
    if (const QStringList names = classNamesInConfig(config); !names.isEmpty())
      found.byDataset[found.datasets[row.id]] = names;
  }
  for (const auto& [run, dataset] : found.datasets) {
    if (isStale) return found;
    if (found.byDataset.contains(dataset)) continue;
    if (const QStringList names = classNamesInArtifacts(store, run); !names.isEmpty())
      found.byDataset[dataset] = names;
  }
  return found;
}

}  // namespace vitrine::ui
