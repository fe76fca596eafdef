#include "core/train/training_items.h"

#include <utility>

#include "core/config/train_schema.h"
#include "core/train/update/update_rules.h"

namespace vitrine::train {

namespace {

using MakeRule = std::unique_ptr<UpdateRule> (*)(const Config&);
using MakeDecay = Decay (*)(const Config&, double);

class CoreOptimizer final : public OptimizerItem {
 public:
  CoreOptimizer(ItemCard card, MakeRule make) : card_(std::move(card)), make_(make) {}
  ItemCard card() const override { return card_; }
  std::unique_ptr<UpdateRule> open(const Config& config) const override { return make_(config); }

 private:
  ItemCard card_;
  MakeRule make_;
};

class CoreSchedule final : public ScheduleItem {
 public:
  CoreSchedule(ItemCard card, MakeDecay make) : card_(std::move(card)), make_(make) {}
  ItemCard card() const override { return card_; }
  Decay open(const Config& config, double base) const override { return make_(config, base); }

 private:
  ItemCard card_;
  MakeDecay make_;
};

}  // namespace

void addTrainingItems(Registry& registry) {
  const std::pair<const char*, MakeRule> rules[] = {
      {"adamw", makeAdamW}, {"sgd", makeSgd}, {"lamb", makeLamb}, {"lars", makeLars}};
  const std::pair<const char*, MakeDecay> decays[] = {{"constant", constantDecay},
                                                      {"linear", linearDecay},
                                                      {"cosine", cosineDecay},
                                                      {"poly", polyDecay},
                                                      {"step", stepDecay}};
  const Catalog cards{trainingCards()};
  registry.setPlugin("core");
  for (const auto& [id, make] : rules)
    registry.add(std::make_unique<CoreOptimizer>(*cards.find(ItemKind::Optimizer, id), make));
  for (const auto& [id, make] : decays)
    registry.add(std::make_unique<CoreSchedule>(*cards.find(ItemKind::Schedule, id), make));
  registry.setPlugin("");
}

Config withItemDefaults(const ItemCard& card, const Config& table) {
  Json values = card.schema.defaults();
  values.merge_patch(table.json());  // removes null values, which read as null
  return Config(std::move(values));
}

}  // namespace vitrine::train
