// The interface between the program and its engine module.
#pragma once

#include "app/vitrine/cli/verb.h"

namespace vitrine::app {

inline constexpr const char* kEngineModuleFile = "engine_verbs.so";
inline constexpr const char* kEngineEntryName = "vitrineEngineVerb";

/// Runs the verb of that name; returns its exit code and throws nothing.
using EngineEntry = int (*)(const std::string& verb, const Arguments& arguments);

}  // namespace vitrine::app
