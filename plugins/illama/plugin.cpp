// The plugin file of iLLaMA.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::illama {
void registerAll(Registry& registry);  // in illama.cpp
}

class IllamaPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "illama.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::illama::registerAll(registry);
  }
};

#include "plugin.moc"
