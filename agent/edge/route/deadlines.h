// How long requests of local clients wait for the API server.

#pragma once

#include "platform/time.h"

namespace holdfast::agent {

struct Deadlines {
  Duration read;   // of a read, before the cache answers it (--read-deadline)
  Duration write;  // of a write that only the API server can accept (--write-deadline)
};

}  // namespace holdfast::agent
