// Who performs what the rules want: the API server, or a fake in tests.

#pragma once

#include <boost/asio/awaitable.hpp>

#include "sync/lifecycle/actions.h"

namespace holdfast::agent {

namespace asio = boost::asio;

class ClusterWriter {
 public:
  virtual ~ClusterWriter() = default;
  // Performs one action and says how it went; never throws but when cancelled.
  virtual asio::awaitable<sync::lifecycle::Outcome> perform(sync::lifecycle::Action action) = 0;
};

}  // namespace holdfast::agent
