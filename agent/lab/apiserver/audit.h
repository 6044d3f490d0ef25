// A line for each request that was answered: who asked for what, and what came of it.
//
// Lines are audit.k8s.io/v1 Events of level Metadata, stage ResponseComplete (of a watch: when it
// was opened), as kube-apiserver writes them with --audit-log-path.
//
// Threading: the loop's thread only.

#pragma once

#include <filesystem>
#include <string>

#include "platform/http/message.h"
#include "platform/time.h"
#include "sync/api/request_info.h"
#include "sync/apiserver/identity.h"

namespace holdfast::agent::lab {

// A request as far as it was understood.
struct Audited {
  sync::RequestInfo info = {};
  sync::Identity who = {};
};

// The line, without its end.
[[nodiscard]] std::string audit_line(WallTime received, const http::Request& request,
                                     const Audited& audited, int status);

class AuditLog {
 public:
  // Adds to `file`. Errors: as fs::append().
  [[nodiscard]] static Result<AuditLog> open(std::filesystem::path file);

  // A line that cannot be written is lost, and said so in the log.
  void record(WallTime received, const http::Request& request, const Audited& audited,
              int status) const;

 private:
  explicit AuditLog(std::filesystem::path file) : file_(std::move(file)) {}

  std::filesystem::path file_;
};

}  // namespace holdfast::agent::lab
