// Remembers which lists were too large to be read whole, so that a client that asks again, or for
// the next page, does not have them read and thrown away each time.
//
// What was too large is believed for a minute: objects may be deleted. Pure and single-threaded.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "platform/query.h"
#include "platform/time.h"

namespace holdfast::sync::objects {

struct LargeListLimits {
  std::size_t count = 64;  // lists; the one that was noted first is forgotten
  Duration lifetime = std::chrono::minutes(1);
};

// A list as one caller sees it: another one may see fewer objects, or none, and must not learn how
// many there are.
struct CallersList {
  std::string caller;
  std::string path;
  std::string selectors;

  bool operator==(const CallersList&) const = default;
};

[[nodiscard]] CallersList callers_list(std::string_view caller, std::string_view path,
                                       const Query& query);

class LargeLists {
 public:
  explicit LargeLists(const LargeListLimits& limits = {}) : limits_(limits) {}

  // The answer to `asked` was too large. Ignored for a page of one object.
  void note(MonoTime now, const CallersList& list, const Query& asked);
  // What to ask for: `asked`, or the largest page of smaller_page() that is not known to be too
  // large. Nothing if all are.
  [[nodiscard]] std::optional<Query> to_ask(MonoTime now, const CallersList& list,
                                            const Query& asked) const;

 private:
  struct Known {
    CallersList list;
    std::int64_t too_many = 0;  // the smallest number of objects that was too large
    MonoTime until{};
  };

  LargeListLimits limits_;
  std::deque<Known> known_;  // the oldest first
};

}  // namespace holdfast::sync::objects
