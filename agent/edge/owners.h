// Which callers with credentials of their own the API server has accepted in this run: nothing is
// cached for anybody else. In memory only; of credentials a digest is kept.
//
// Only a bearer token can be accepted, in the one form that clients use: an API server answers any
// other scheme as anonymous, so that its 200 proves nothing, and other spellings of one token would
// be other owners. Who is not accepted is still passed on.
//
// Threading: the loop's thread only.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace holdfast::agent {

// The owner that a caller with this Authorization header is; see caller.h.
[[nodiscard]] std::string owner_of(std::string_view authorization);

class Owners {
 public:
  struct Limits {
    std::size_t accepted = 256;  // the least recently heard goes first
    std::size_t rejected = 256;
  };

  Owners() = default;
  explicit Owners(const Limits& limits) : limits_(limits) {}

  // An API server has answered a request for `target` with these credentials.
  void hear(std::string_view authorization, std::string_view target, int status);

  // Whether its last evidence was a 2xx.
  [[nodiscard]] bool accepted(const std::string& owner) const { return accepted_.contains(owner); }
  // Whether its last evidence was a 401.
  [[nodiscard]] bool rejected(const std::string& owner) const { return rejected_.contains(owner); }

 private:
  using Heard = std::map<std::string, std::uint64_t>;  // when, as a count of all that was heard
  void note(Heard& heard, const std::string& owner, std::size_t limit);

  Limits limits_;
  Heard accepted_;
  Heard rejected_;
  std::uint64_t count_ = 0;
};

}  // namespace holdfast::agent
