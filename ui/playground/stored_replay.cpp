#include "ui/playground/stored_replay.h"

#include <QObject>
#include <algorithm>
#include <utility>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

bool isStripOfSteps(const store::ArtifactRow& row) {
  return row.kind == artifact_kind::kImageGrid && row.meta.contains("times");
}

/// A strip of steps, or the attention of one of them.
bool isOfTheWay(const store::ArtifactRow& row) {
  if (!row.meta.contains("recipe") || !row.meta.contains("seed")) return false;
  return isStripOfSteps(row) ||
         (row.kind == artifact_kind::kAttention && row.meta.contains("time"));
}

Json settingOf(const Json& meta, const char* key) {
  return stateMember(stateTable(stateMember(meta, "recipe"), "settings"), key);
}

bool isOfImage(const store::ArtifactRow& row, const WantedReplay& wanted) {
  const auto sha256 = row.meta.find("sha256");
  return sha256 != row.meta.end() && *sha256 == Json(wanted.sha256) &&
         settingOf(row.meta, "previews") == Json(wanted.frames);
}

/// The way that begins with this strip; nothing where it is of another patch.
std::optional<Replay> wayFrom(const store::ArtifactRow& strip,
                              const std::vector<store::ArtifactRow>& rows,
                              const WantedReplay& wanted, store::RunReader& store,
                              std::array<int, 2>& grid) {
  Replay way{.film = storedFilm(strip.meta, store.artifactData(strip.id))};
  const Json patch = settingOf(strip.meta, "attention");
  // The attention of its steps was stored after it, in their order.
  for (const store::ArtifactRow& row : rows) {
    if (row.id <= strip.id || isStripOfSteps(row) || way.attention.size() == way.film.size() ||
        !isOfImage(row, wanted) || settingOf(row.meta, "attention") != patch)
      continue;
    way.attention.push_back(attentionIn(row.meta, store.artifactData(row.id)));
    const AttentionFrame& first = way.attention.front();
    grid = {first.rows, first.columns};
    way.patch = patchUnder(wanted.at, grid);
    if (patch != Json(way.patch)) return std::nullopt;
  }
  if (way.attention.empty() || way.attention.size() != way.film.size()) return std::nullopt;
  way.note = QObject::tr("Stored with the run");
  return way;
}

}  // namespace

std::array<int, 2> patchUnder(const std::array<double, 2>& at, const std::array<int, 2>& grid) {
  std::array<int, 2> patch{};
  for (std::size_t i = 0; i < patch.size(); ++i)
    patch[i] = std::clamp(static_cast<int>(at[i] * grid[i]), 0, std::max(0, grid[i] - 1));
  return patch;
}

StoredReplay readReplay(store::RunReader& store, const WantedReplay& wanted) {
  StoredReplay found;
  std::vector<store::ArtifactRow> rows;
  for (store::ArtifactRow& row : store.artifacts(wanted.run)) {
    if (!isOfTheWay(row)) continue;
    found.bytes += row.bytes;
    rows.push_back(std::move(row));
  }
  if (wanted.sha256.empty()) return found;
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  for (const store::ArtifactRow& row : rows) {
    if (!isStripOfSteps(row) || !isOfImage(row, wanted)) continue;
    try {
      found.replay = wayFrom(row, rows, wanted, store, found.grid);
    } catch (const FileError&) {
      continue;  // it is drawn again
    }
    if (found.replay) return found;
  }
  return found;
}

}  // namespace vitrine::ui
