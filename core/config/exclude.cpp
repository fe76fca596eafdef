#include "core/config/exclude.h"

#include <algorithm>
#include <string>

#include "core/base/text.h"
#include "core/config/resolve.h"

namespace vitrine {

namespace {

constexpr std::size_t kMostExcludes = 1'000;  // each is compared with every run

class ExcludeReader {
 public:
  ExcludeReader(const ExperimentText& text, ProblemList& problems)
      : text_(text), problems_(problems) {
    if (!text.variants.empty()) varying_.emplace_back("variant");
    for (const Axis& axis : text.axes) varying_.push_back(axis.key);
  }

  std::vector<Exclude> read(const Node& node) {
    std::vector<Exclude> excludes;
    if (node.isTable || !node.value.is_array()) {
      problems_.add(&node, kAtKey, Code::WrongType, "exclude",
                    "must be written as [[exclude]], once for each");
      return excludes;
    }
    if (node.items.size() > kMostExcludes) {
      problems_.add(&node, kAtKey, Code::TooLarge, "exclude",
                    "is written " + formatCount(node.items.size()) +
                        " times, more than " + formatCount(kMostExcludes) +
                        "; sweep fewer values, or exclude a whole variant");
      return excludes;
    }
    for (const Node& item : node.items) {
      if (!item.isTable) {
        problems_.add(
            &item, kAtValue, Code::WrongType, "exclude",
            "must be a table of values of the run: variant = \"NAME\", \"train.seed\" = 1");
        continue;
      }
      if (item.children.empty()) {
        problems_.add(&item, kAtValue, Code::Empty, "exclude",
                      "is empty; name a variant, a value of a swept key, or both");
        continue;
      }
      now_ = {};
      now_.choice.assign(text_.axes.size(), -1);
      now_.line = item.line;
      now_.column = item.column;
      isSound_ = true;
      readKeys(item, "");
      if (!isSound_) continue;
      const auto before = std::find_if(excludes.begin(), excludes.end(),
                                       [this](const Exclude& one) { return covers(one, now_); });
      if (before != excludes.end()) {
        problems_.add(&item, kAtValue, Code::Duplicate, "exclude",
                      "excludes no more runs than the [[exclude]] of line " +
                          std::to_string(before->line) + "; remove one");
        continue;
      }
      excludes.push_back(now_);
      if (problems_.isFull()) break;
    }
    return excludes;
  }

 private:
  static bool covers(const Exclude& wide, const Exclude& narrow) {
    if (wide.variant >= 0 && wide.variant != narrow.variant) return false;
    for (std::size_t i = 0; i < wide.choice.size(); ++i) {
      if (wide.choice[i] >= 0 && wide.choice[i] != narrow.choice[i]) return false;
    }
    return true;
  }

  void refuse(const Node& where, At at, Code code, const std::string& key,
              const std::string& message, const std::string& close = "") {
    isSound_ = false;
    problems_.add(&where, at, code, "exclude." + shorten(key, 80), message, close);
  }

  void readKeys(const Node& table, const std::string& prefix) {
    for (const auto& [name, child] : table.children) {
      const std::string key = prefix.empty() ? name : prefix + "." + name;
      const auto axis = std::find_if(text_.axes.begin(), text_.axes.end(),
                                     [&key](const Axis& one) { return one.key == key; });
      if (axis != text_.axes.end()) {
        readValue(child, *axis, static_cast<std::size_t>(axis - text_.axes.begin()));
      } else if (key == "variant") {
        readVariant(child);
      } else if (child.isTable && !child.children.empty()) {
        readKeys(child, key);
      } else {
        refuse(child, kAtKey, Code::UnknownKey, key,
               varying_.empty()
                   ? "excludes nothing: the file has neither variants nor a [sweep]"
                   : "is not swept, so it does not distinguish runs; there are " + listed(varying_),
               nearest(key, varying_));
      }
    }
  }

  void readVariant(const Node& node) {
    std::vector<std::string> names;
    for (const Entry& entry : text_.variants) names.push_back(entry.name);
    if (node.isTable || !node.value.is_string()) {
      refuse(node, kAtValue, Code::WrongType, "variant", "must be the name of a variant");
      return;
    }
    const auto wanted = node.value.get<std::string>();
    const auto found = std::find(names.begin(), names.end(), wanted);
    if (found == names.end()) {
      refuse(node, kAtValue, Code::UnknownName, "variant",
             "there is no variant '" + shorten(wanted, 60) + "', so nothing is excluded" +
                 (names.empty() ? "" : "; there are " + listed(names)),
             nearest(wanted, names));
      return;
    }
    now_.variant = static_cast<int>(found - names.begin());
  }

  void readValue(const Node& node, const Axis& axis, std::size_t place) {
    if (now_.choice[place] >= 0) {
      refuse(node, kAtKey, Code::Duplicate, axis.key, "is given twice");
      return;
    }
    const auto found = std::find_if(axis.values.begin(), axis.values.end(),
                                    [&node](const Node& one) { return sameValue(one, node); });
    if (found != axis.values.end()) {
      now_.choice[place] = static_cast<int>(found - axis.values.begin());
      return;
    }
    std::vector<std::string> values;
    for (const Node& value : axis.values) values.push_back(shownInName(value));
    const std::string shown = shownInName(node);
    refuse(
        node, kAtValue, Code::UnknownName, axis.key,
        shown + " is none of the swept values, so nothing is excluded; there are " + listed(values),
        nearest(shown, values));
  }

  const ExperimentText& text_;
  ProblemList& problems_;
  std::vector<std::string> varying_;
  Exclude now_;
  bool isSound_ = true;
};

}  // namespace

std::vector<Exclude> readExcludes(const Node& node, const ExperimentText& text,
                                  ProblemList& problems) {
  return ExcludeReader(text, problems).read(node);
}

void dropAxis(std::vector<Exclude>& excludes, std::size_t axis) {
  std::erase_if(excludes, [axis](const Exclude& one) { return one.choice[axis] >= 0; });
  for (Exclude& one : excludes)
    one.choice.erase(one.choice.begin() + static_cast<std::ptrdiff_t>(axis));
}

int excludedBy(const std::vector<Exclude>& excludes, std::size_t variant,
               const std::vector<std::size_t>& choice) {
  for (std::size_t i = 0; i < excludes.size(); ++i) {
    const Exclude& one = excludes[i];
    if (one.variant >= 0 && static_cast<std::size_t>(one.variant) != variant) continue;
    const bool isMeant = std::equal(one.choice.begin(), one.choice.end(), choice.begin(),
                                    choice.end(), [](int wanted, std::size_t is) {
                                      return wanted < 0 || static_cast<std::size_t>(wanted) == is;
                                    });
    if (isMeant) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace vitrine
