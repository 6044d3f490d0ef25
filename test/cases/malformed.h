// The error of a case that cannot be run as it is written: which value is wrong, and why.
//
// The functions that read cases throw it, because a case has many fields and any of them may be
// wrong. It identifies the value by its address in the parsed file, so that readers need not carry
// paths with them; path_of() finds the path when the error is reported.

#pragma once

#include <boost/json/value.hpp>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cases {

namespace json = boost::json;

class Malformed : public std::exception {
 public:
  Malformed(const json::value& at, std::string what) : at_(&at), what_(std::move(what)) {}
  // About the member `name` of `object`, which may be missing.
  Malformed(const json::object& object, std::string_view name, std::string what)
      : at_(&object), member_(name), what_(std::move(what)) {}

  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }

  // The path of the wrong value in `root` ("cases[3].steps[0].at"); "" if it is not part of `root`.
  [[nodiscard]] std::string path(const json::value& root) const;
  // Whether the wrong value is `part`, or one inside of it.
  [[nodiscard]] bool is_in(const json::value& part) const;
  // The same error as one about `part`.
  [[nodiscard]] Malformed about(const json::value& part) const;

 private:
  const void* at_;
  std::string member_;
  std::string what_;
};

// The path in `root` of the value, object or array at this address; nullopt if `root` does not
// contain it.
[[nodiscard]] std::optional<std::string> path_of(const json::value& root, const void* at);

// Performs `action`, which reads `part` of a case. Its errors about copies, such as the objects of
// the simulated API server, and errors without a place are reported as errors of `part`.
template <class Action>
void reading(const json::value& part, Action action) {
  try {
    action();
  } catch (const Malformed& error) {
    if (error.is_in(part)) throw;
    throw error.about(part);
  } catch (const std::exception& error) {
    throw Malformed(part, error.what());
  }
}

}  // namespace holdfast::cases
