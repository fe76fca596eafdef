// The plugin file of texts and images.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::text_image {
void registerAll(Registry& registry);  // in text_image.cpp
}

class TextImagePlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "text_image.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::text_image::registerAll(registry);
  }
};

#include "plugin.moc"
