#include "app/vitrine/log/log_fields.h"

#include <QByteArray>
#include <limits>

#include "core/base/cell_text.h"
#include "core/base/text.h"

namespace vitrine::app {

namespace {

constexpr std::int64_t kLargestCount = 1LL << 53;

/// nullptr where the field is absent or null.
const Json* found(const Json& line, const char* key) {
  const auto at = line.find(key);
  return at == line.end() || at->is_null() ? nullptr : &*at;
}

[[noreturn]] void missing(const char* key, const char* what) {
  throw BadLine(std::string("'") + key + "' is missing; it has to be " + what);
}

[[noreturn]] void wrong(const char* key, const Json& value, const char* what) {
  throw BadLine(std::string("'") + key + "' is " + shownValue(value) + "; it has to be " + what);
}

}  // namespace

std::string shownValue(const Json& value) {
  constexpr std::size_t kMost = 60;
  // Of a long text only its beginning is written out.
  if (value.is_string() && value.get_ref<const std::string&>().size() > kMost)
    return Json(shorten(value.get_ref<const std::string&>(), kMost)).dump();
  if (value.is_structured() && value.size() > kMost)
    return std::string(value.is_array() ? "a list of " : "an object of ") +
           std::to_string(value.size());
  return shorten(dumpJson(value), kMost);
}

std::string textField(const Json& line, const char* key,
                      const std::optional<std::string>& otherwise) {
  constexpr const char* kWhat = "a text";
  const Json* value = found(line, key);
  if (value == nullptr && otherwise) return *otherwise;
  if (value == nullptr) missing(key, kWhat);
  if (!value->is_string()) wrong(key, *value, kWhat);
  return value->get<std::string>();
}

std::int64_t countField(const Json& line, const char* key, std::optional<std::int64_t> otherwise) {
  constexpr const char* kWhat = "an integer from 0 to 2^53";
  const Json* value = found(line, key);
  if (value == nullptr && otherwise) return *otherwise;
  if (value == nullptr) missing(key, kWhat);
  if (!value->is_number_unsigned() || value->get<std::uint64_t>() > kLargestCount)
    wrong(key, *value, kWhat);
  return value->get<std::int64_t>();
}

std::uint64_t seedField(const Json& line, const char* key) {
  const Json* value = found(line, key);
  if (value == nullptr) return 0;
  if (!value->is_number_unsigned()) wrong(key, *value, "an integer from 0 to 2^64 - 1");
  return value->get<std::uint64_t>();
}

std::vector<std::string> textsField(const Json& line, const char* key) {
  constexpr const char* kWhat = "a list of texts";
  std::vector<std::string> texts;
  const Json* value = found(line, key);
  if (value == nullptr) return texts;
  if (!value->is_array()) wrong(key, *value, kWhat);
  for (const Json& one : *value) {
    if (!one.is_string()) wrong(key, *value, kWhat);
    texts.push_back(one.get<std::string>());
  }
  return texts;
}

Json objectField(const Json& line, const char* key) {
  const Json* value = found(line, key);
  if (value == nullptr) return Json::object();
  if (!value->is_object()) wrong(key, *value, "an object");
  return *value;
}

double numberOf(const Json& value, const std::string& name) {
  if (value.is_number()) return value.get<double>();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (value.is_null() || value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return kInfinity;
  if (value == "-inf") return -kInfinity;
  throw BadLine("the value of '" + shorten(name, 100) + "' is " + shownValue(value) +
                R"(; it has to be a number, "nan", "inf" or "-inf")");
}

std::vector<std::byte> bytesField(const Json& line, const char* key) {
  constexpr const char* kWhat = "bytes in base64";
  const Json* value = found(line, key);
  if (value == nullptr) missing(key, kWhat);
  if (!value->is_string()) wrong(key, *value, kWhat);
  const auto& text = value->get_ref<const std::string&>();
  const auto decoded = QByteArray::fromBase64Encoding(
      QByteArray::fromRawData(text.data(), static_cast<qsizetype>(text.size())),
      QByteArray::Base64Encoding | QByteArray::AbortOnBase64DecodingErrors);
  if (!decoded) wrong(key, *value, kWhat);
  const auto* first = reinterpret_cast<const std::byte*>(decoded.decoded.constData());
  return {first, first + decoded.decoded.size()};
}

}  // namespace vitrine::app
