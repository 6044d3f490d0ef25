// Performs the actions of the lifecycle rules: ApiWriter on an API server, a fake in tests.

#pragma once

#include <boost/asio/awaitable.hpp>

#include "sync/lifecycle/actions.h"

namespace holdfast::agent {

namespace asio = boost::asio;

class ClusterWriter {
 public:
  virtual ~ClusterWriter() = default;
  // Performs one action and returns its outcome. Throws only when cancelled.
  virtual asio::awaitable<sync::lifecycle::Outcome> perform(sync::lifecycle::Action action) = 0;
};

}  // namespace holdfast::agent
