// Says once which right is missing when the API server refuses a request, and which of the files in
// cross/k8s grants it.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <string>
#include <string_view>

#include "platform/time.h"

namespace holdfast::agent {

// The files in cross/k8s that grant a right, joined by " or "; "" if none does. `resource` has its
// subresource: "pods/status".
[[nodiscard]] std::string files_granting(std::string_view verb, std::string_view group,
                                         std::string_view resource);

class MissingRights {
 public:
  // `clock` is borrowed.
  explicit MissingRights(const Clock& clock) : clock_(clock) {}

  // A request was refused because the user lacks the right. `method` is in upper case; `target` is
  // the path with its query. Logs a warning for each right, again after an hour.
  void refused(std::string_view method, std::string_view target);

  // The number of warnings so far.
  [[nodiscard]] std::size_t warnings() const { return warnings_; }

 private:
  const Clock& clock_;
  std::map<std::string, MonoTime> told_;  // by right; only rights that this program asks for
  std::size_t warnings_ = 0;
};

}  // namespace holdfast::agent
