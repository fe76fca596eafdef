#include "core/remote/mirror.h"

#include <algorithm>
#include <deque>
#include <fstream>
#include <utility>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/store/exchange/mirror.h"
#include "core/store/run_store.h"

namespace vitrine::remote {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Link = RemoteState::Link;

constexpr auto kGreeting = 30s;  // ssh has to log in first
constexpr auto kAnswer = 300s;   // of one run, over a slow line
constexpr auto kFarewell = 3s;   // for answers to what was asked last
constexpr auto kLogPause = 1s;   // between two looks at the logs that are followed
constexpr auto kShortest = 1s, kLongest = 30s;
constexpr std::size_t kAsked = 8;  // runs under way at a time: a long line is kept busy

std::vector<std::int64_t> idsOf(const Json& answer, const char* key) {
  std::vector<std::int64_t> ids;
  const auto list = answer.find(key);
  if (list == answer.end() || !list->is_array()) return ids;
  for (const Json& one : *list) {
    const Json& id = one.is_object() ? one.at("id") : one;
    if (id.is_number_integer()) ids.push_back(id.get<std::int64_t>());
  }
  return ids;
}

/// What ssh says of a host that it does not reach, of a login that needs a person, or of a program
/// that is not there, with the way out.
std::string withRemedy(std::string message, const RemotePlace& place) {
  const auto says = [&](const char* words) { return message.find(words) != std::string::npos; };
  if (says("Host key verification failed") || says("Permission denied (") ||
      says("Too many authentication failures")) {
    while (message.ends_with('.')) message.pop_back();
    return message + "; log in once with `" + place.login() +
           "` in a terminal, and set up a key, so that it asks nothing";
  }
  if (says(place.program.c_str()) && (says("not found") || says("No such file"))) {
    return message + "; install Vitrine there, or name the program: " + place.url() +
           (place.program == "vitrine" ? "?program=/path/to/vitrine" : "");
  }
  if (says("ssh: ") || says("Connection "))
    return message + "; check host and port with `" + place.login() + "` in a terminal";
  return message;
}

/// Only a copy: one that cannot be read any more is fetched again.
std::unique_ptr<store::Mirror> openCopy(const std::filesystem::path& file, const std::string& of) {
  try {
    return std::make_unique<store::Mirror>(file, of);
  } catch (const StoreError& damaged) {
    log::warning(std::string(damaged.what()) + " (it is a copy of " + of +
                 " and is fetched again)");
    for (const char* ending : {"", "-wal", "-shm", ".gate"})
      std::filesystem::remove(file.string() + ending);
    return std::make_unique<store::Mirror>(file, of);
  }
}

}  // namespace

RemoteMirror::RemoteMirror(RemotePlace place, OnState onState)
    : place_(std::move(place)), file_(place_.copy()), onState_(std::move(onState)) {
  std::error_code failure;
  std::filesystem::create_directories(file_.parent_path(), failure);
  if (failure) {
    throw Error("the folder '" + file_.parent_path().string() + "' for copies cannot be made: " +
                failure.message() + "; set XDG_CACHE_HOME to one that can");
  }
  // The content of the other machine is private to this user.
  std::filesystem::permissions(file_.parent_path(), std::filesystem::perms::owner_all, failure);
  mirror_ = openCopy(file_, place_.url());
  thread_ = std::thread([this] { work(); });
}

RemoteMirror::~RemoteMirror() {
  std::shared_ptr<RemoteClient> client;
  {
    std::unique_lock lock(mutex_);
    client = client_;
    // What was asked last, a note that was just typed, is still on its way.
    if (client) changed_.wait_for(lock, kFarewell, [this] { return underWay_ == 0; });
    isEnding_ = true;
  }
  changed_.notify_all();
  if (client) client->stop();
  thread_.join();
}

void RemoteMirror::tryNow() {
  {
    const std::lock_guard lock(mutex_);
    isAsked_ = true;
  }
  changed_.notify_all();
}

void RemoteMirror::follow(std::vector<std::int64_t> runs) {
  {
    const std::lock_guard lock(mutex_);
    followed_ = {runs.begin(), runs.end()};
    isFollowNew_ = true;
  }
  changed_.notify_all();
}

