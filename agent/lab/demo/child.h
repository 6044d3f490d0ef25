// The programs that the demo starts, and the care that none of them, nor what they started in
// their turn, is left when it ends.
//
// Children whose parent dies come to us (PR_SET_CHILD_SUBREAPER), so that pods and shims of a
// killed agent are found and collected, too.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "platform/proc/identity.h"

namespace holdfast::agent::demo {

namespace asio = boost::asio;

class Children {
 public:
  // Programs are looked for in `bin`; each one's output goes to LOGS/NAME.log.
  Children(std::filesystem::path bin, std::filesystem::path logs);

  // Starts `program` under `name`; a second start of that name adds to its log.
  // Errors: as proc::spawn().
  [[nodiscard]] Result<proc::ProcessIdentity> start(const std::string& name,
                                                    const std::string& program,
                                                    std::vector<std::string> arguments);

  // The value of `field` in the newest line of NAME's log that holds `message`, written since its
  // last start; waits for it. Errors: timeout; unavailable when the program has ended.
  asio::awaitable<Result<std::string>> logged(std::string name, std::string message,
                                              std::string field, MonoTime deadline);

  // Kills at once.
  void kill(const std::string& name);
  // Asks it to end, and waits for that. Errors: timeout; it is left running then.
  asio::awaitable<Status> end(std::string name, MonoTime deadline);
  // Asks all to end, and kills those that still run at `deadline`; then ends whatever they left
  // behind and collects everything. What could not be ended is returned by pid.
  asio::awaitable<std::vector<int>> end_all(MonoTime deadline);

  // Of the programs that were not killed by kill(): those that ended with anything but 0, and how.
  [[nodiscard]] const std::vector<std::string>& bad_ends() const { return bad_ends_; }

  [[nodiscard]] int pid(const std::string& name) const;
  // Collects the dead.
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
  std::map<std::string, Child> children_;
  std::vector<std::string> bad_ends_;
};

// The value of `field` in the last line of `log` that holds `message`, or "".
[[nodiscard]] std::string find_logged(std::string_view log, std::string_view message,
                                      std::string_view field);

}  // namespace holdfast::agent::demo
