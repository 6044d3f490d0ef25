#include "agent/client/byte_pool.h"

#include "platform/check.h"

namespace holdfast::agent {

Status BytePool::resize(Requester requester, std::size_t before, std::size_t after) {
  std::size_t& part = requester == Requester::own ? own_ : foreign_;
  CHECK(part >= before);
  const std::size_t part_after = part - before + after;
  const std::size_t all_after = bytes() - before + after;
  if (after > before) {
    const std::size_t part_most = requester == Requester::own ? limits_.own : limits_.foreign;
    const std::size_t most = part_after > part_most ? part_most : limits_.bytes;
    if (part_after > most || all_after > limits_.bytes) {
      return fail(Errc::exhausted, what_ + " have more than " + std::to_string(most) + " bytes");
    }
  }
  part = part_after;
  return {};
}

Status ByteReservation::set(std::size_t bytes) {
  if (auto resized = pool_.resize(requester_, bytes_, bytes); !resized) return resized;
  bytes_ = bytes;
  return {};
}

}  // namespace holdfast::agent
