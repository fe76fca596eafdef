#include "core/base/error.h"

namespace vitrine {

Error::Error(const std::string& message, ExitCode code)
    : std::runtime_error(message), code_(code) {}
Error::~Error() = default;

ConfigError::ConfigError(const std::string& message) : Error(message, ExitCode::BadUsage) {}
ConfigError::~ConfigError() = default;

NotFoundError::NotFoundError(const std::string& message) : Error(message, ExitCode::NotFound) {}
NotFoundError::~NotFoundError() = default;

RefusedError::RefusedError(const std::string& message) : Error(message, ExitCode::Refused) {}
RefusedError::~RefusedError() = default;

FileError::FileError(const std::string& message) : Error(message) {}
FileError::~FileError() = default;

ShapeError::ShapeError(const std::string& message) : Error(message) {}
ShapeError::~ShapeError() = default;

PluginError::PluginError(const std::string& message) : Error(message) {}
PluginError::~PluginError() = default;

StoreError::StoreError(const std::string& message) : Error(message) {}
StoreError::~StoreError() = default;

}  // namespace vitrine
