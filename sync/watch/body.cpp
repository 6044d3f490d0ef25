#include "sync/watch/body.h"

#include <utility>

#include "platform/check.h"
#include "sync/wire/protobuf/envelope.h"

namespace holdfast::sync::watch {
namespace {

const Bytes& no_bytes() {
  static const Bytes none = std::make_shared<const std::string>();
  return none;
}

}  // namespace

std::string_view as_listed(std::string_view cached) {
  if (!wire::is_protobuf(cached)) return cached;
  const auto envelope = wire::open_envelope(cached);
  // It was parsed when it was received.
  return envelope ? envelope->raw : std::string_view();
}

Body::Body() : Body(no_bytes()) {}

Body::Body(Bytes bytes) : kept_(std::make_shared<Kept>()) {
  CHECK(bytes);
  kept_->size = bytes->size();
  kept_->listed_size = as_listed(*bytes).size();
  kept_->memory = std::move(bytes);
}

Result<Bytes> Body::load() const {
  if (kept_->memory) return kept_->memory;
  if (!kept_->place) return fail(Errc::gone, "the bytes of an object are gone");
  TRY(std::string bytes, kept_->place->read());
  if (bytes.size() != kept_->size || as_listed(bytes).size() != kept_->listed_size) {
    return fail(Errc::corrupt, "an object has " + std::to_string(bytes.size()) +
                                   " bytes in its place instead of " + std::to_string(kept_->size));
  }
  return std::make_shared<const std::string>(std::move(bytes));
}

void Body::move_to(std::unique_ptr<const BodyPlace> place) {
  CHECK(place);
  kept_->place = std::move(place);
  kept_->memory.reset();
}

void Body::take_back() {
  if (kept_->memory) return;
  auto bytes = load();
  if (bytes) kept_->memory = *std::move(bytes);
  kept_->place.reset();
}

bool Body::seems_equal(const Body& other) const {
  if (kept_ == other.kept_) return true;
  if (kept_->size != other.kept_->size) return false;
  if (!kept_->memory || !other.kept_->memory) return true;
  return *kept_->memory == *other.kept_->memory;
}

}  // namespace holdfast::sync::watch
