// What holdfastctl prints, made from the agent's documents. Pure: text in, text out. What is in the
// documents comes from the API server and its users, and is escaped (platform/terminal.h).

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::agent {

// Each takes the document of the same name. Errors: invalid (not such a document).
[[nodiscard]] Result<std::string> show_status(std::string_view status);
[[nodiscard]] Result<std::string> show_objects(std::string_view objects);
[[nodiscard]] Result<std::string> show_journal(std::string_view journal);

// Which pods would come back after a reboot without the cloud.
[[nodiscard]] Result<std::string> show_ready(std::string_view ready);
// 0: all pods would come back; 1: some would not; 2: the document does not tell.
[[nodiscard]] int exit_code_of_ready(std::string_view ready);

// The document itself, with nothing in it that a terminal obeys. Errors: invalid (no JSON).
[[nodiscard]] Result<std::string> show_json(std::string_view document);

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
