// Finds the VolumeAttachments of a node in a list of all VolumeAttachments.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"

namespace holdfast::agent {

struct Attachment {
  std::string name;
  std::string uid;
  bool operator==(const Attachment&) const = default;
};

// Returns those of `node` that are not being deleted yet. `list` is a VolumeAttachmentList as JSON.
// Errors: invalid.
[[nodiscard]] Result<std::vector<Attachment>> attachments_of(std::string_view list,
                                                             std::string_view node);

}  // namespace holdfast::agent
