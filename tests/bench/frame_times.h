// Times of frames and the memory of the process.
#pragma once

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

namespace vitrine::bench {

/// \param times  ms, at least one
inline void report(const std::string& what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&times](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  std::printf("%-46s p50 %7.2f ms   p90 %7.2f ms   p99 %7.2f ms   max %7.2f ms   (%zu)\n",
              what.c_str(), at(0.5), at(0.9), at(0.99), times.back(), times.size());
  std::fflush(stdout);
}

inline double residentMegabytes() {
  std::ifstream status("/proc/self/statm");
  double pages = 0, resident = 0;
  status >> pages >> resident;
  return resident * 4096 / 1e6;
}

/// Milliseconds of this thread's own time: other programs of a busy machine do not count.
inline double ownTime() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace vitrine::bench
