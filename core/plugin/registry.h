// Everything that plugins add, by kind and id. No Qt.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/plugin/analysis.h"
#include "core/plugin/architecture.h"
#include "core/plugin/dataset_source.h"
#include "core/plugin/optimizer.h"
#include "core/plugin/sampler.h"
#include "core/plugin/schedule.h"
#include "core/plugin/task.h"
#include "core/plugin/transform.h"

namespace vitrine {

/// One map per kind; an id is taken once.
class VITRINE_ENGINE_EXPORT Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// \throws PluginError  the id is taken: names both plugins
  void add(std::unique_ptr<Architecture> item);
  void add(std::unique_ptr<Task> item);
  void add(std::unique_ptr<DatasetSource> item);
  void add(std::unique_ptr<Transform> item);
  void add(std::unique_ptr<Analysis> item);
  void add(std::unique_ptr<Sampler> item);
  void add(std::unique_ptr<OptimizerItem> item);
  void add(std::unique_ptr<ScheduleItem> item);

  /// Takes over everything `other` holds, or nothing: how the loader keeps half a plugin out.
  /// \throws PluginError  an id of `other` is taken here: names both plugins; `other` is left as it
  /// was
  void absorb(Registry& other);

  /// \throws NotFoundError  names the kind, the id and the nearest one there is
  [[nodiscard]] const Architecture& architecture(const std::string& id) const;
  [[nodiscard]] const Task& task(const std::string& id) const;
  [[nodiscard]] const DatasetSource& dataset(const std::string& id) const;
  [[nodiscard]] const Transform& transform(const std::string& id) const;
  [[nodiscard]] const Analysis& analysis(const std::string& id) const;
  [[nodiscard]] const Sampler& sampler(const std::string& id) const;
  [[nodiscard]] const OptimizerItem& optimizer(const std::string& id) const;
  [[nodiscard]] const ScheduleItem& schedule(const std::string& id) const;

  /// The data of a resolved table [data]. Data that a caller still holds are not opened again.
  /// Thread-safe.
  /// \throws NotFoundError  as dataset() \throws FileError  as DatasetSource::open()
  [[nodiscard]] std::shared_ptr<const Dataset> openData(const Config& data) const;

  /// The title of the first architecture's sign that `names`, those of a weight file, bear; ""
  /// where none knows them.
  [[nodiscard]] std::string weightFamily(const std::vector<std::string>& names) const;

  /// Everything added, as data, in the order of adding.
  [[nodiscard]] const Catalog& catalog() const noexcept { return catalog_; }
  /// The plugin that adds next; the loader sets it before each plugin.
  void setPlugin(std::string id) { plugin_ = std::move(id); }

 private:
  template <class Item>
  void keep(std::map<std::string, std::unique_ptr<Item>>& items, std::unique_ptr<Item> item);
  void refuseTaken(const ItemCard& card, const std::string& plugin) const;
  std::map<std::string, std::unique_ptr<Architecture>> architectures_;
  std::map<std::string, std::unique_ptr<Task>> tasks_;
  std::map<std::string, std::unique_ptr<DatasetSource>> datasets_;
  std::map<std::string, std::unique_ptr<Transform>> transforms_;
  std::map<std::string, std::unique_ptr<Analysis>> analyses_;
  std::map<std::string, std::unique_ptr<Sampler>> samplers_;
  std::map<std::string, std::unique_ptr<OptimizerItem>> optimizers_;
  std::map<std::string, std::unique_ptr<ScheduleItem>> schedules_;
  Catalog catalog_;
  std::string plugin_;
  mutable std::mutex opening_;
  mutable std::map<std::string, std::weak_ptr<const Dataset>> opened_;  ///< by table
};

}  // namespace vitrine
