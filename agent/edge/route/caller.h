// The caller of a local listener, once it has been identified.

#pragma once

#include <string>

#include "sync/watch/cache_limits.h"

namespace holdfast::agent {

using sync::watch::node_owner;

struct Caller {
  std::string owner;    // whose rows it may read: node_owner, "token:DIGEST", "certificate:NAME"
  std::string agent;    // the first word of its user agent, in lower case: "kubelet"
  bool cached = false;  // its reads are answered from the cache, and fill it
  bool by_certificate = false;  // proved by a client certificate alone: nothing is forwarded for it
};

}  // namespace holdfast::agent
