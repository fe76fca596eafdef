#include "ui/runs/variant_colours.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/store/comparison.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/settings.h"
#include "ui/runs/selection_memory.h"

namespace vitrine::ui {
namespace {

std::map<std::int64_t, std::int64_t> numbersByVariant(StudioWorkbench& workbench) {
  std::vector<store::RunRow> rows;
  for (const auto& [id, row] : workbench.runs()) rows.push_back(row);
  const std::vector<store::ComparedRun> runs = comparedRuns(
      [&workbench](const std::string& sql) { return workbench.store().query(sql); }, rows);
  std::map<std::int64_t, std::int64_t> numbers;
  std::int64_t number = 0;
  for (const store::VariantGroup& variant : variantsOf(runs)) {
    ++number;
    for (const std::size_t run : variant.runs) numbers[runs[run].row.id] = number;
  }
  return numbers;
}

}  // namespace

VariantColours::VariantColours(StudioWorkbench& workbench, QObject* parent)
    : QObject(parent),
      workbench_(workbench),
      key_(databaseSetting(QStringLiteral("variant_colours"), workbench.store())),
      isOn_(setting(key_, false).toBool()) {
  setRunSeries({});
}

void VariantColours::setOn(bool isOn) {
  if (isOn == isOn_) return;
  isOn_ = isOn;
  storeSetting(key_, isOn);
  if (isOn)
    refresh();
  else
    set({}, own_);
  Q_EMIT switched(isOn);
}

void VariantColours::refresh() {
  if (!isOn_) return;
  workbench_.attempt([&] { set(numbersByVariant(workbench_), own_); });
}

void VariantColours::setOwn(std::map<std::int64_t, std::int64_t> numbers) {
  set(numbers_, std::move(numbers));
}

void VariantColours::set(std::map<std::int64_t, std::int64_t> numbers,
                         std::map<std::int64_t, std::int64_t> own) {
  if (numbers == numbers_ && own == own_) return;
  numbers_ = std::move(numbers);
  own_ = std::move(own);
  setRunSeries(numbers_, own_);
  Q_EMIT workbench_.themeChanged();  // pages colour runs as they colour everything
}

}  // namespace vitrine::ui
