#include "agent/edge/forward/owners.h"

#include <algorithm>

#include "platform/tls/digest.h"

namespace holdfast::agent {
namespace {

bool is_plain_bearer(std::string_view authorization) {
  constexpr std::string_view scheme = "Bearer ";
  if (!authorization.starts_with(scheme)) return false;
  const std::string_view token = authorization.substr(scheme.size());
  return !token.empty() && token.find_first_of(" \t,") == std::string_view::npos;
}

// Whether a 2xx answer to `target` proves that the credentials were accepted. Health and version do
// not: some load balancers answer them for everybody.
bool proves(std::string_view target) {
  return target.starts_with("/api/") || target.starts_with("/apis/");
}

}  // namespace

std::string owner_of(std::string_view authorization) {
  return "token:" + tls::sha256_hex(authorization).substr(0, 32);
}

void Owners::record(std::string_view authorization, std::string_view target, int status) {
  if (!is_plain_bearer(authorization) || !proves(target)) return;
  const std::string owner = owner_of(authorization);
  if (status >= 200 && status < 300) {
    rejected_.erase(owner);
    note(accepted_, owner, limits_.accepted);
  } else if (status == 401) {
    accepted_.erase(owner);
    note(rejected_, owner, limits_.rejected);
  }
}

void Owners::note(LastAnswers& heard, const std::string& owner, std::size_t limit) {
  heard[owner] = ++count_;
  if (heard.size() <= limit) return;
  const auto oldest = std::min_element(
      heard.begin(), heard.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  heard.erase(oldest);
}

}  // namespace holdfast::agent
