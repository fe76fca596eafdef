#include "app/vitrine/run/sampling.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/joined.h"

namespace vitrine::app {

namespace {

std::string inOneLine(const std::vector<std::string>& words) {
  const std::string line = joined(words);
  return line.empty() ? "nothing" : line;
}

bool hasAll(const std::vector<std::string>& offered, const std::vector<std::string>& needs) {
  return std::all_of(needs.begin(), needs.end(), [&](const std::string& need) {
    return std::find(offered.begin(), offered.end(), need) != offered.end();
  });
}

}  // namespace

const Sampler& samplerFor(const Registry& registry, Model& model, const std::string& asked) {
  const std::vector<std::string> offered = capabilitiesOf(model);
  if (!asked.empty()) {
    const Sampler& sampler = registry.sampler(asked);
    if (const auto needs = sampler.card().needs; !hasAll(offered, needs)) {
      throw RefusedError("sampler '" + asked + "' needs a model that offers " + inOneLine(needs) +
                         "; this one offers " + inOneLine(offered));
    }
    return sampler;
  }
  std::vector<std::string> fitting;
  for (const ItemCard& card : registry.catalog().items) {
    if (card.kind == ItemKind::Sampler && hasAll(offered, card.needs)) fitting.push_back(card.id);
  }
  if (fitting.empty())
    throw RefusedError("no sampler can make images or texts with this model, which offers " +
                       inOneLine(offered));
  if (fitting.size() > 1)
    throw ConfigError("several samplers fit this model; choose one of " + inOneLine(fitting));
  return registry.sampler(fitting.front());
}

Schema settingsOf(const ItemCard& sampler) {
  Schema schema = sampleSchema();
  schema.fields.insert(schema.fields.end(), sampler.schema.fields.begin(),
                       sampler.schema.fields.end());
  schema.rules.insert(schema.rules.end(), sampler.schema.rules.begin(), sampler.schema.rules.end());
  return schema;
}

SampleRequest sampleRequestFor(const TrainedModel& trained, const store::RunRow& run,
                               const std::string& use, const std::string& weightsSha256,
                               Json settings) {
  const train::Look& look = trained.run.look;
  SampleRequest request{*trained.run.session,
                        Config(std::move(settings)),
                        look.device,
                        trained.checkpoint.step,
                        {{"run", run.uuid},
                         {"step", trained.checkpoint.step},
                         {"weights", use},
                         {"weights_sha256", weightsSha256},
                         {"precision", toString(look.precision)}}};
  for (const Network& network : trained.run.session->networks()) {
    if (network.role == Network::Role::Frozen)
      request.origin["networks"][network.name] = network.sha256;
  }
  return request;
}

}  // namespace vitrine::app
