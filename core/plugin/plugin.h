// The root object of a plugin file. Qt's part of the plugin system is this file and the loader;
// everything a plugin adds is plain C++ (core/plugin/registry.h).
//
//     class PlainMlpPlugin final : public QObject, public vitrine::Plugin {
//       Q_OBJECT
//       Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "plain_mlp.json")
//       Q_INTERFACES(vitrine::Plugin)
//      public:
//       void registerInto(vitrine::Registry& registry) override;
//     };
#pragma once

#include <QtPlugin>

#include "core/plugin/registry.h"

/// Raised whenever a plugin must be rebuilt.
#define VITRINE_PLUGIN_IID "org.vitrine.Plugin/3"
Q_DECLARE_INTERFACE(vitrine::Plugin, VITRINE_PLUGIN_IID)
