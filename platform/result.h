// Result<T>: a value or an Error. This is how every call reports failure.
//
// Expected failures (the link is down, the row is missing, the peer sent invalid data) are returned
// as Error. A broken invariant is not: it fails a CHECK, in every build, and stops the process. We
// throw only to end a cancelled task (loop/cancellation.h). An exception that a library throws ends
// only the session or task that it reaches, and is logged as a bug.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <tl/expected.hpp>
#include <utility>

namespace holdfast {

// All error codes. Callers branch on these and on nothing else. Add one only if some caller must
// behave differently because of it.
enum class Errc : std::uint8_t {
  not_found,    // the thing named does not exist
  conflict,     // it changed since it was read, or exists already; read again and retry
  gone,         // the history asked for was compacted; list again
  denied,       // credentials missing, expired or insufficient
  invalid,      // the input can never succeed as it stands
  timeout,      // the deadline passed; whether the call took effect is unknown
  unavailable,  // the peer or resource could not be reached or refused; nothing happened
  exhausted,    // a limit was reached; drop the work or retry later
  corrupt,      // stored or received bytes fail their integrity or format checks
  cancelled,    // what the call uses was closed or stopped meanwhile; see loop/cancellation.h
};

// The code's name as logs and tools print it, for example "not_found".
[[nodiscard]] constexpr std::string_view to_string(Errc code) {
  switch (code) {
    case Errc::not_found:
      return "not_found";
    case Errc::conflict:
      return "conflict";
    case Errc::gone:
      return "gone";
    case Errc::denied:
      return "denied";
    case Errc::invalid:
      return "invalid";
    case Errc::timeout:
      return "timeout";
    case Errc::unavailable:
      return "unavailable";
    case Errc::exhausted:
      return "exhausted";
    case Errc::corrupt:
      return "corrupt";
    case Errc::cancelled:
      return "cancelled";
  }
  return "unknown";
}

struct Error {
  Errc code;
  std::string what;         // outermost first: "renew lease: PUT /apis/...: connection refused"
  std::error_code cause{};  // errno, Asio or SQLite code, for logs only

  bool operator==(const Error&) const = default;
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(Errc code, std::string what,
                                                std::error_code cause = {}) {
  return tl::unexpected<Error>(Error{code, std::move(what), cause});
}

// Returns an error of a callee unchanged.
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

// Returns an error of a callee and prefixes its text with what the caller was doing.
[[nodiscard]] inline tl::unexpected<Error> fail(std::string doing, Error error) {
  error.what = std::move(doing) + ": " + error.what;
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace holdfast

// The only two control-flow macros in the project. `TRY(auto row, table.find(key));` declares `row`
// or returns the error; CO_TRY does the same in a coroutine. They are statements, not GNU
// statement-expressions, because GCC does not support the latter in coroutines. Return the error of
// a Status with `if (auto done = f(); !done) return fail(done.error());`.
#define HOLDFAST_CAT_(a, b) a##b
#define HOLDFAST_CAT(a, b) HOLDFAST_CAT_(a, b)
#define HOLDFAST_TRY_(ret, tmp, decl, ...)                                   \
  auto tmp = (__VA_ARGS__);                                                  \
  if (!tmp) ret ::tl::unexpected<::holdfast::Error>(std::move(tmp).error()); \
  decl = *std::move(tmp)
#define TRY(decl, ...) HOLDFAST_TRY_(return, HOLDFAST_CAT(try_, __LINE__), decl, __VA_ARGS__)
#define CO_TRY(decl, ...) HOLDFAST_TRY_(co_return, HOLDFAST_CAT(try_, __LINE__), decl, __VA_ARGS__)
