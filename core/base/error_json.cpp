#include "core/base/error_json.h"

#include "core/base/text.h"

namespace vitrine {

const char* errorWord(ExitCode code) noexcept {
  switch (code) {
    case ExitCode::BadUsage:
      return "config";
    case ExitCode::NotFound:
      return "not_found";
    case ExitCode::Refused:
      return "refused";
    default:
      return "failed";
  }
}

Json errorJson(ExitCode code, const std::string& message) {
  return {{"error", {{"code", errorWord(code)}, {"message", message}}}};
}

std::optional<ReportedError> reportedError(const Json& output) {
  const auto error = output.is_object() ? output.find("error") : output.end();
  if (error == output.end() || !error->is_object()) return std::nullopt;
  const auto code = error->find("code"), message = error->find("message");
  if (code == error->end() || !code->is_string()) return std::nullopt;
  if (message == error->end() || !message->is_string()) return std::nullopt;
  return ReportedError{code->get<std::string>(), message->get<std::string>()};
}

std::string errorMessage(const Json& output, const std::string& err) {
  const std::optional<ReportedError> error = reportedError(output);
  return error ? error->message : lastLine(err);
}

}  // namespace vitrine
