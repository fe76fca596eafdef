// Amounts as people write them on the command line.
#pragma once

#include <cstdint>
#include <string>

namespace vitrine::app {

/// "2h", "90m", "1h30m", "45s", "0.5s" or "45": seconds.
/// \param option  that `text` was given to: "--grace"
/// \throws ConfigError  it is none, or longer than 36500 days
[[nodiscard]] double parseDuration(const std::string& option, const std::string& text);

/// "8GB", "500MB", "2GiB" or "1000000": bytes. \throws ConfigError  it is none
[[nodiscard]] std::int64_t parseBytes(const std::string& text);

}  // namespace vitrine::app
