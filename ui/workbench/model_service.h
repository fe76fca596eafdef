// Computes with models that stay in memory, for all pages: one `vitrine serve` per open database,
// on the machine that has the database. See resources/docs/serve.md for requests and answers.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace vitrine::ui {

class RemoteLink;

/// A run as a checkpoint left it: the fields of the operation `load`.
struct ModelChoice {
  std::int64_t run = 0;
  std::string checkpoint = "latest";        ///< "latest", "best", or a step in digits
  std::string use = "model";                ///< or "ema"
  std::string device = "cpu";               ///< "cpu", "auto", "cuda" or "cuda:N"
  std::string precision = {};               ///< "": as the run was trained
  std::vector<std::string> overrides = {};  ///< key=value
  [[nodiscard]] Json request() const;       ///< of the operation `load`, without an id
};

struct ModelError {
  std::string
      kind;  ///< as the table of serve.md: "refused", "cancelled" ...; "link": no connection
  QString sentence;
};

class ModelService final : public QObject {
  Q_OBJECT
 public:
  /// Called in the thread of the service, and not after `context` is gone.
  struct Listener {
    /// Every answer but the last: {done, total}, {artifact}, {output}, {image}, {text}, {preview},
    /// {sample}. Bytes that come in several answers are joined before: `bytes` is whole.
    std::function<void(const Json& answer)> onPart = {};
    std::function<void(const Json& last)> onDone = {};
    std::function<void(const ModelError& error)> onError = {};
  };
  using Ticket = std::uint64_t;

  /// Starts nothing before the first request, then the program of jobs::headlessProgram().
  explicit ModelService(std::filesystem::path database, QObject* parent = nullptr);
  /// Computes where the database of `link` is; `link` outlives the service.
  explicit ModelService(RemoteLink& link, QObject* parent = nullptr);
  ~ModelService() override;

  /// Loads the model if it is not in memory, then sends `request` with the name of the model. When
  /// the process has ended, both are sent once more, unless a part of the answer had come.
  /// \param request  an operation of serve.md: {op: "analyse", item, settings ...}
  Ticket compute(const ModelChoice& model, Json request, QObject* context, Listener listener);
  /// Loads alone; onDone hears the answer of `load`.
  Ticket load(const ModelChoice& model, QObject* context, Listener listener);
  /// Its listener hears a ModelError of kind "cancelled", unless it was done already.
  void cancel(Ticket ticket);
  /// Requests that have no last answer yet.
  [[nodiscard]] int pending() const { return static_cast<int>(open_.size()); }

 private:
  struct Work;
  class Line;
  class LocalLine;
  class LinkLine;
  void load(Ticket ticket);
  void ask(Ticket ticket);
  void send(Ticket ticket, Json request);
  void take(Ticket ticket, int round, Json answer);
  void takePart(Ticket ticket, Json answer);
  void takeLast(Ticket ticket, const Json& answer);
  void takeError(Ticket ticket, const ModelError& error);
  void end(Ticket ticket, const std::function<void(const Listener&)>& tell);

  std::unique_ptr<Line> line_;
  std::map<Ticket, std::unique_ptr<Work>> open_;
  std::map<std::string, std::string> names_;  ///< of loaded models, by their request
  Ticket next_ = 0;
};

}  // namespace vitrine::ui
