// What Qt needs of a plugin file. One that includes this header instead of plugin.h, and leaves
// what it adds to another file, reads no header of LibTorch.
#pragma once

#include <QtPlugin>

namespace vitrine {

class Registry;

/// Root object of a plugin file.
class Plugin {
 public:
  virtual ~Plugin() = default;
  /// Called once, by the loader. \throws PluginError  an id is taken
  virtual void registerInto(Registry& registry) = 0;
};

}  // namespace vitrine

/// Raised whenever a plugin must be rebuilt.
#define VITRINE_PLUGIN_IID "org.vitrine.Plugin/3"
Q_DECLARE_INTERFACE(vitrine::Plugin, VITRINE_PLUGIN_IID)
