#include "ui/workbench/model_service.h"

#include <QPointer>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/jobs/launcher.h"
#include "core/remote/client.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/remote_link.h"

namespace vitrine::ui {

namespace {

/// Fields that carry bytes, perhaps in several answers.
constexpr std::array kCarriers{"artifact", "output", "image", "preview", "sample"};

ModelError errorIn(const Json& answer) {
  // The other side may send anything: a field of another type counts as missing.
  const Json& error = answer.at("error");
  const std::string kind = stateText(error, "kind");
  return {kind.empty() ? "failed" : kind, stateWords(error, "message")};
}

}  // namespace

Json ModelChoice::request() const {
  Json request{
      {"op", "load"}, {"run", run}, {"checkpoint", checkpoint}, {"use", use}, {"device", device}};
  if (!precision.empty()) request["precision"] = precision;
  if (!overrides.empty()) request["overrides"] = overrides;
  return request;
}

/// Where requests go: answers come to the thread of `context`, unless it is gone.
class ModelService::Line {
 public:
  using OnResponse = std::function<void(Json answer)>;
  virtual ~Line() = default;
  /// \returns  what cancel() names
  virtual std::int64_t send(Json request, QObject* context, OnResponse onResponse) = 0;
  void cancel(std::int64_t id, QObject* context) {
    // The answer to the request itself shows whether it was unfinished.
    send({{"op", "cancel"}, {"of", id}}, context, [](const Json&) {});
  }
};

/// `vitrine serve` of a database on this machine, started again after it ended.
class ModelService::LocalLine final : public Line {
 public:
  explicit LocalLine(std::filesystem::path database) : database_(std::move(database)) {}

  std::int64_t send(Json request, QObject* context, OnResponse onResponse) override {
    const QPointer<QObject> asker(context);
    const auto deliver = [context, asker](OnResponse told, Json answer) {
      QMetaObject::invokeMethod(
          context,
          [asker, told = std::move(told), answer = std::move(answer)]() mutable {
            if (asker != nullptr) told(std::move(answer));
          },
          Qt::QueuedConnection);
    };
    try {
      if (!client_ || hasEnded_->load()) start();
    } catch (const Error& error) {
      deliver(std::move(onResponse), {{"error", {{"kind", "link"}, {"message", error.what()}}}});
      return 0;
    }
    return client_->send(std::move(request), [deliver, onResponse = std::move(onResponse),
                                              hasEnded = hasEnded_](Json answer) {
      if (answer.contains("error") && errorIn(answer).kind == "link") hasEnded->store(true);
      deliver(onResponse, std::move(answer));
    });
  }

 private:
  void start() {
    client_.reset();
    hasEnded_ = std::make_shared<std::atomic<bool>>(false);
    client_ = std::make_unique<remote::RemoteClient>(std::vector<std::string>{
        jobs::headlessProgram().string(), "serve", "--db", database_.string()});
    // What it refuses ends it, and the request behind hears of that.
    client_->send({{"op", "hello"}, {"protocol", 1}}, [](const Json&) {});
  }

  std::filesystem::path database_;
  std::shared_ptr<std::atomic<bool>> hasEnded_;
  std::unique_ptr<remote::RemoteClient> client_;
};

class ModelService::LinkLine final : public Line {
 public:
  explicit LinkLine(RemoteLink& link) : link_(link) {}
  std::int64_t send(Json request, QObject* context, OnResponse onResponse) override {
    return link_.sendForAll(std::move(request), context, std::move(onResponse));
  }