std::int64_t RemoteMirror::send(Json request, OnResponse onResponse) {
  std::shared_ptr<RemoteClient> client;
  {
    const std::lock_guard lock(mutex_);
    client = client_;
    if (client) ++underWay_;
  }
  if (!client) {
    onResponse({{"error",
               {{"kind", "link"},
                {"message", "there is no link to " + place_.host +
                                ", so nothing was asked; try again when it is back"}}}});
    return 0;
  }
  return client->send(std::move(request),
                      [this, onResponse = std::move(onResponse)](const Json& answer) {
                        onResponse(answer);
                        if (!isLastResponse(answer)) return;
                        {
                          const std::lock_guard lock(mutex_);
                          --underWay_;
                        }
                        changed_.notify_all();
                      });
}

bool RemoteMirror::isEnding() {
  const std::lock_guard lock(mutex_);
  return isEnding_;
}

void RemoteMirror::tell(const RemoteState& state) {
  if (onState_) onState_(state);
}

void RemoteMirror::work() {
  auto pause = kShortest;
  while (!isEnding()) {
    RemoteState state;
    tell(state);
    const auto begun = Clock::now();
    try {
      converse();
    } catch (const std::exception& error) {
      state.error = withRemedy(error.what(), place_);
    }
    std::shared_ptr<RemoteClient> client;
    {
      const std::lock_guard lock(mutex_);
      client = std::move(client_);
      client_.reset();
      next_ = {};
      watchError_.clear();
    }
    client.reset();
    if (isEnding()) return;
    // One that held for a while was a good one: it is looked for again soon.
    if (Clock::now() - begun > kLongest) pause = kShortest;
    state.link = Link::Lost;
    state.pause = pause;
    tell(state);
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, pause, [this] { return isEnding_ || isAsked_; });
    pause = isAsked_ ? kShortest : std::min<std::chrono::seconds>(pause * 2, kLongest);
    isAsked_ = false;
  }
}

void RemoteMirror::greet() {
  auto client = std::make_shared<RemoteClient>(place_.command());
  const auto answered = client->post({{"op", "hello"}, {"protocol", 1}}).share();
  const auto until = Clock::now() + kGreeting;
  while (answered.wait_for(50ms) != std::future_status::ready) {
    if (isEnding()) throw LinkError("the window is closed");
    if (Clock::now() > until)
      throw LinkError(place_.host + " did not answer within 30 s; see what `" + place_.login() +
                      "` says");
  }
  const Json hello = answered.get().back();
  const auto operations = hello.at("operations").get<std::vector<std::string>>();
  const Json& database = hello.at("database");
  const std::int64_t ours = store::schemaVersion();
  if (std::find(operations.begin(), operations.end(), "copy") == operations.end() ||
      database.value("schema", std::int64_t{0}) != ours) {
    throw Error(place_.host + " has Vitrine " + hello.value("vitrine", std::string("?")) +
                ", which keeps its databases in another form; install the same version on both");
  }
  mirror_->begin(database.at("uuid").get<std::string>(), database.at("change").get<std::int64_t>());
  logEnds_.clear();
  const std::lock_guard lock(mutex_);
  // From here on the destructor ends the client, which ends every wait for an answer.
  if (isEnding_) throw LinkError("the window is closed");
  client_ = std::move(client);
  isFollowNew_ = true;
}

void RemoteMirror::heard(const Json& answer) {
  {
    const std::lock_guard lock(mutex_);
    if (answer.contains("error") || answer.contains("ended")) {
      watchError_ = answer.contains("error")
                        ? answer.at("error").value("message", "the watch ended")
                        : "the watch ended";
    } else {
      for (const std::int64_t id : idsOf(answer, "runs")) next_.changed.insert(id);
      for (const std::int64_t id : idsOf(answer, "deleted")) next_.deleted.insert(id);
      if (const auto change = answer.find("change"); change != answer.end())
        next_.change = change->get<std::int64_t>();
    }
  }
  changed_.notify_all();
}

