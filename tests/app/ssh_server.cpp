#include "tests/app/ssh_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/support/child.h"
#include "tests/support/wait_until.h"

namespace vitrine::test {

namespace fs = std::filesystem;

namespace {

/// $VITRINE_SSHD, as `./vitrine test` sets it, or that of the machine.
fs::path sshdProgram() {
  const char* given = std::getenv("VITRINE_SSHD");
  const fs::path program = given != nullptr ? given : "/usr/sbin/sshd";
  return fs::exists(program) ? program : fs::path();
}

int freePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(socket, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ntohs(address.sin_port);
}

bool listens(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool answers =
      ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(socket);
  return answers;
}

std::string contentOf(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void makeKey(const fs::path& file) {
  const std::string command = "ssh-keygen -q -t ed25519 -N '' -f '" + file.string() + "'";
  static_cast<void>(!std::system(command.c_str()));
}

}  // namespace

SshServer::SshServer(const fs::path& folder) : folder_(folder) {
  const fs::path sshd = sshdProgram();
  if (sshd.empty()) {
    trouble_ = "there is no sshd: ./vitrine test fetches one, or install openssh-server";
    return;
  }
  fs::create_directories(folder_);
  makeKey(folder_ / "host");
  makeKey(folder_ / "user");
  fs::copy_file(folder_ / "user.pub", folder_ / "allowed");
  port_ = freePort();
  std::ofstream(folder_ / "sshd_config")
      << "ListenAddress 127.0.0.1\nPort " << port_ << "\nHostKey " << (folder_ / "host").string()
      << "\nAuthorizedKeysFile " << (folder_ / "allowed").string()
      << "\nUsePAM no\nStrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication "
         "no\nKbdInteractiveAuthentication no\nPidFile none\nLogLevel VERBOSE\n";
  std::ofstream(folder_ / "ssh_config")
      << "IdentityFile " << (folder_ / "user").string()
      << "\nIdentitiesOnly yes\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n"
         "LogLevel ERROR\n";
  std::string start =
      "exec '" + sshd.string() + "' -r -D -e -f '" + (folder_ / "sshd_config").string() + "'";
  if (::geteuid() == 0) {
    // Of root it wants a folder and a user of its own: they are there for it alone.
    std::ofstream(folder_ / "passwd") << "root:x:0:0:root:" << ::getpwuid(0)->pw_dir << ":/bin/sh\n"
                                      << "sshd:x:65534:65534::/run/sshd:/usr/sbin/nologin\n";
    std::ofstream(folder_ / "shadow") << "root:*:19000:0:99999:7:::\nsshd:*:19000:0:99999:7:::\n";
    start = "mount -t tmpfs none /run && mkdir /run/sshd && mount --bind '" +
            (folder_ / "passwd").string() + "' /etc/passwd && mount --bind '" +
            (folder_ / "shadow").string() + "' /etc/shadow && " + start;
  }
  pid_ = forkChild();
  if (pid_ == 0) {
    ::setsid();
    if (std::freopen((folder_ / "log").c_str(), "w", stderr) == nullptr) ::_exit(126);
    ::dup2(2, 1);
    if (::geteuid() == 0) {
      ::execlp("unshare", "unshare", "-m", "sh", "-c", start.c_str(), nullptr);
    } else {
      ::execlp("sh", "sh", "-c", start.c_str(), nullptr);
    }
    ::_exit(127);
  }
  const auto hasEnded = [&] {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
    return pid_ < 0;
  };
  if (waitUntil([&] { return listens(port_) || hasEnded(); }) && pid_ > 0) return;
  trouble_ = "sshd does not start here: " + log();
}

SshServer::~SshServer() {
  if (pid_ <= 0) return;
  dropSessions();
  signalProcess(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

std::string SshServer::command() const { return "ssh -F " + (folder_ / "ssh_config").string(); }

std::string SshServer::program(const std::string& program,
                               const std::map<std::string, std::string>& environment) const {
  const fs::path script = folder_ / "vitrine";
  {
    std::ofstream stream(script);
    stream << "#!/bin/sh\n";
    for (const auto& [name, value] : environment)
      stream << "export " << name << "='" << value << "'\n";
    stream << "exec '" << program << "' \"$@\"\n";
  }
  ::chmod(script.c_str(), 0755);
  return script.string();
}

void SshServer::dropSessions() const {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = contentOf(entry.path() / "stat");
    const auto after = stat.rfind(')');
    if (after == std::string::npos || after + 4 > stat.size()) continue;
    if (std::atoi(stat.c_str() + after + 4) == pid_)
      signalProcess(static_cast<pid_t>(std::atoi(name.c_str())), SIGKILL);
  }
}

std::string SshServer::log() const { return contentOf(folder_ / "log"); }

}  // namespace vitrine::test
