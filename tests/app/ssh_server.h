// An sshd of its own on the loopback address, with keys of its own: nothing of the machine's is
// read or changed.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace vitrine::test {

class SshServer {
 public:
  /// Starts one that keeps everything in `folder`; see trouble().
  explicit SshServer(const std::filesystem::path& folder);
  ~SshServer();
  SshServer(const SshServer&) = delete;
  SshServer& operator=(const SshServer&) = delete;

  /// Why there is none here; "" when it listens.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] int port() const { return port_; }
  /// ssh with the key that this server takes.
  [[nodiscard]] std::string command() const;
  /// A script that runs `program` with these variables: a session does not have those of the test.
  [[nodiscard]] std::string program(const std::string& program,
                                    const std::map<std::string, std::string>& environment) const;
  /// Ends every session, as a cut cable would; new ones are taken.
  void dropSessions() const;
  [[nodiscard]] std::string log() const;

 private:
  std::filesystem::path folder_;
  std::string trouble_;
  int port_ = 0;
  int pid_ = -1;
};

}  // namespace vitrine::test
