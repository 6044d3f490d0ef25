// The programs that are attacked, as processes of their own, and what they used at most.

#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "test/attack/wire.h"

namespace holdfast::attack {

// Where the programs are: --bin, else HOLDFAST_BIN_DIR, else this build's own.
[[nodiscard]] std::string& bin_dir();
// Whether they were built with a sanitizer, which multiplies their memory.
[[nodiscard]] bool sanitized();
// The file's bytes; empty: it cannot be read.
[[nodiscard]] std::string read_file(const std::string& file);
void write_file(const std::string& file, const std::string& text, mode_t mode = 0600);

struct Launch {
  std::vector<std::string> argv;   // a name without a slash is one in bin_dir()
  std::string log;                 // what it prints
  bool own_network = false;        // with nothing but loopback
  bool without_sock_diag = false;  // as on a kernel without it
};

class Program {
 public:
  explicit Program(const Launch& launch);
  ~Program() { kill(); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool running();
  // Its exit code (or 128 and the signal) once it has ended.
  [[nodiscard]] std::optional<int> wait(Duration limit);
  void signal(int number) const;
  void kill();
  // The peak of its resident memory so far, in KiB.
  [[nodiscard]] long peak();

 private:
  [[nodiscard]] bool has_begun() const;

  pid_t pid_ = -1;
  bool reaped_ = false;
  int code_ = 0;
  long peak_ = 0;
};

}  // namespace holdfast::attack
