#include "sync/watch/list_body.h"

#include <utility>

#include "platform/check.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/protobuf/list.h"

namespace holdfast::sync::watch {
namespace {

wire::ListHead head_of(const wire::ScopeKind& kind, const ListPart& part) {
  return {.kind = kind.kind + "List",
          .api_version = kind.api_version,
          .resource_version = std::to_string(part.version),
          .continue_token = part.continue_token,
          .remaining_item_count = part.remaining_item_count};
}

}  // namespace

ListBody::ListBody(const wire::ScopeKind& kind, const ListPart& part, std::vector<Body> items)
    : encoding_(kind.encoding), items_(std::move(items)) {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    size_ += before(i).size() + items_[i].listed_size();
    memory_bytes_ += items_[i].memory_bytes();
  }
  const wire::ListHead head = head_of(kind, part);
  if (encoding_ == wire::Encoding::json) {
    prefix_ = wire::list_prefix(head);
    suffix_ = std::string(wire::list_suffix) + "\n";
  } else {
    prefix_ = wire::protobuf_list_prefix(head, size_);
    suffix_ = wire::protobuf_list_suffix;
  }
  size_ += prefix_.size() + suffix_.size();
}

std::string ListBody::before(std::size_t index) const {
  if (encoding_ == wire::Encoding::json) return index == 0 ? "" : ",";
  return wire::protobuf_item_prefix(items_[index].listed_size());
}

Result<std::string> ListBody::next(std::size_t piece_bytes) {
  CHECK(piece_bytes > 0);
  std::string piece = std::exchange(prefix_, {});
  if (piece_bytes >= size_) piece.reserve(size_);
  for (; next_ < items_.size() && piece.size() < piece_bytes; ++next_) {
    TRY(const Bytes cached, items_[next_].load());
    piece.append(before(next_)).append(as_listed(*cached));
    items_[next_] = Body();
  }
  if (next_ == items_.size()) piece += std::exchange(suffix_, {});
  return piece;
}

}  // namespace holdfast::sync::watch