void RemoteMirror::converse() {
  greet();
  copyShared();
  client_->send({{"op", "watch"}, {"after", mirror_->change()}},
                [this](const Json& answer) { heard(answer); });
  auto looked = Clock::now();
  for (;;) {
    Batch batch;
    bool wantsLogs = false;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kLogPause, [this] {
        return isEnding_ || next_.change >= 0 || isFollowNew_ || !watchError_.empty();
      });
      if (isEnding_) return;
      if (next_.change >= 0) batch = std::exchange(next_, {});
      wantsLogs = std::exchange(isFollowNew_, false);
      isAsked_ = false;
      // What was heard before the end is taken: it need not be sent again.
      if (batch.change < 0 && !watchError_.empty()) throw LinkError(watchError_);
    }
    if (batch.change >= 0) takeBatch(batch);
    if (wantsLogs || Clock::now() - looked > kLogPause) {
      copyLogs();
      looked = Clock::now();
    }
  }
}

void RemoteMirror::takeBatch(const Batch& batch) {
  copyShared();
  // Newest first: users read those.
  std::vector<std::int64_t> runs(batch.changed.rbegin(), batch.changed.rend());
  std::erase_if(runs, [&](std::int64_t run) { return batch.deleted.count(run) > 0; });
  copyRuns(runs);
  mirror_->remove(std::vector<std::int64_t>(batch.deleted.begin(), batch.deleted.end()));
  mirror_->setChange(batch.change);
  tell({.link = Link::Linked});
}

void RemoteMirror::copyShared() {
  for (bool isAll = false; !isAll;) {
    auto parts = client_->ask({{"op", "copy"},
                               {"run", store::kSharedRows},
                               {"known", mirror_->known(store::kSharedRows)}},
                              kAnswer);
    isAll = parts.back().value("all", true);
    parts.pop_back();
    if (!parts.empty()) mirror_->take(store::kSharedRows, parts);
  }
}

void RemoteMirror::copyRuns(const std::vector<std::int64_t>& runs) {
  struct Transfer {
    std::int64_t run;
    std::future<std::vector<Json>> answers;
  };
  std::deque<Transfer> asked;
  const auto ask = [&](std::int64_t run) {
    asked.push_back(
        {run, client_->post({{"op", "copy"}, {"run", run}, {"known", mirror_->known(run)}})});
  };
  RemoteState state{.link = Link::Copying, .total = static_cast<std::int64_t>(runs.size())};
  std::size_t next = 0;
  auto told = Clock::now();
  while (next < runs.size() || !asked.empty()) {
    while (next < runs.size() && asked.size() < kAsked) ask(runs[next++]);
    Transfer first = std::move(asked.front());
    asked.pop_front();
    const auto until = Clock::now() + kAnswer;
    while (first.answers.wait_for(100ms) != std::future_status::ready) {
      if (isEnding()) throw LinkError("the window is closed");
      if (Clock::now() > until) throw LinkError(place_.host + " does not answer any more");
    }
    try {
      std::vector<Json> parts = first.answers.get();
      const bool isAll = parts.back().value("all", true);
      parts.pop_back();
      mirror_->take(first.run, parts);
      if (!isAll) {
        ask(first.run);
        continue;
      }
    } catch (const NotFoundError&) {  // deleted meanwhile: the next batch says so
    }
    ++state.done;
    if (state.total > 1 && Clock::now() - told > 200ms) {
      tell(state);
      told = Clock::now();
    }
  }
}

void RemoteMirror::copyLogs() {
  std::set<std::int64_t> runs;
  {
    const std::lock_guard lock(mutex_);
    runs = followed_;
  }
  for (const std::int64_t run : runs) {
    const std::filesystem::path file = mirror_->logFile(run);
    if (file.empty()) continue;
    const auto known = logEnds_.find(run);
    const std::int64_t from = known == logEnds_.end() ? -1 : known->second;
    Json answer;
    try {
      answer = client_->ask({{"op", "log"}, {"run", run}, {"from", from}}, kAnswer).back();
    } catch (const NotFoundError&) {  // deleted meanwhile
      continue;
    }
    const std::int64_t start = answer.at("from").get<std::int64_t>();
    const auto& bytes = answer.at("data").get_binary();
    if (start == from && bytes.empty()) continue;
    // Not where this copy ends: the log was begun again, or has grown by more than is sent.
    const auto mode = start == from ? std::ios::app : std::ios::trunc;
    std::ofstream stream(file, std::ios::binary | mode);
    stream.write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    if (!stream.flush())
      throw Error("the copy of a log, '" + file.string() + "', cannot be written");
    logEnds_[run] = answer.at("size").get<std::int64_t>();
  }
}

}  // namespace vitrine::remote
