// The programs under attack, as child processes, with their peak memory.

#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "test/attack/wire.h"

namespace holdfast::attack {

// The folder of the programs: --bin, else HOLDFAST_BIN_DIR, else this build's bin/.
[[nodiscard]] std::string& bin_dir();
// Whether the programs were built with a sanitizer, which multiplies their memory use.
[[nodiscard]] bool sanitized();
// The file's content; empty if it cannot be read.
[[nodiscard]] std::string read_file(const std::string& file);
void write_file(const std::string& file, const std::string& text, mode_t mode = 0600);

struct Launch {
  std::vector<std::string> argv;   // a name without a slash is a program in bin_dir()
  std::string log;                 // the file for its output
  bool own_network = false;        // a new network namespace with only a loopback interface
  bool without_sock_diag = false;  // simulates a kernel without sock_diag
};

class Program {
 public:
  explicit Program(const Launch& launch);
  ~Program() { kill(); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool running();
  // Its exit code, or 128 plus the signal, once it has ended; nullopt after `limit`.
  [[nodiscard]] std::optional<int> wait(Duration limit);
  void signal(int number) const;
  void kill();
  // Its peak resident memory so far, in KiB.
  [[nodiscard]] long peak();
  // Its resident memory now, in KiB.
  [[nodiscard]] long resident() const;

 private:
  [[nodiscard]] bool has_begun() const;
  // The number after `name` in its /proc/PID/status; 0: there is none.
  [[nodiscard]] long status(const char* name) const;

  pid_t pid_ = -1;
  bool reaped_ = false;
  int code_ = 0;
  long peak_ = 0;
};

}  // namespace holdfast::attack
