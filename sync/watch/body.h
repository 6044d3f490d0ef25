// The bytes of one cached object: in memory, or in a place from which they are read when they are
// needed, so that a list may be larger than the memory for it.
//
// Copies of a Body are the same body, wherever it is moved: the cache, the snapshot of a list and
// an event share it. Single-threaded.

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "platform/result.h"

namespace holdfast::sync::watch {

using Bytes = std::shared_ptr<const std::string>;

// Where the bytes of a body are that are not in memory.
class BodyPlace {
 public:
  virtual ~BodyPlace() = default;
  // Errors: gone (other bytes are there by now, or none), those of the place.
  [[nodiscard]] virtual Result<std::string> read() const = 0;
};

class Body {
 public:
  Body();  // without bytes
  // In memory. Implicit, because that is what every object is at first.
  Body(Bytes bytes);  // NOLINT(google-explicit-constructor)

  // The size of the bytes, wherever they are.
  [[nodiscard]] std::size_t size() const { return kept_->size; }
  // The size of the object as a list contains it, without the envelope of protobuf.
  [[nodiscard]] std::size_t listed_size() const { return kept_->listed_size; }
  [[nodiscard]] bool is_in_memory() const { return kept_->memory != nullptr; }
  // The part of size() that is in memory.
  [[nodiscard]] std::size_t memory_bytes() const { return is_in_memory() ? kept_->size : 0; }

  // The bytes, read from their place if they are not in memory; they do not stay there. Errors:
  // those of BodyPlace::read(); corrupt (bytes of another size were read).
  [[nodiscard]] Result<Bytes> load() const;

  // From now on the bytes are at that place only.
  void move_to(std::unique_ptr<const BodyPlace> place);
  // Takes the bytes back into memory, before others replace them in their place. If they cannot be
  // read, they are lost.
  void take_back();

  // Whether both are the same body.
  [[nodiscard]] bool operator==(const Body& other) const { return kept_ == other.kept_; }
  // Whether both have the same bytes, as far as that is known without reading any: of bodies that
  // are not in memory, the sizes are compared.
  [[nodiscard]] bool seems_equal(const Body& other) const;
  // The number of copies.
  [[nodiscard]] long use_count() const { return kept_.use_count(); }

 private:
  struct Kept {
    Bytes memory;  // null: at `place`
    std::size_t size = 0;
    std::size_t listed_size = 0;
    std::unique_ptr<const BodyPlace> place = {};
  };
  std::shared_ptr<Kept> kept_;  // never null
};

// An object as a list of its encoding contains it. `cached` has the form of cached_form.h.
[[nodiscard]] std::string_view as_listed(std::string_view cached);

}  // namespace holdfast::sync::watch
