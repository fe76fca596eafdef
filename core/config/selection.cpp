#include "core/config/selection.h"

#include <cmath>
#include <map>

#include "core/base/cell_text.h"
#include "core/base/text.h"
#include "core/config/config.h"

namespace vitrine {

namespace {

/// The place of a dotted key, with tables made on the way.
Json& placeOf(Json& config, const std::string& key) {
  Json* place = &config;
  for (const std::string& part : split(key, '.')) {
    if (!place->is_object()) *place = Json::object();
    place = &(*place)[part];
  }
  return *place;
}

void erase(Json& config, const std::string& key) {
  std::vector<std::string> parts = split(key, '.');
  const std::string last = parts.back();
  parts.pop_back();
  Json* place = &config;
  for (const std::string& part : parts) {
    if (!place->is_object() || !place->contains(part)) return;
    place = &(*place)[part];
  }
  if (place->is_object()) place->erase(last);
}

}  // namespace

Json candidateChanges(const Json& before, const Json& after) {
  const auto old = flatten(before), now = flatten(after);
  std::map<std::string, Json> known(old.begin(), old.end());
  Json set = Json::object(), unset = Json::array();
  for (const auto& [key, value] : now) {
    const auto found = known.find(key);
    if (found == known.end() || found->second != value) set[key] = value;
    if (found != known.end()) known.erase(found);
  }
  for (const auto& entry : known) unset.push_back(entry.first);
  return Json{{"set", set}, {"unset", unset}};
}

Json withCandidate(Json config, const Json& selection, std::size_t index) {
  const Json& candidate = selection.at("candidates").at(index);
  for (const Json& key : candidate.at("unset")) erase(config, key.get<std::string>());
  for (const auto& [key, value] : candidate.at("set").items()) placeOf(config, key) = value;
  return config;
}

std::vector<std::optional<double>> candidateScores(const Json& selection,
                                                   const std::map<std::string, double>& scores) {
  std::vector<std::optional<double>> means;
  for (const Json& candidate : selection.at("candidates")) {
    double sum = 0;
    for (const Json& run : candidate.at("runs")) {
      const auto found = scores.find(run.get<std::string>());
      sum += found == scores.end() ? std::nan("") : found->second;
    }
    const double mean = sum / static_cast<double>(candidate.at("runs").size());
    means.push_back(std::isfinite(mean) ? std::optional(mean) : std::nullopt);
  }
  return means;
}

std::optional<std::size_t> bestCandidate(const Json& selection,
                                         const std::vector<std::optional<double>>& scores) {
  const bool isLower = selection.at("direction") == "lower";
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!scores[i]) continue;
    if (!best || (isLower ? *scores[i] < *scores[*best] : *scores[i] > *scores[*best])) best = i;
  }
  return best;
}

std::string candidateText(const Json& candidate) {
  std::string text;
  for (const auto& [key, value] : candidate.at("values").items())
    text += (text.empty() ? "" : ", ") + key + " " + plainText(value);
  return text;
}

}  // namespace vitrine
