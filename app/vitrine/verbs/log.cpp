// vitrine log: a run of a foreign training script, line by line on standard input.
#include "core/base/log.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/log/log_session.h"
#include "app/vitrine/run/signals.h"
#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace vitrine::app {

namespace {

constexpr std::size_t kBlock = 1 << 18;          // bytes of one read
constexpr std::size_t kLongestLine = 512 << 20;  // bytes
constexpr std::size_t kFlushEvery = 32 << 20;    // bytes: what waits in memory stays small
constexpr int kLookMs = 100;                     // between two reads of the run's requests

/// Bytes of standard input as lines.
class LineReader {
 public:
  /// Waits up to `kLookMs` for bytes. \returns  false at the end of the stream
  bool fill() {
    pollfd in{STDIN_FILENO, POLLIN, 0};
    if (::poll(&in, 1, kLookMs) <= 0) return true;  // nothing yet, or a signal
    buffer_.erase(0, next_);
    next_ = 0;
    const std::size_t had = buffer_.size();
    buffer_.resize(had + kBlock);
    const ssize_t got = ::read(STDIN_FILENO, buffer_.data() + had, kBlock);
    const int problem = errno;
    buffer_.resize(had + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got < 0 && problem != EINTR && problem != EAGAIN)
      throw Error(std::string("standard input cannot be read: ") + std::strerror(problem));
    taken_ += static_cast<std::size_t>(got > 0 ? got : 0);
    return got != 0;
  }

  /// \returns  false when no whole line is there; `line` holds until the next fill()
  bool next(std::string_view& line) {
    const std::size_t end = buffer_.find('\n', std::max(next_, looked_));
    if (end == std::string::npos) {
      looked_ = buffer_.size() - next_;
      if (looked_ > kLongestLine)
        throw BadLine("it is longer than " + formatCount(kLongestLine) + " bytes");
      return false;
    }
    line = std::string_view(buffer_).substr(next_, end - next_);
    next_ = end + 1;
    looked_ = 0;
    ++number_;
    return true;
  }

  /// Of the line that next() gave last, from 1.
  [[nodiscard]] std::int64_t number() const noexcept { return number_; }
  /// Bytes behind the last line break.
  [[nodiscard]] std::size_t rest() const noexcept { return buffer_.size() - next_; }
  /// Bytes since the last call.
  [[nodiscard]] std::size_t taken() noexcept { return std::exchange(taken_, 0); }

 private:
  std::string buffer_;
  std::size_t next_ = 0;    ///< first byte of the next line
  std::size_t looked_ = 0;  ///< bytes of the unfinished line that have no line break
  std::size_t taken_ = 0;
  std::int64_t number_ = 0;
};

/// A line of JSON on standard output. A reader that is gone misses it: no reason to end.
void answer(const Json& line) {
  const std::string text = dumpJson(line) + "\n";
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

int refused(std::optional<LogSession>& session, std::int64_t number, const std::string& why,
            ExitCode code) {
  const std::string sentence = "line " + std::to_string(number) + ": " + why;
  answer({{"type", "error"}, {"line", number}, {"message", why}});
  if (session) session->end(store::RunState::Failed, sentence);
  log::error(sentence);
  return static_cast<int>(code);
}

}  // namespace

int logVerb(const Arguments& arguments) {
  CommandLine line("log", {"vitrine log --db lab.sqlite < run.jsonl",
                           "vitrine log   # started by resources/python/vitrine.py"});
  line.app().description(
      line.app().get_description() +
      "\n\nStandard input is one JSON object per line: a run, then its metrics, images, tables and "
      "texts, then how it finished. Answers and requests to stop come back on standard output. "
      "resources/docs/python.md describes both.");
  line.parse(arguments);
  // A reader that is gone is an error of write(). A terminal that is gone takes the script with it,
  // and the end of the stream says so.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  const SignalScope signals;
  std::optional<store::RunStore> store;  // a stream without a line leaves no database
  std::optional<LogSession> session;
  LineReader reader;
  std::size_t unflushed = 0;
  for (bool isOpen = true; isOpen;) {
    try {
      isOpen = reader.fill();
      for (std::string_view text; reader.next(text);) {
        if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        if (!session) session.emplace(store.emplace(openStore(line, Missing::Create)), answer);
        session->take(text);
      }
    } catch (const BadLine& error) {
      const bool isLong = reader.rest() > kLongestLine;
      return refused(session, reader.number() + (isLong ? 1 : 0), error.what(), ExitCode::BadUsage);
    } catch (const Error& error) {
      if (!session) throw;
      return refused(session, reader.number(), error.what(), error.code());
    }
    if (!session) continue;
    unflushed += reader.taken();
    if (unflushed > kFlushEvery) {
      session->flush();
      unflushed = 0;
    }
    session->tellRequests();
  }
  if (!session) {
    log::error("standard input ended before its first line; nothing was stored");
    return static_cast<int>(ExitCode::BadUsage);
  }
  session->end(store::RunState::Interrupted,
               reader.rest() > 0
                   ? "its script ended in the middle of a line: killed, perhaps out of memory"
                   : "its script ended without a report: killed, perhaps out of memory, or it did "
                     "not call finish()");
  return static_cast<int>(exitCodeOf(session->state()));
}

}  // namespace vitrine::app
