// Selects objects of a list or watch by labels and fields.

#pragma once

#include <string_view>

#include "agent/lab/apiserver/registry.h"
#include "agent/lab/rules/answer.h"
#include "sync/objects/selector.h"
#include "sync/printing/resources.h"

namespace holdfast::agent::lab {

class Selection {
 public:
  // Refuses invalid selectors with upstream's messages.
  [[nodiscard]] static Answer<Selection> parse(const sync::printing::Resource& resource,
                                               std::string_view labels, std::string_view fields);

  // False for a null pointer.
  [[nodiscard]] bool matches(const StoredPtr& stored) const;
  [[nodiscard]] bool everything() const {
    return labels_.matches_everything() && fields_.matches_everything();
  }

 private:
  const sync::printing::Resource* resource_ = nullptr;  // null for a custom resource
  sync::objects::LabelQuery labels_;
  sync::objects::FieldQuery fields_;
};

// The type of event that a watch with `selection` gets for `change`: "ADDED", "MODIFIED",
// "DELETED", or "" for none. `seen` is set to the event's object.
[[nodiscard]] std::string_view event_for(const Selection& selection, const Change& change,
                                         StoredPtr& seen);

}  // namespace holdfast::agent::lab
