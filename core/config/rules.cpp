// Relations between fields, judged on resolved values.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "core/base/joined.h"
#include "core/base/text.h"
#include "core/config/lookup.h"
#include "core/config/resolve.h"

namespace vitrine {

namespace {

using Schemas = std::vector<const Schema*>;

const Field* fieldAt(const Schemas& schemas, const std::string& key) {
  for (const Schema* schema : schemas) {
    if (const Field* field = schema->find(key)) return field;
  }
  return nullptr;
}

/// An argument: a field with its value, or a literal.
struct Operand {
  std::string key;  ///< "" of a literal
  Json value;       ///< null when absent
};

Operand operand(const Json& argument, const Schemas& schemas, const Json& values) {
  if (argument.is_string()) {
    const auto key = argument.get<std::string>();
    if (fieldAt(schemas, key)) {
      const Json* value = valueAt(values, key);
      return {key, value ? *value : Json()};
    }
  }
  return {"", argument};
}

std::string inRule(const Json& value) {
  if (value.is_null()) return "none";
  if (value.is_string())
    return std::string("'").append(value.get_ref<const std::string&>()).append("'");
  if (value.is_number_float()) return formatReal(value.get<double>());
  if (value.is_array() && value.size() == 2 && value[0] == value[1]) return inRule(value[0]);
  if (value.is_array()) return "[" + joined(value, inRule) + "]";
  return value.dump();
}

std::string inRule(const Operand& operand) {
  return operand.key.empty() ? inRule(operand.value) : operand.key + " " + inRule(operand.value);
}

/// Both sides of a size, or a number twice; empty for anything else.
std::vector<double> sides(const Json& value) {
  if (value.is_number()) return {value.get<double>(), value.get<double>()};
  if (value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number())
    return {value[0].get<double>(), value[1].get<double>()};
  return {};
}

std::vector<std::int64_t> integerSides(const Json& value) {
  if (value.is_number_integer()) return {value.get<std::int64_t>(), value.get<std::int64_t>()};
  if (value.is_array() && value.size() == 2 && value[0].is_number_integer() &&
      value[1].is_number_integer()) {
    return {value[0].get<std::int64_t>(), value[1].get<std::int64_t>()};
  }
  return {};
}

bool isAllowed(const Field* field, std::int64_t value) {
  if (!field) return value >= 1;
  const auto number = static_cast<double>(value);
  return (!field->minimum || number >= *field->minimum) &&
         (!field->maximum || number <= *field->maximum) &&
         (!field->above || number > *field->above) && (!field->below || number < *field->below);
}

/// "1, 2, 4, 7, 14 or 28"
std::string either(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::string either(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> words;
  for (const std::int64_t number : numbers) words.push_back(std::to_string(number));
  return either(words);
}

/// Legal divisors of `number`: all when they are few, else those around `wanted`.
std::vector<std::int64_t> divisors(std::int64_t number, std::int64_t wanted, const Field* field) {
  std::vector<std::int64_t> small, large;
  // A number beyond 10^12 is not a size of anything here; its divisors would take too long.
  if (number <= 0 || number > 1'000'000'000'000) return {};
  for (std::int64_t i = 1; i * i <= number; ++i) {
    if (number % i != 0) continue;
    if (isAllowed(field, i)) small.push_back(i);
    if (i != number / i && isAllowed(field, number / i)) large.push_back(number / i);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  constexpr std::size_t kMost = 12;
  if (small.size() <= kMost) return small;
  const auto above = std::upper_bound(small.begin(), small.end(), wanted);
  const auto at = static_cast<std::size_t>(above - small.begin());
  const std::size_t first = std::min(at > 4 ? at - 4 : 0, small.size() - 8);
  return {small.begin() + static_cast<std::ptrdiff_t>(first),
          small.begin() + static_cast<std::ptrdiff_t>(first + 8)};
}

std::string because(const Rule& rule) {
  return rule.sentence.empty() ? "" : " (" + rule.sentence + ")";
}

std::string use(const std::string& legal) { return legal.empty() ? "" : "; use " + legal; }

std::string judgeDivides(const Operand& a, const Operand& b, const Schemas& schemas) {
  const auto left = integerSides(a.value), right = integerSides(b.value);
  if (left.empty() || right.empty()) return "";
  const auto divides = [](std::int64_t x, std::int64_t y) { return x != 0 && y % x == 0; };
  if (divides(left[0], right[0]) && divides(left[1], right[1])) return "";
  const Field* field = fieldAt(schemas, a.key);
  const std::int64_t common = std::gcd(right[0], right[1]);
  return inRule(a) + " does not divide " + inRule(b) +
         use(either(divisors(common, left[0], field)));
}

std::string judgeMultiple(const Operand& a, const Operand& b, const Schemas& schemas) {
  const auto left = integerSides(a.value), right = integerSides(b.value);
  if (left.empty() || right.empty()) return "";
  const auto isMultiple = [](std::int64_t x, std::int64_t y) { return y != 0 && x % y == 0; };
  if (isMultiple(left[0], right[0]) && isMultiple(left[1], right[1])) return "";
  const Field* field = fieldAt(schemas, a.key);
  std::vector<std::int64_t> legal;
  constexpr std::int64_t kLargest = std::int64_t{1} << 31;
  const bool isSmall = left[0] > 0 && left[0] < kLargest && left[1] > 0 && left[1] < kLargest;
  if (isSmall && right[0] > 0 && right[1] > 0 && right[0] < kLargest && right[1] < kLargest) {
    const std::int64_t step = std::lcm(right[0], right[1]);
    const std::int64_t low = left[0] / step * step;
    for (const std::int64_t value : {low, low + step}) {
      if (value > 0 && isAllowed(field, value)) legal.push_back(value);
    }
  }
  return inRule(a) + " is not a multiple of " + inRule(b) + use(either(legal));
}

std::string judgeEqual(const Operand& a, const Operand& b) {
  const auto left = sides(a.value), right = sides(b.value);
  const bool isEqual = left.empty() || right.empty() ? a.value == b.value : left == right;
  if (isEqual) return "";
  return inRule(a) + " must equal " + inRule(b) + use(inRule(b.value));
}

std::string judgeAtMost(const Operand& a, const Operand& b) {
  const auto left = sides(a.value), right = sides(b.value);
  if (left.empty() || right.empty() || (left[0] <= right[0] && left[1] <= right[1])) return "";
  return inRule(a) + " is more than " + inRule(b) + use(inRule(b.value) + " or less");
}

bool isSame(const Json& value, const Json& literal) {
  const auto left = sides(value), right = sides(literal);
  return left.empty() || right.empty() ? value == literal : left == right;
}

std::vector<std::string> shownFrom(const std::vector<Json>& arguments, std::size_t first) {
  std::vector<std::string> words;
  for (std::size_t i = first; i < arguments.size(); ++i) words.push_back(inRule(arguments[i]));
  return words;
}

}  // namespace

Verdict judge(const Rule& rule, const Schemas& schemas, const Json& values) {
  using Kind = Rule::Kind;
  const std::vector<Json>& arguments = rule.arguments;
  const std::size_t needed = rule.kind == Kind::Requires ? 3 : 2;
  if (arguments.size() < needed) return {};
  Verdict verdict;
  const Operand a = operand(arguments[0], schemas, values);

  if (rule.kind == Kind::Requires) {
    const Operand b = operand(arguments[2], schemas, values);
    if (a.key.empty() || b.key.empty() || !isSame(a.value, arguments[1])) return {};
    verdict.key = b.key;
    verdict.keys = {b.key, a.key};
    if (arguments.size() == 3) {
      if (b.value.is_null())
        verdict.message = inRule(a) + " needs " + b.key + " to be given" + because(rule);
      return verdict;
    }
    const bool isMet = std::any_of(arguments.begin() + 3, arguments.end(),
                                   [&](const Json& literal) { return isSame(b.value, literal); });
    if (!isMet) {
      verdict.message = inRule(a) + " needs " + b.key + " to be " +
                        either(shownFrom(arguments, 3)) + ", not " + inRule(b.value) +
                        because(rule);
    }
    return verdict;
  }

  if (rule.kind == Kind::OneOf) {
    verdict.key = a.key;
    verdict.keys = {a.key};
    const bool isMet = a.value.is_null() ||
                       std::any_of(arguments.begin() + 1, arguments.end(),
                                   [&](const Json& literal) { return isSame(a.value, literal); });
    if (!isMet)
      verdict.message =
          inRule(a) + " is not offered; use " + either(shownFrom(arguments, 1)) + because(rule);
    return verdict;
  }

  const Operand b = operand(arguments[1], schemas, values);
  if (a.value.is_null() || b.value.is_null()) return {};
  verdict.key = a.key.empty() ? b.key : a.key;
  for (const Operand* each : {&a, &b}) {
    if (!each->key.empty()) verdict.keys.push_back(each->key);
  }
  switch (rule.kind) {
    case Kind::Divides:
      verdict.message = judgeDivides(a, b, schemas);
      break;
    case Kind::MultipleOf:
      verdict.message = judgeMultiple(a, b, schemas);
      break;
    case Kind::Equal:
      verdict.message = judgeEqual(a, b);
      break;
    case Kind::AtMost:
      verdict.message = judgeAtMost(a, b);
      break;
    case Kind::Requires:
    case Kind::OneOf:
      break;
  }
  if (!verdict.message.empty()) verdict.message += because(rule);
  return verdict;
}

}  // namespace vitrine
