// How much the cache may hold, for all owners together and for one of them.
//
// An owner is an identity that fetched what is cached: the node, or a caller with credentials of
// its own (a foreign owner). The node comes first: foreign owners share at most half of everything,
// and what they hold is dropped, the least recently used first, when the node needs room.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "store/answers.h"

namespace holdfast::agent {

inline constexpr std::string_view node_owner = "node";

// Of one foreign owner.
struct OwnerLimits {
  std::size_t scopes = 64;
  std::size_t bytes = 4UL << 20;  // of its scopes, in memory
};

struct CacheLimits {
  std::size_t scopes = 500;  // of all owners
  OwnerLimits foreign = {};
  // Of all scopes in memory: objects, events for watches that come back, and what each object costs
  // besides (sync::object_overhead).
  std::size_t memory_bytes = 24UL << 20;
  // Of cache.db and its log together.
  std::int64_t disk_bytes = 128LL << 20;
  std::size_t scope_bytes = 8UL << 20;  // of one scope in memory
  std::size_t scope_objects = 20'000;
  store::AnswerLimits answers = {.first_owner = std::string(node_owner)};  // documents, tokens
};

// What foreign owners may have of `all`.
[[nodiscard]] constexpr std::size_t foreign_share(std::size_t all) { return all / 2; }

}  // namespace holdfast::agent
