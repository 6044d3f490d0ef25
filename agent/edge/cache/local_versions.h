// The resourceVersions that this agent assigns to writes that it accepts itself. They are larger
// than all of the API server's, and grow over restarts of the agent.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/edge/cache/cache_file.h"
#include "sync/objects/version.h"

namespace holdfast::agent {

class LocalVersions {
 public:
  // `file` must outlive this.
  explicit LocalVersions(CacheFile& file) : file_(file) {}

  // A new version, larger than all before. Errors: the disk's.
  [[nodiscard]] Result<sync::objects::Version> next();
  // Whether this agent may have assigned that local version. No if the disk cannot tell.
  [[nodiscard]] bool has_assigned(sync::objects::Version local);

 private:
  CacheFile& file_;
};

}  // namespace holdfast::agent
