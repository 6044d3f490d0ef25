// The audit log: one line for each answered request, with the caller, the request and the status.
// Lines are audit.k8s.io/v1 Events of level Metadata and stage ResponseComplete, as kube-apiserver
// writes them with --audit-log-path. A watch is logged when it is opened.
//
// Threading: the loop's thread only.

#pragma once

#include <filesystem>
#include <string>

#include "agent/lab/rules/identity.h"
#include "platform/http/message.h"
#include "platform/time.h"
#include "sync/objects/request_info.h"

namespace holdfast::agent::lab {

// The parts of a request that could be parsed.
struct Audited {
  sync::objects::RequestInfo info = {};
  Identity caller = {};
  std::string impersonated = {};  // the user as whom the caller acts; "": himself
};

// The line, without the newline.
[[nodiscard]] std::string audit_line(WallTime received, const http::Request& request,
                                     const Audited& audited, int status);

class AuditLog {
 public:
  // Appends to `file`. Errors: as fs::append().
  [[nodiscard]] static Result<AuditLog> open(std::filesystem::path file);

  // A line that cannot be written is dropped, with a warning in the program's log.
  void record(WallTime received, const http::Request& request, const Audited& audited,
              int status) const;

 private:
  explicit AuditLog(std::filesystem::path file) : file_(std::move(file)) {}

  std::filesystem::path file_;
};

}  // namespace holdfast::agent::lab
