// What the plugin files of this folder add.
#include "core/plugin/registry.h"

namespace vitrine {
namespace {

class FixtureAnalysis final : public Analysis {
 public:
  FixtureAnalysis(std::string id, std::string doc) : id_(std::move(id)), doc_(std::move(doc)) {}
  ItemCard card() const override {
    return {.kind = ItemKind::Analysis, .id = id_, .title = "Fixture", .doc = doc_};
  }
  Kind kind() const noexcept override { return Kind::Listener; }

 private:
  std::string id_, doc_;
};

}  // namespace

void addFixture(Registry& registry, const std::string& id, const std::string& doc) {
  registry.add(std::make_unique<FixtureAnalysis>(id, doc));
}

}  // namespace vitrine
