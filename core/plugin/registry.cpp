#include "core/plugin/registry.h"

#include <torch/nn/module.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/plugin/missing_items.h"

namespace vitrine {

Architecture::~Architecture() = default;
DatasetSource::~DatasetSource() = default;
EvaluationListener::~EvaluationListener() = default;
TaskSession::~TaskSession() = default;
Task::~Task() = default;
Analysis::~Analysis() = default;
Plugin::~Plugin() = default;

torch::nn::Module* TaskSession::head() { return nullptr; }
std::vector<torch::nn::Module*> TaskSession::frozen() { return {}; }
bool TaskSession::isStatic() const noexcept { return true; }
std::string TaskSession::bestBy() const { return ""; }

std::vector<ParameterGroup> TaskSession::parameterGroups(Model& model) {
  // Matrices and kernels decay; biases, norms, the class token and position tables do not (fact
  // sheets A.2.1, B.2.1).
  ParameterGroup decay{"decay", {}, {}, 1, 1};
  ParameterGroup plain{"no_decay", {}, {}, 0, 1};
  for (const auto& item : model.module().named_parameters()) {
    const std::string& name = item.key();
    const bool isTable =
        name.find("pos_embed") != std::string::npos || name.find("cls_token") != std::string::npos;
    ParameterGroup& group = item.value().dim() <= 1 || isTable ? plain : decay;
    group.parameterNames.push_back(name);
    group.parameters.push_back(item.value());
  }
  return {decay, plain};
}

std::unique_ptr<EvaluationListener> Analysis::listen(const Config&, const DatasetInfo&) const {
  throw PluginError("analysis '" + card().id + "' is not a listener");
}
ProbeImages Analysis::probeImages(const Config&) const { return {}; }
std::function<Analysis::Findings()> Analysis::probe(const Config&, Model&, const Batch&) const {
  throw PluginError("analysis '" + card().id + "' is not a probe");
}

Registry::Registry() = default;
Registry::~Registry() = default;

void Registry::refuseTaken(const ItemCard& card, const std::string& plugin) const {
  if (const ItemCard* taken = catalog_.find(card.kind, card.id)) {
    throw PluginError(toString(card.kind) + " '" + card.id + "' is already brought by plugin '" +
                      taken->plugin + "'; plugin '" + plugin + "' cannot bring it again");
  }
}

void Registry::absorb(Registry& other) {
  for (const ItemCard& card : other.catalog_.items) refuseTaken(card, card.plugin);
  architectures_.merge(other.architectures_);
  tasks_.merge(other.tasks_);
  datasets_.merge(other.datasets_);
  analyses_.merge(other.analyses_);
  for (ItemCard& card : other.catalog_.items) catalog_.items.push_back(std::move(card));
  other.catalog_.items.clear();
}

void Registry::note(ItemCard card) {
  refuseTaken(card, plugin_);
  card.plugin = plugin_;
  catalog_.items.push_back(std::move(card));
}

namespace {

template <class Map>
const auto& get(const Map& items, ItemKind kind, const std::string& id, const Catalog& catalog) {
  if (const auto found = items.find(id); found != items.end()) return *found->second;
  if (const std::string known = missingItemSentence(toString(kind), id); !known.empty())
    throw NotFoundError(known);
  const std::vector<std::string> ids = catalog.ids(kind);
  const std::string close = nearest(id, ids);
  throw NotFoundError("there is no " + toString(kind) + " '" + id + "'" +
                      (close.empty() ? "" : "; did you mean '" + close + "'?"));
}

}  // namespace

void Registry::add(std::unique_ptr<Architecture> item) {
  note(item->card());
  std::string id = item->card().id;
  architectures_.emplace(std::move(id), std::move(item));
}
void Registry::add(std::unique_ptr<Task> item) {
  note(item->card());
  std::string id = item->card().id;
  tasks_.emplace(std::move(id), std::move(item));
}
void Registry::add(std::unique_ptr<DatasetSource> item) {
  note(item->card());
  std::string id = item->card().id;
  datasets_.emplace(std::move(id), std::move(item));
}
void Registry::add(std::unique_ptr<Analysis> item) {
  note(item->card());
  std::string id = item->card().id;
  analyses_.emplace(std::move(id), std::move(item));
}

const Architecture& Registry::architecture(const std::string& id) const {
  return get(architectures_, ItemKind::Architecture, id, catalog_);
}
const Task& Registry::task(const std::string& id) const {
  return get(tasks_, ItemKind::Task, id, catalog_);
}
const DatasetSource& Registry::dataset(const std::string& id) const {
  return get(datasets_, ItemKind::Dataset, id, catalog_);
}
const Analysis& Registry::analysis(const std::string& id) const {
  return get(analyses_, ItemKind::Analysis, id, catalog_);
}

}  // namespace vitrine
