// The plugin file of iLLaMA.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/illama/illama.h"

class IllamaPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "illama.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::illama::IllamaArchitecture>());
  }
};

#include "plugin.moc"
