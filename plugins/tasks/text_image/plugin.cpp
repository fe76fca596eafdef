// The plugin file of texts and images.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/tasks/text_image/text_image.h"

class TextImagePlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "text_image.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::text_image::TextImageTask>());
    registry.add(std::make_unique<vitrine::text_image::TextImageSampler>());
  }
};

#include "plugin.moc"
