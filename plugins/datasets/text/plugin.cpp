// The plugin file of the text data sets.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::text {
void registerAll(Registry& registry);  // in text_datasets.cpp
}

class TextPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "text.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::text::registerAll(registry);
  }
};

#include "plugin.moc"
