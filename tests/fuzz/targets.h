// One function for each reader of files from outside: gives it untrusted bytes and checks
// what comes out.
//
// A reader may take the bytes or refuse them with a vitrine::Error. Anything else is a finding:
// another exception, a crash, a sanitizer's report, or a result that breaks the promises of the
// reader's header, which is thrown as Finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace vitrine::fuzz {

using Bytes = std::span<const std::uint8_t>;

struct Finding : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void require(bool holds, const char* promise) {
  if (!holds) throw Finding(promise);
}

struct Target {
  const char* name;            ///< also its folder of seeds
  void (*run)(Bytes);          ///< \throws Finding
  std::size_t longest;         ///< bytes of an input worth trying
  bool isSafetensors = false;  ///< mutated by its structure
};
[[nodiscard]] std::span<const Target> targets();

void runSafetensors(Bytes input);
void runSafetensorsIndex(Bytes input);
void runIdx(Bytes input);
void runIdxGzip(Bytes input);
void runCifar(Bytes input);
void runImage(Bytes input);
void runEventFile(Bytes input);
void runSampleLists(Bytes input);
void runExperiment(Bytes input);
void runClaims(Bytes input);
void runCatalog(Bytes input);
void runFrame(Bytes input);

}  // namespace vitrine::fuzz
