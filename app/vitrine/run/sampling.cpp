#include "app/vitrine/run/sampling.h"

#include "core/base/error.h"
#include "core/base/joined.h"

namespace vitrine::app {

namespace {

std::string inOneLine(const std::vector<std::string>& words) {
  const std::string line = joined(words);
  return line.empty() ? "nothing" : line;
}

}  // namespace

std::string requestedSampler(const Registry& registry, TaskSession& session,
                             const std::string& with, Json& settings) {
  if (!settings.contains("sampler")) return with;
  const Json word = settings["sampler"];
  settings.erase("sampler");
  if (!word.is_string()) throw ConfigError("sampler = " + word.dump() + " has to be a name");
  const std::string asked = word.get<std::string>();
  if (!with.empty() && with != asked)
    throw ConfigError("sampler = \"" + asked + "\" and --with " + with + " name two samplers");
  const Catalog& catalog = registry.catalog();
  if (catalog.find(ItemKind::Sampler, asked) != nullptr) return asked;
  // The name of a solver stands for the sampler that has it, best for one that suits the run.
  std::string found;
  std::vector<std::string> solvers;
  for (const ItemCard& card : catalog.items) {
    if (card.kind != ItemKind::Sampler) continue;
    const Field* solver = card.schema.find("solver");
    if (solver == nullptr) continue;
    solvers.insert(solvers.end(), solver->choices.begin(), solver->choices.end());
    if (!solver->offers(asked)) continue;
    const bool isFitting = registry.sampler(card.id).fit(session) != Sampler::Fit::None;
    if (found.empty() || isFitting) found = card.id;
  }
  if (found.empty()) {
    throw NotFoundError("there is no sampler '" + asked + "'; there are " +
                        inOneLine(catalog.ids(ItemKind::Sampler)) + ", and the solvers " +
                        inOneLine(solvers));
  }
  if (settings.value("solver", asked) != asked)
    throw ConfigError("sampler = \"" + asked + "\" and solver = " + settings["solver"].dump() +
                      " name two solvers");
  settings["solver"] = asked;
  return found;
}

const Sampler& samplerFor(const Registry& registry, TaskSession& session,
                          const std::string& asked) {
  const std::vector<std::string> offered = capabilitiesOf(session.model());
  if (!asked.empty()) {
    const Sampler& sampler = registry.sampler(asked);
    if (const auto needs = sampler.card().needs; !offersEvery(offered, needs)) {
      throw RefusedError("sampler '" + asked + "' needs a model with " + capabilitiesText(needs) +
                         "; this one has " + capabilitiesText(offered));
    }
    return sampler;
  }
  std::vector<std::string> fitting, preferred;
  for (const ItemCard& card : registry.catalog().items) {
    if (card.kind != ItemKind::Sampler || !offersEvery(offered, card.needs)) continue;
    const Sampler::Fit fit = registry.sampler(card.id).fit(session);
    if (fit != Sampler::Fit::None) fitting.push_back(card.id);
    if (fit == Sampler::Fit::Preferred) preferred.push_back(card.id);
  }
  if (preferred.size() == 1) return registry.sampler(preferred.front());
  if (fitting.empty())
    throw RefusedError("no sampler can make images or texts with this model, which offers " +
                       capabilitiesText(offered));
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
                               const std::string& weightsSha256, Json settings) {
  const train::Look& look = trained.run.look;
  SampleRequest request{*trained.run.session,
                        Config(std::move(settings)),
                        look.device,
                        trained.checkpoint.step,
                        {{"run", run.uuid},
                         {"step", trained.checkpoint.step},
                         {"weights", trained.checkpoint.use},
                         {"weights_sha256", weightsSha256},
                         {"precision", toString(look.precision)}}};
  for (const Network& network : trained.run.session->networks()) {
    if (network.role == Network::Role::Frozen)
      request.origin["networks"][network.name] = network.sha256;
  }
  return request;
}

}  // namespace vitrine::app
