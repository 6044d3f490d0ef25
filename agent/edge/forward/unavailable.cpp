#include "agent/edge/forward/unavailable.h"

#include "agent/edge/forward/uplink.h"
#include "agent/edge/route/answer.h"

namespace holdfast::agent {
namespace {

// When a client should retry if the answer may be known soon.
constexpr int retry_after_s = 1;

}  // namespace

http::Response unavailable(const Uplink& uplink, std::string_view why) {
  if (uplink.link().allows_reads()) {
    return to_response(sync::wire::status::service_unavailable(std::string(why), retry_after_s));
  }
  return to_response(
      sync::wire::status::service_unavailable(uplink.describe_outage() + "; " + std::string(why)));
}

http::Response not_reached(const Uplink& uplink, const Error& error) {
  // An own limit was reached: the byte budget or the memory for answers. Both recover soon.
  const bool soon = uplink.link().allows_reads();
  if (error.code == Errc::exhausted) {
    return to_response(sync::wire::status::too_many_requests(error.what, soon ? retry_after_s : 0));
  }
  if (error.code == Errc::timeout) return to_response(sync::wire::status::timeout(error.what, 0));
  if (soon) {
    const bool answered = error.code == Errc::corrupt;
    const std::string_view what =
        answered ? "the cloud's answer cannot be used: " : "the cloud was not reached: ";
    return to_response(
        sync::wire::status::service_unavailable(std::string(what).append(error.what)));
  }
  return unavailable(uplink, error.what);
}

}  // namespace holdfast::agent
