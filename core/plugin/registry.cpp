#include "core/plugin/registry.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/experiment.h"
#include "core/plugin/missing_items.h"
#include "core/plugin/transform.h"

namespace vitrine {

Architecture::~Architecture() = default;
std::vector<WeightSign> Architecture::weightSigns() const { return {}; }
DatasetSource::~DatasetSource() = default;
Task::~Task() = default;
void Task::requireStartable(const Config& /*task*/, Model& /*model*/) const {}
std::vector<std::string> Task::scores() const { return {}; }
Analysis::~Analysis() = default;
Sampler::~Sampler() = default;
ScheduleItem::~ScheduleItem() = default;

Registry::Registry() = default;
Registry::~Registry() = default;

void Registry::refuseTaken(const ItemCard& card, const std::string& plugin) const {
  if (const ItemCard* taken = catalog_.find(card.kind, card.id)) {
    throw PluginError(toString(card.kind) + " '" + card.id + "' is already brought by plugin '" +
                      taken->plugin + "'; plugin '" + plugin + "' cannot register it again");
  }
}

void Registry::absorb(Registry& other) {
  for (const ItemCard& card : other.catalog_.items) refuseTaken(card, card.plugin);
  architectures_.merge(other.architectures_);
  tasks_.merge(other.tasks_);
  datasets_.merge(other.datasets_);
  transforms_.merge(other.transforms_);
  analyses_.merge(other.analyses_);
  samplers_.merge(other.samplers_);
  optimizers_.merge(other.optimizers_);
  schedules_.merge(other.schedules_);
  for (ItemCard& card : other.catalog_.items) catalog_.items.push_back(std::move(card));
  other.catalog_.items.clear();
}

template <class Item>
void Registry::keep(std::map<std::string, std::unique_ptr<Item>>& items,
                    std::unique_ptr<Item> item) {
  ItemCard card = item->card();
  refuseTaken(card, plugin_);
  card.plugin = plugin_;
  items.emplace(card.id, std::move(item));
  catalog_.items.push_back(std::move(card));
}

namespace {

template <class Map>
const auto& get(const Map& items, ItemKind kind, const std::string& id, const Catalog& catalog) {
  if (const auto found = items.find(id); found != items.end()) return *found->second;
  if (const std::string known = missingItemSentence(itemName(kind, id)); !known.empty())
    throw NotFoundError(known);
  const std::vector<std::string> ids = catalog.ids(kind);
  const std::string close = nearest(id, ids);
  throw NotFoundError(
      "there is no " + toString(kind) + " '" + shorten(id, 60) + "'" +
      (close.empty() ? "; `vitrine describe` lists them" : "; did you mean '" + close + "'?"));
}

}  // namespace

void Registry::add(std::unique_ptr<Architecture> item) { keep(architectures_, std::move(item)); }
void Registry::add(std::unique_ptr<Task> item) {
  const ItemCard card = item->card();
  for (const MetricDeclaration& metric : card.metrics.declared) {
    if (metric.direction == "lower" || metric.direction == "higher" || metric.direction == "none")
      continue;
    throw PluginError("task '" + card.id + "' declares the metrics '" + metric.pattern +
                      "' with the direction '" + metric.direction +
                      "'; it is lower, higher or none");
  }
  keep(tasks_, std::move(item));
}
void Registry::add(std::unique_ptr<DatasetSource> item) { keep(datasets_, std::move(item)); }
void Registry::add(std::unique_ptr<Transform> item) { keep(transforms_, std::move(item)); }
void Registry::add(std::unique_ptr<Analysis> item) { keep(analyses_, std::move(item)); }
void Registry::add(std::unique_ptr<Sampler> item) { keep(samplers_, std::move(item)); }
void Registry::add(std::unique_ptr<OptimizerItem> item) { keep(optimizers_, std::move(item)); }
void Registry::add(std::unique_ptr<ScheduleItem> item) { keep(schedules_, std::move(item)); }

const Architecture& Registry::architecture(const std::string& id) const {
  return get(architectures_, ItemKind::Architecture, id, catalog_);
}
const Task& Registry::task(const std::string& id) const {
  return get(tasks_, ItemKind::Task, id, catalog_);
}
const DatasetSource& Registry::dataset(const std::string& id) const {
  return get(datasets_, ItemKind::Dataset, id, catalog_);
}
const Transform& Registry::transform(const std::string& id) const {
  return get(transforms_, ItemKind::Transform, id, catalog_);
}
const Analysis& Registry::analysis(const std::string& id) const {
  return get(analyses_, ItemKind::Analysis, id, catalog_);
}
const Sampler& Registry::sampler(const std::string& id) const {
  return get(samplers_, ItemKind::Sampler, id, catalog_);
}
const OptimizerItem& Registry::optimizer(const std::string& id) const {
  return get(optimizers_, ItemKind::Optimizer, id, catalog_);
}
const ScheduleItem& Registry::schedule(const std::string& id) const {
  return get(schedules_, ItemKind::Schedule, id, catalog_);
}

std::shared_ptr<const Dataset> Registry::openData(const Config& data) const {
  const DatasetSource& source = dataset(data.text("dataset"));
  const std::lock_guard lock(opening_);
  std::weak_ptr<const Dataset>& known = opened_[data.json().dump()];
  std::shared_ptr<const Dataset> opened = known.lock();
  if (opened == nullptr) known = opened = source.open(data);
  return opened;
}

std::string Registry::weightFamily(const std::vector<std::string>& names) const {
  const auto occurs = [&](const std::string& part) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name.find(part) != std::string::npos;
    });
  };
  for (const auto& [id, architecture] : architectures_) {
    for (const WeightSign& sign : architecture->weightSigns()) {
      if (std::all_of(sign.has.begin(), sign.has.end(), occurs) &&
          std::none_of(sign.lacks.begin(), sign.lacks.end(), occurs))
        return sign.title;
    }
  }
  return "";
}

}  // namespace vitrine
