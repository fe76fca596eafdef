// The plugin file of the IDX data sets.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::idx {
void registerAll(Registry& registry);  // in idx_dataset.cpp
}

class IdxPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "idx.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::idx::registerAll(registry);
  }
};

#include "plugin.moc"
