// What the benchmark programs have in common: options, the process, and the turns that run.py asks
// for.
#pragma once

#include <chrono>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>

#include "app/vitrine/cli/compute_process.h"

namespace vitrine::bench {

using app::becomeComputeProcess;  // measures what the program does

/// "--key value" pairs.
inline std::map<std::string, std::string> readOptions(int count, char** words) {
  std::map<std::string, std::string> options;
  for (int i = 1; i + 1 < count; i += 2) options[words[i]] = words[i + 1];
  return options;
}

/// Milliseconds that `body` takes.
template <class Body>
double timed(const Body& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Warms up and says "ready"; then reads one line per turn from stdin, a number of iterations, and
/// answers with one line, their milliseconds.
/// \param iterate  one iteration; returns its milliseconds
/// \param facts    lines that are answered with a number
template <class Body>
void takeTurns(int warmUps, const Body& iterate,
               const std::map<std::string, std::int64_t>& facts = {}) {
  for (int i = 0; i < warmUps; ++i) iterate();
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    if (const auto fact = facts.find(line); fact != facts.end()) {
      std::cout << fact->second << std::endl;
      continue;
    }
    for (int i = std::stoi(line); i > 0; --i) std::cout << iterate() << ' ';
    std::cout << std::endl;
  }
}

}  // namespace vitrine::bench
