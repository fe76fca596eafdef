#include "core/config/papers/tour.h"

#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/config/toml/toml_reader.h"

namespace vitrine {

namespace {

const std::vector<std::string>& tourKeys() {
  static const std::vector<std::string> keys = {"title",       "about",       "minutes",
                                                "measured_on", "experiments", "samples"};
  return keys;
}

bool isWordList(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Json& each) {
           return each.is_string() && !each.get<std::string>().empty();
         });
}

class TourReader {
 public:
  TourReader(const Node& document, ProblemList& problems)
      : document_(document), problems_(problems) {}

  Tour read() {
    for (const auto& [key, value] : document_.children) {
      if (std::find(tourKeys().begin(), tourKeys().end(), key) == tourKeys().end()) {
        problems_.add(&value, kAtKey, Code::UnknownKey, shorten(key, 80), "is not a key of a tour",
                      nearest(key, tourKeys()));
      }
    }
    Tour tour{.title = text("title"), .about = text("about"), .measuredOn = text("measured_on")};
    const Node* minutes = find("minutes");
    if (minutes != nullptr) {
      const bool isNumber = minutes->value.is_number();
      tour.minutes = isNumber ? minutes->value.get<double>() : 0;
      if (!std::isfinite(tour.minutes) || tour.minutes <= 0)
        problems_.add(minutes, kAtValue, Code::OutOfRange, "minutes", "must be a number above 0");
    }
    if (const Node* experiments = find("experiments")) {
      if (isWordList(experiments->value)) {
        for (const Json& file : experiments->value) tour.parts.push_back({file, {}});
      } else {
        problems_.add(experiments, kAtValue, Code::WrongType, "experiments",
                      "must be a list of files");
      }
    }
    if (const Node* samples = document_.find("samples")) readSamples(*samples, tour);
    return tour;
  }

 private:
  const Node* find(const std::string& key) {
    const Node* node = document_.find(key);
    if (node == nullptr) problems_.add(&document_, kAtValue, Code::Missing, key, "is missing");
    return node;
  }

  std::string text(const std::string& key) {
    const Node* node = find(key);
    if (node == nullptr) return "";
    if (node->value.is_string()) return node->value.get<std::string>();
    problems_.add(node, kAtValue, Code::WrongType, key, "must be a text");
    return "";
  }

  void readSamples(const Node& samples, Tour& tour) {
    if (!samples.value.is_array() ||
        !std::all_of(samples.value.begin(), samples.value.end(), isWordList)) {
      problems_.add(&samples, kAtValue, Code::WrongType, "samples",
                    "must be a list of calls, each a list of words that begins with a file");
      return;
    }
    for (const Json& call : samples.value) {
      auto words = call.get<std::vector<std::string>>();
      const auto part = std::find_if(tour.parts.begin(), tour.parts.end(), [&](const auto& each) {
        return each.experiment == words.front();
      });
      if (part == tour.parts.end()) {
        problems_.add(&samples, kAtValue, Code::UnknownName, "samples",
                      "name '" + shorten(words.front(), 80) + "', which is not in experiments");
        continue;
      }
      words.erase(words.begin());
      part->samples.push_back(std::move(words));
    }
  }

  const Node& document_;
  ProblemList& problems_;
};

}  // namespace

Tour readTour(const std::string& text, const std::string& fileName,
              std::vector<Problem>& problems) {
  ProblemList list(fileName);
  const Node document = readToml(text, list);
  Tour tour;
  if (list.isEmpty()) tour = TourReader(document, list).read();
  problems = list.take();
  return tour;
}

}  // namespace vitrine
