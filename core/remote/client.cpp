#include "core/remote/client.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/program.h"
#include "core/base/text.h"

extern char** environ;

namespace vitrine::remote {

namespace {

constexpr std::size_t kMostMessageBytes = 4096;
constexpr auto kPatienceAtEnd = std::chrono::milliseconds(500);

Json linkResponse(std::int64_t id, const std::string& why) {
  return {{"id", id}, {"error", {{"kind", "link"}, {"message", why}}}};
}

/// Writing to a process that has ended is an error of write(), not the end of this one. A handler
/// of nothing: an ignored signal stays ignored in every program started from here.
void surviveBrokenPipes() {
  struct sigaction now {};
  if (::sigaction(SIGPIPE, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  struct sigaction act {};
  act.sa_handler = [](int) {};
  act.sa_flags = SA_RESTART;
  ::sigaction(SIGPIPE, &act, nullptr);
}

}  // namespace

LinkError::LinkError(const std::string& message) : Error(message) {}
LinkError::~LinkError() = default;

bool isLastResponse(const Json& answer) {
  const auto more = answer.find("more");
  return answer.contains("error") || more == answer.end() || !more->is_boolean() ||
         !more->get<bool>();
}

void throwAnswered(const Json& answer) {
  const auto error = answer.find("error");
  if (error == answer.end()) return;
  // The other side may send anything: a field of another type counts as missing.
  const auto text = [&](const char* key, const char* otherwise) {
    const auto found = error->is_object() ? error->find(key) : error->end();
    return found != error->end() && found->is_string() ? found->get<std::string>()
                                                       : std::string(otherwise);
  };
  const std::string kind = text("kind", "failed");
  const std::string message = text("message", "no reason was given");
  if (kind == "link") throw LinkError(message);
  if (kind == "not_found") throw NotFoundError(message);
  if (kind == "refused") throw RefusedError(message);
  if (kind == "config") throw ConfigError(message);
  throw Error(message);
}

RemoteClient::RemoteClient(const std::vector<std::string>& command) {
  surviveBrokenPipes();
  std::array<int, 2> in{-1, -1}, out{-1, -1}, err{-1, -1};
  const auto closeAll = [&] {
    for (const int one : {in[0], in[1], out[0], out[1], err[0], err[1]}) {
      if (one >= 0) ::close(one);
    }
  };
  // Not pipes: ssh may leave a process behind that holds their far ends (ControlPersist), and a
  // read of a socket can be ended from here.
  const auto connect = [](std::array<int, 2>& ends) {
    return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0;
  };
  if (!connect(in) || !connect(out) || !connect(err)) {
    const std::string why = std::strerror(errno);
    closeAll();
    throw LinkError("no pipe can be made: " + why);
  }
  // What a terminal sends to this program is not meant for the link.
  const StartedProgram started = startProgram(
      {.arguments = command, .in = in[0], .out = out[1], .err = err[1], .isOwnSession = true});
  pid_ = started.pid;
  if (started.error != 0) {
    closeAll();
    throw LinkError("'" + command.front() + "' cannot be started: " + std::strerror(started.error) +
                    (started.error == ENOENT ? "; install it (Debian: openssh-client)" : ""));
  }
  ::close(in[0]);
  ::close(out[1]);
  ::close(err[1]);
  in_ = in[1];
  out_ = out[0];
  messages_ = err[0];
  writer_ = std::make_unique<FrameWriter>(in_);
  reading_ = std::thread([this] { readMessages(); });
  answers_ = std::thread([this] { readAnswers(); });
}

RemoteClient::~RemoteClient() {
  // Asked politely first: it ends when its input does.
  ::close(in_);
  const auto until = std::chrono::steady_clock::now() + kPatienceAtEnd;
  bool isGone = false;
  while (!isGone && std::chrono::steady_clock::now() < until) {
    isGone = ::waitpid(pid_, nullptr, WNOHANG) != 0;
    if (!isGone) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (!isGone) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::shutdown(out_, SHUT_RDWR);
  ::shutdown(messages_, SHUT_RDWR);
  answers_.join();
  reading_.join();
  ::close(out_);
  ::close(messages_);
}

void RemoteClient::readMessages() {
  std::array<char, 1024> bytes{};
  for (;;) {
    const ssize_t got = ::read(messages_, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    const std::lock_guard lock(mutex_);
    lastMessages_.append(bytes.data(), static_cast<std::size_t>(got));
    if (lastMessages_.size() > kMostMessageBytes)
      lastMessages_.erase(0, lastMessages_.size() - kMostMessageBytes);
  }
  areMessagesOver_.store(true);
}

void RemoteClient::readAnswers() {
  std::string why;
  bool hasHeard = false;
  try {
    while (const auto frame = readFrame(out_)) {
      Json answer = frameMap(*frame);
      hasHeard = true;
      const auto id = answer.find("id");
      if (id == answer.end() || !id->is_number_integer()) {
        throwAnswered(answer);  // of the whole conversation
        continue;
      }
      OnResponse act;
      {
        const std::lock_guard lock(mutex_);
        const auto found = open_.find(id->get<std::int64_t>());
        if (found == open_.end()) continue;
        act = found->second;
        if (isLastResponse(answer)) open_.erase(found);
      }
      act(std::move(answer));
    }
  } catch (const BrokenStream& error) {
    why = hasHeard ? error.what()
                   : "what came first is not an answer of Vitrine; let the shell there print "
                     "nothing when it starts (.bashrc)";
  } catch (const std::exception& error) {
    why = error.what();
  }
  end(why);
}

void RemoteClient::end(const std::string& why) {
  std::map<std::int64_t, OnResponse> open;
  std::string ending;
  // What it said last may still be on its way; a process that ssh left behind may keep it open.
  for (int i = 0; i < 50 && !areMessagesOver_.load(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  {
    const std::lock_guard lock(mutex_);
    hasEnded_ = true;
    std::string output = cleanUtf8(lastLine(lastMessages_));
    if (output.starts_with("error: ")) output.erase(0, 7);  // as `vitrine` begins a sentence
    ending_ = !why.empty()      ? why + (output.empty() ? "" : " (" + output + ")")
              : !output.empty() ? output
                                : "the connection ended without a word";
    ending = ending_;
    open.swap(open_);
  }
  for (const auto& [id, onResponse] : open) onResponse(linkResponse(id, ending));
}

std::int64_t RemoteClient::send(Json request, OnResponse onResponse) {
  std::int64_t id = 0;
  std::string why;
  {
    const std::lock_guard lock(mutex_);
    id = ++next_;
    if (hasEnded_) {
      why = ending_;
    } else {
      open_[id] = onResponse;
    }
  }
  request["id"] = id;
  if (!why.empty()) {
    onResponse(linkResponse(id, why));
    return id;
  }
  // When the other side reads no more, the end of the answers reaches all waiting callers.
  try {
    writer_->write(request);
  } catch (const LargeFrame& error) {
    {
      const std::lock_guard lock(mutex_);
      if (open_.erase(id) == 0) return id;  // the link has ended meanwhile, and that was reported
    }
    onResponse({{"id", id}, {"error", {{"kind", "refused"}, {"message", error.what()}}}});
  }
  return id;
}

std::future<std::vector<Json>> RemoteClient::post(Json request) {
  struct Waiting {
    std::promise<std::vector<Json>> promise;
    std::vector<Json> answers;
  };
  auto waiting = std::make_shared<Waiting>();
  std::future<std::vector<Json>> answers = waiting->promise.get_future();
  send(std::move(request), [waiting](const Json& answer) {
    try {
      throwAnswered(answer);
      waiting->answers.push_back(answer);
      if (isLastResponse(answer)) waiting->promise.set_value(std::move(waiting->answers));
    } catch (...) {
      waiting->promise.set_exception(std::current_exception());
    }
  });
  return answers;
}

std::vector<Json> RemoteClient::ask(Json request, std::chrono::milliseconds within) {
  auto answers = post(std::move(request));
  if (answers.wait_for(within) != std::future_status::ready) {
    throw LinkError(
        "no answer within " +
        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(within).count()) + " s");
  }
  return answers.get();
}

void RemoteClient::stop() {
  ::kill(pid_, SIGTERM);  // it is waited for in the destructor only: the id is still its own
  ::shutdown(out_, SHUT_RDWR);
}

}  // namespace vitrine::remote
