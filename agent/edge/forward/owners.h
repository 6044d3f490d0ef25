// Which callers with their own credentials the API server has accepted in this run. Nothing is
// cached for others. Kept in memory only, as digests of the credentials.
//
// Only a bearer token in its usual spelling can be accepted. An API server treats any other scheme
// as anonymous, so its 200 proves nothing, and other spellings of the same token would count as
// other owners. Requests of callers that are not accepted are still forwarded.
//
// Threading: the loop's thread only.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace holdfast::agent {

// The owner name of a caller with this Authorization header; see caller.h.
[[nodiscard]] std::string owner_of(std::string_view authorization);

class Owners {
 public:
  struct Limits {
    std::size_t accepted = 256;  // above it, the least recently used is forgotten
    std::size_t rejected = 256;
  };

  Owners() = default;
  explicit Owners(const Limits& limits) : limits_(limits) {}

  // An API server answered a request for `target` with these credentials.
  void record(std::string_view authorization, std::string_view target, int status);

  // Whether the last answer that proved anything was a 2xx.
  [[nodiscard]] bool accepted(const std::string& owner) const { return accepted_.contains(owner); }
  // Whether it was a 401.
  [[nodiscard]] bool rejected(const std::string& owner) const { return rejected_.contains(owner); }

 private:
  using LastAnswers =
      std::map<std::string, std::uint64_t>;  // value: sequence number of the last answer
  void note(LastAnswers& heard, const std::string& owner, std::size_t limit);

  Limits limits_;
  LastAnswers accepted_;
  LastAnswers rejected_;
  std::uint64_t count_ = 0;
};

}  // namespace holdfast::agent
