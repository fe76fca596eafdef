// The root object of a plugin file, which vitrine_add_plugin() generates. Qt's part of the plugin
// system is this file and the loader; everything a plugin adds is plain C++
// (core/plugin/registry.h).
#pragma once

#include <QtPlugin>

#include "core/plugin/registry.h"

/// Raised whenever a plugin must be rebuilt.
#define VITRINE_PLUGIN_IID "org.vitrine.Plugin/3"
Q_DECLARE_INTERFACE(vitrine::Plugin, VITRINE_PLUGIN_IID)
