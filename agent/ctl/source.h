// Where holdfastctl gets its answers: from the living agent's admin endpoint, or from a dead one's
// files. Both give the same JSON documents.

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
  // As the admin endpoint's /v1/status, /v1/objects, /v1/journal and /v1/ready
  // (agent/edge/admin.h).
  virtual asio::awaitable<Result<std::string>> status() = 0;
  virtual asio::awaitable<Result<std::string>> objects(std::string resource) = 0;
  virtual asio::awaitable<Result<std::string>> journal(std::string subject) = 0;
  // Errors of a dead agent's files: also denied (sealed, and the key is missing or another one).
  virtual asio::awaitable<Result<std::string>> ready() = 0;
};

// The agent that runs on `data_dir`, found by the endpoints it wrote there; or, when none runs, the
// files themselves, kept from a starting agent while they are read.
// The files may be sealed: `cache_key_file` has the key; "" for none.
// Errors: not_found (no agent ever ran there), denied (also when the directory or a file in it is
// another user's, or others may write to it), invalid (the key), the disk's.
[[nodiscard]] Result<std::unique_ptr<Source>> open_source(const std::string& data_dir,
                                                          const std::string& cache_key_file,
                                                          const Clock& clock);

}  // namespace holdfast::agent
