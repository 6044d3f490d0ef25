// Formats the agent's JSON documents as the text that holdfastctl prints. Pure: text in, text out.
// The documents contain text from the API server and its users, so all of it is escaped for the
// terminal (platform/terminal.h).

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::agent {

// Each takes the document of the same name from a Source. Errors: invalid (not such a document).
[[nodiscard]] Result<std::string> show_status(std::string_view status);
[[nodiscard]] Result<std::string> show_objects(std::string_view objects);
[[nodiscard]] Result<std::string> show_journal(std::string_view journal);

// A table of the pods that would come back after a reboot without the cloud. Errors: invalid;
// unavailable if the agent could not find out.
[[nodiscard]] Result<std::string> show_ready(std::string_view ready);
// 0: all pods would come back; 1: some would not; 2: unknown.
[[nodiscard]] int exit_code_of_ready(std::string_view ready);

// The document as JSON, with terminal control characters escaped. Errors: invalid (not JSON).
[[nodiscard]] Result<std::string> show_json(std::string_view document);

// Explains the state of the pod NAMESPACE/NAME: what is cached of it, the state of the link, and
// the journal entries about it.
struct PodDocuments {
  std::string_view status;
  std::string_view pods;
  std::string_view journal;  // with the entries of this pod only
};
[[nodiscard]] Result<std::string> explain_pod(std::string_view namespace_name,
                                              std::string_view name, const PodDocuments& documents);

}  // namespace holdfast::agent
