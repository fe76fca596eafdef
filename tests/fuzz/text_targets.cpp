// Texts: experiments, claims, the catalogue that a probe of a plugin prints; and frames of `serve`.
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/config/catalog.h"
#include "core/config/experiment.h"
#include "core/config/papers/claims.h"
#include "core/remote/frames.h"
#include "tests/core/config/sample_catalog.h"
#include "tests/fuzz/targets.h"

namespace vitrine::fuzz {

void runExperiment(Bytes input) {
  static const Catalog catalog = testing_support::sampleCatalog();
  const std::string text(input.begin(), input.end());
  const Plan plan = planExperiment(text, "fuzz.toml", catalog, {});
  require(!plan.problems.empty() || !plan.runs.empty(), "a plan has runs or says why not");
  for (const Problem& problem : plan.problems)
    require(!problem.sentence().empty(), "a problem is a sentence");
  for (const PlannedRun& run : plan.runs) require(!run.name.empty(), "a run has a name");
}

void runClaims(Bytes input) {
  const std::string text(input.begin(), input.end());
  std::vector<Problem> problems;
  const std::vector<Claim> claims = readClaims(text, "claims.toml", problems);
  for (const Problem& problem : problems)
    require(!problem.sentence().empty(), "a problem is a sentence");
  if (!problems.empty()) return;
  for (const Claim& claim : claims) require(!claim.better.empty(), "a claim says what is better");
}

void runCatalog(Bytes input) {
  const Json json = readJson({reinterpret_cast<const char*>(input.data()), input.size()});
  if (json.is_discarded()) return;
  try {
    const Catalog catalog = catalogFromJson(json);
    const Json written = toJson(catalog);
    require(toJson(catalogFromJson(written)) == written,
            "a catalogue survives writing and reading");
  } catch (const ConfigError& refusal) {
    require(*refusal.what() != '\0', "a refusal says why");
  }
}

void runFrame(Bytes input) {
  try {
    const Json map = remote::frameMap(input);
    require(map.is_object(), "a frame is a map");
    const Json again = remote::frameMap(Json::to_cbor(map));
    require(Json::to_cbor(again) == Json::to_cbor(map), "a frame survives writing and reading");
  } catch (const std::invalid_argument& refusal) {
    require(*refusal.what() != '\0', "a refusal says why");
  }
}

}  // namespace vitrine::fuzz
