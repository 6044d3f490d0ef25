// Reads the agent's JSON documents for holdfastctl: from the admin endpoint if the agent runs,
// otherwise from its database files.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::agent {

namespace asio = boost::asio;

class Source {
 public:
  virtual ~Source() = default;
  // The documents of the admin endpoint's /v1/status, /v1/objects, /v1/journal and /v1/ready
  // (agent/edge/admin/admin.h). A stopped agent's status has fewer fields. Errors: unavailable or
  // timeout (a running agent does not answer), those of the database.
  virtual asio::awaitable<Result<std::string>> status() = 0;
  virtual asio::awaitable<Result<std::string>> objects(std::string resource) = 0;
  virtual asio::awaitable<Result<std::string>> journal(std::string subject) = 0;
  // For a stopped agent also: denied (the cache is sealed and the key is missing or wrong).
  virtual asio::awaitable<Result<std::string>> ready() = 0;
};

// Opens the agent that uses `data_dir`. A running agent is found by the endpoints file that it
// wrote there. If none runs, its databases are opened, and the lock that is held meanwhile keeps an
// agent from starting. `cache_key_file` has the key of a sealed cache; "" for none. Errors:
// not_found (no agent has run there), denied (also if the directory or a file in it belongs to
// another user or is writable by others), invalid (the key), those of the disk.
[[nodiscard]] Result<std::unique_ptr<Source>> open_source(const std::string& data_dir,
                                                          const std::string& cache_key_file,
                                                          const Clock& clock);

}  // namespace holdfast::agent
