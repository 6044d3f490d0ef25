// The body of a list that is served from the cache: it shares the objects' bodies with the cache
// while it is sent.

#pragma once

#include <string>
#include <vector>

#include "platform/http/message.h"
#include "sync/watch/list_body.h"

namespace holdfast::agent {

class CachedList final : public http::BodyPieces {
 public:
  // The items must have the encoding of `kind`.
  CachedList(sync::wire::ScopeKind kind, sync::watch::ListPart part,
             std::vector<sync::watch::Body> items)
      : kind_(std::move(kind)), part_(std::move(part)), body_(kind_, part_, std::move(items)) {}

  [[nodiscard]] std::size_t size() const override { return body_.size(); }
  [[nodiscard]] std::size_t memory_bytes() const override { return body_.memory_bytes(); }
  [[nodiscard]] Result<std::string> next() override { return body_.next(); }

  // What it was made of; to be called before next().
  [[nodiscard]] const sync::wire::ScopeKind& kind() const { return kind_; }
  [[nodiscard]] const sync::watch::ListPart& part() const { return part_; }
  [[nodiscard]] const std::vector<sync::watch::Body>& items() const { return body_.items(); }

 private:
  sync::wire::ScopeKind kind_;
  sync::watch::ListPart part_;
  sync::watch::ListBody body_;
};

}  // namespace holdfast::agent
