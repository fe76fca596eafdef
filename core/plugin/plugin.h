// A plugin file: its root object, and the registry that it adds to. Qt's part of the plugin system
// is plugin_file.h and the loader; everything a plugin adds is plain C++ (core/plugin/registry.h).
#pragma once

#include "core/plugin/plugin_file.h"
#include "core/plugin/registry.h"
