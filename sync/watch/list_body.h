// The body of a list answer in the form that an API server writes. It shares the objects' bodies
// with the cache and is produced piece by piece, so that a large list is never held twice, and
// bodies that are not in memory are read only when it is their turn.
//
// Threading: it may be used by one thread at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/objects/version.h"
#include "sync/watch/watch_cache.h"
#include "sync/wire/encoding.h"

namespace holdfast::sync::watch {

// The list metadata of one page.
struct ListPart {
  objects::Version version = 0;
  std::string continue_token = {};  // "" on the last page
  std::optional<std::int64_t> remaining_item_count = {};
};

class ListBody {
 public:
  // The items must have the encoding of `kind`.
  ListBody(const wire::ScopeKind& kind, const ListPart& part, std::vector<Body> items);

  // The size in bytes of the whole body.
  [[nodiscard]] std::size_t size() const { return size_; }
  // The part of it that was in memory at first.
  [[nodiscard]] std::size_t memory_bytes() const { return memory_bytes_; }
  // The items; those that next() has returned are empty.
  [[nodiscard]] const std::vector<Body>& items() const { return items_; }
  // The next piece: whole items, of `piece_bytes` together or a little more; "" after the last
  // piece. The items that it contains are released. `piece_bytes` must be above 0. Errors: those of
  // Body::load(); the list is of no use then.
  [[nodiscard]] Result<std::string> next(std::size_t piece_bytes = 64UL * 1024);
  // All that next() has not returned yet.
  [[nodiscard]] Result<std::string> rest() { return next(size_); }

 private:
  // What comes before the item: a comma, or a field's number and size.
  [[nodiscard]] std::string before(std::size_t index) const;

  wire::Encoding encoding_;
  std::vector<Body> items_;
  std::size_t next_ = 0;  // of items_
  std::string prefix_;    // before the first item; "" once returned
  std::string suffix_;    // after the last item; "" once returned
  std::size_t size_ = 0;
  std::size_t memory_bytes_ = 0;
};

}  // namespace holdfast::sync::watch
