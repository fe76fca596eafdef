// What a test and the process that is forked say to each other, a packet each. Every request is
// answered by one int.
#pragma once

#include <cstddef>

namespace vitrine::test {

/// The descriptor at which the process that is forked finds the socket.
inline constexpr int kForksSocket = 100;
inline constexpr std::size_t kMostForksBytes = std::size_t{1} << 16;  ///< of a request

/// The first byte of a request.
enum class ForksRequest : char {
  Start = 's',  ///< files of stdin, stdout and stderr, then the words of main(), each ended by 0
  Wait = 'w',   ///< a pid_t
  Ended = 'e',  ///< a pid_t
};

}  // namespace vitrine::test
