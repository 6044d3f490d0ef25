// How a call reports failure: Result<T>, a value or an Error.
//
// Expected failures (the link is down, the row is missing, the peer sent nonsense) travel as Error.
// Broken invariants do not: they CHECK, in every build, and stop the process. We throw nothing; an
// exception from a library that reaches the root of a session or task ends that one and is logged
// as a bug.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <tl/expected.hpp>
#include <utility>

namespace holdfast {

// The whole vocabulary. Callers branch on these and on nothing else; add a word only when some
// caller must behave differently because of it.
enum class Errc : std::uint8_t {
  not_found,    // the thing named does not exist
  conflict,     // it changed since it was read, or exists already; read again and retry
  gone,         // the history asked for was compacted; list again
  denied,       // credentials missing, expired or insufficient
  invalid,      // the input can never succeed as it stands
  timeout,      // the deadline passed; the effect is unknown
  unavailable,  // could not reach or be served; nothing happened
  exhausted,    // a limit of ours was hit; shed or retry later
  corrupt,      // stored or received bytes fail their own checks
  cancelled,    // we were asked to stop
};

// The word itself, as logs and the tools print it: "not_found".
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

// Passes an error up unchanged.
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

// Passes an error up, saying what we were doing.
[[nodiscard]] inline tl::unexpected<Error> fail(std::string doing, Error error) {
  error.what = std::move(doing) + ": " + error.what;
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace holdfast

// The only two control-flow macros in the project. `TRY(auto row, table.find(key));` declares `row`
// or returns the error; CO_TRY does the same inside a coroutine. They are statements, not GNU
// statement-expressions, because GCC does not support the latter in coroutines. A Status is passed
// on with `if (auto done = f(); !done) return fail(done.error());`.
#define HOLDFAST_CAT_(a, b) a##b
#define HOLDFAST_CAT(a, b) HOLDFAST_CAT_(a, b)
#define HOLDFAST_TRY_(ret, tmp, decl, ...)                                   \
  auto tmp = (__VA_ARGS__);                                                  \
  if (!tmp) ret ::tl::unexpected<::holdfast::Error>(std::move(tmp).error()); \
  decl = *std::move(tmp)
#define TRY(decl, ...) HOLDFAST_TRY_(return, HOLDFAST_CAT(try_, __LINE__), decl, __VA_ARGS__)
#define CO_TRY(decl, ...) HOLDFAST_TRY_(co_return, HOLDFAST_CAT(try_, __LINE__), decl, __VA_ARGS__)
