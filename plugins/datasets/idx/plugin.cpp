// The plugin file of the IDX data sets.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/datasets/idx/idx_dataset.h"

class IdxPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "idx.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::idx::FashionMnistSource>());
    registry.add(std::make_unique<vitrine::idx::IdxFolderSource>());
  }
};

#include "plugin.moc"
