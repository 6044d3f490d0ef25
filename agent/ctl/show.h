// What holdfastctl prints, made from the agent's documents. Pure: text in, text out.

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::agent {

// Each takes the document of the same name. Errors: invalid (not such a document).
[[nodiscard]] Result<std::string> show_status(std::string_view status);
[[nodiscard]] Result<std::string> show_objects(std::string_view objects);
[[nodiscard]] Result<std::string> show_journal(std::string_view journal);

// Why the pod NAMESPACE/NAME is as it is: what is cached of it, what was decided about it, and what
// the link has to do with it.
struct PodDocuments {
  std::string_view status;
  std::string_view pods;
  std::string_view journal;  // of the pod alone
};
[[nodiscard]] Result<std::string> explain_pod(std::string_view namespace_name,
                                              std::string_view name, const PodDocuments& documents);

}  // namespace holdfast::agent
