// The plugin file of the analyses that look into any model with the capability they need.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::analyses {
void registerAll(Registry& registry);  // in analyses.cpp
}

class AnalysesPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "analyses.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::analyses::registerAll(registry);
  }
};

#include "plugin.moc"
