// The root object of a plugin file. Qt's part of the plugin system is this file and the loader;
// everything a plugin adds is plain C++ (core/plugin/registry.h). vitrine_add_plugin() generates it.
#pragma once

#include <QtPlugin>

#include "core/plugin/registry.h"

/// Raised whenever a plugin must be rebuilt.
#define VITRINE_PLUGIN_IID "org.vitrine.Plugin/3"
Q_DECLARE_INTERFACE(vitrine::Plugin, VITRINE_PLUGIN_IID)
