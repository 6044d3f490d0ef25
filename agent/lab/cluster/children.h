// The processes that the lab starts. At its end it kills and reaps all of them, including the
// processes that they have started. If the lab crashes, they end, too, but not those that they have
// started.
// The lab is a subreaper (PR_SET_CHILD_SUBREAPER): processes whose parent dies become its
// children, so that pods and shims of a killed agent are found and reaped, too.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "platform/proc/identity.h"
#include "platform/time.h"

namespace holdfast::agent::lab::cluster {

namespace asio = boost::asio;

class Children {
 public:
  // Programs are started from the directory `bin`. Their output goes to LOGS/NAME.log. `clock` is
  // borrowed.
  Children(std::filesystem::path bin, std::filesystem::path logs, const Clock& clock);

  // Starts `program` under `name`. A second start of the same name appends to its log. Errors: as
  // proc::spawn().
  [[nodiscard]] Result<proc::ProcessIdentity> start(const std::string& name,
                                                    const std::string& program,
                                                    std::vector<std::string> arguments);

  // Waits for a line with `message` in NAME's log since its last start, and returns the value of
  // `field` in the latest such line. Errors: timeout; unavailable if the program has ended.
  asio::awaitable<Result<std::string>> logged(std::string name, std::string message,
                                              std::string field, MonoTime deadline);

  // Sends SIGKILL.
  void kill(const std::string& name);
  // Sends another signal, for example SIGSTOP.
  void signal(const std::string& name, int number);
  // Whether the latest process of this name still runs.
  [[nodiscard]] bool is_alive(const std::string& name) const;
  // Sends SIGTERM and waits for the end. Errors: timeout; the program then still runs.
  asio::awaitable<Status> end(std::string name, MonoTime deadline);
  // Sends SIGTERM to all programs, then kills and reaps everything that still runs at `deadline`,
  // their descendants included. Returns the pids of processes that could not be ended.
  asio::awaitable<std::vector<int>> end_all(MonoTime deadline);

  // The programs that ended with a signal or an exit code other than 0, except by kill(), and how.
  [[nodiscard]] const std::vector<std::string>& abnormal_exits() const { return abnormal_exits_; }

  [[nodiscard]] int pid(const std::string& name) const;
  // Reaps processes that have ended.
  void reap();

 private:
  struct Child {
    proc::ProcessIdentity identity;
    std::uintmax_t log_begin = 0;
    bool killed = false;
  };
  [[nodiscard]] bool any_alive() const;

  std::filesystem::path bin_;
  std::filesystem::path logs_;
  const Clock& clock_;
  std::map<std::string, Child> children_;
  std::vector<std::string> abnormal_exits_;
};

// The value of `field` in the last line of `log` that contains `message` and `field`; "" if there
// is none.
[[nodiscard]] std::string find_logged(std::string_view log, std::string_view message,
                                      std::string_view field);

}  // namespace holdfast::agent::lab::cluster