 private:
  RemoteLink& link_;
};

struct ModelService::Work {
  ModelChoice model;
  std::optional<Json> request;  ///< none: the model is loaded, and that is all
  QPointer<QObject> context;
  Listener listener;
  bool isLoading = false;
  bool isSentAgain = false;  ///< once is enough
  bool hasParts = false;     ///< of the answer: it cannot begin again
  int round = 0;             ///< of requests sent for it: answers to earlier ones are dropped
  std::int64_t sent = 0;     ///< of the line
  std::vector<std::uint8_t> bytes = {};  ///< of the tensor or file that is under way
};

ModelService::ModelService(std::filesystem::path database, QObject* parent)
    : QObject(parent), line_(std::make_unique<LocalLine>(std::move(database))) {}

ModelService::ModelService(RemoteLink& link, QObject* parent)
    : QObject(parent), line_(std::make_unique<LinkLine>(link)) {
  // The process over there ends with the link, and its models with it.
  connect(&link, &RemoteLink::stateChanged, this, [this, &link] {
    if (!link.isLinked()) names_.clear();
  });
}

ModelService::~ModelService() = default;

ModelService::Ticket ModelService::compute(const ModelChoice& model, Json request, QObject* context,
                                           Listener listener) {
  const Ticket ticket = ++next_;
  open_[ticket] =
      std::make_unique<Work>(Work{model, std::move(request), context, std::move(listener)});
  names_.contains(model.request().dump()) ? ask(ticket) : load(ticket);
  return ticket;
}

ModelService::Ticket ModelService::load(const ModelChoice& model, QObject* context,
                                        Listener listener) {
  const Ticket ticket = ++next_;
  open_[ticket] = std::make_unique<Work>(Work{model, std::nullopt, context, std::move(listener)});
  load(ticket);
  return ticket;
}

void ModelService::cancel(Ticket ticket) {
  const auto found = open_.find(ticket);
  if (found == open_.end()) return;
  // A `load` is not cancelled over there: what it loads stays for the next request.
  if (!found->second->isLoading && found->second->sent != 0)
    line_->cancel(found->second->sent, this);
  takeError(ticket, {"cancelled", tr("Cancelled.")});
}

void ModelService::load(Ticket ticket) {
  open_.at(ticket)->isLoading = true;
  send(ticket, open_.at(ticket)->model.request());
}

void ModelService::ask(Ticket ticket) {
  Work& work = *open_.at(ticket);
  work.isLoading = false;
  Json request = *work.request;
  request["model"] = names_.at(work.model.request().dump());
  send(ticket, std::move(request));
}

void ModelService::send(Ticket ticket, Json request) {
  Work& work = *open_.at(ticket);
  work.bytes.clear();
  const int round = ++work.round;
  work.sent = line_->send(std::move(request), this, [this, ticket, round](Json answer) {
    take(ticket, round, std::move(answer));
  });
}

void ModelService::take(Ticket ticket, int round, Json answer) {
  const auto found = open_.find(ticket);
  if (found == open_.end() || found->second->round != round) return;
  if (answer.contains("error")) return takeError(ticket, errorIn(answer));
  if (remote::isLastResponse(answer)) return takeLast(ticket, answer);
  takePart(ticket, std::move(answer));
}

void ModelService::takePart(Ticket ticket, Json answer) {
  Work& work = *open_.at(ticket);
  for (const char* carrier : kCarriers) {
    const auto found = answer.find(carrier);
    if (found == answer.end()) continue;
    const auto bytes = found->is_object() ? found->find("bytes") : found->end();
    const bool isWhole = bytes != found->end() && bytes->is_binary() && found->contains("size") &&
                         (*found)["size"].is_number_unsigned() && found->contains("offset") &&
                         (*found)["offset"].is_number_unsigned();
    const auto& piece = isWhole ? bytes->get_binary() : Json::binary_t();
    const std::uint64_t size = isWhole ? (*found)["size"].get<std::uint64_t>() : 0;
    // Memory grows with what arrives, never with what a size claims.
    if (!isWhole || (*found)["offset"].get<std::uint64_t>() != work.bytes.size() ||
        work.bytes.size() + piece.size() > size) {
      return takeError(ticket,
                       {"protocol", tr("The answer of the model has a wrong part \u201c%1\u201d.")
                                        .arg(QString::fromUtf8(carrier))});
    }
    if (piece.size() == size) continue;
    work.bytes.insert(work.bytes.end(), piece.begin(), piece.end());
    if (work.bytes.size() < size) return;
    (*found)["bytes"] = Json::binary(std::exchange(work.bytes, {}));
    (*found)["offset"] = 0;
  }
  // The listener may cancel: what it captured has to outlive the call.
  work.hasParts = true;
  const auto onPart = work.listener.onPart;
  if (work.context != nullptr && onPart) onPart(answer);
}

void ModelService::takeLast(Ticket ticket, const Json& answer) {
  Work& work = *open_.at(ticket);
  if (work.isLoading) {
    const Json& name = stateMember(answer, "model");
    if (!name.is_string()) {
      return takeError(ticket,
                       {"protocol", tr("The answer to \u201cload\u201d does not name the model.")});
    }
    names_[work.model.request().dump()] = name.get<std::string>();
    if (work.request) return ask(ticket);
  }
  end(ticket, [&](const Listener& to) {
    if (to.onDone) to.onDone(answer);
  });
}

void ModelService::takeError(Ticket ticket, const ModelError& error) {
  Work& work = *open_.at(ticket);
  const bool hasEnded = error.kind == "link";
  const bool isUnloaded = error.kind == "not_found" && !work.isLoading;
  // A process that ended took all its models with it.
  if (hasEnded || error.kind == "failed") names_.clear();
  if (isUnloaded) names_.erase(work.model.request().dump());
  if ((hasEnded || isUnloaded) && !work.isSentAgain && !work.hasParts && work.context != nullptr) {
    work.isSentAgain = true;
    return load(ticket);
  }
  end(ticket, [&](const Listener& to) {
    if (to.onError) to.onError(error);
  });
}

void ModelService::end(Ticket ticket, const std::function<void(const Listener&)>& tell) {
  const std::unique_ptr<Work> work = std::move(open_.extract(ticket).mapped());
  if (work->context != nullptr) tell(work->listener);
}

}  // namespace vitrine::ui
