// Certificates for tests: a certificate authority, created on the spot, and the certificates that
// it signs.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "platform/tls/context.h"

namespace holdfast::test {

struct Subject {
  std::string common_name = {};
  std::vector<std::string> organizations = {};
  std::vector<std::string> names = {};  // subjectAltName: "DNS:localhost", "IP:127.0.0.1"
  // Relative to now; long enough for the slowest machine.
  std::chrono::seconds begins = -std::chrono::hours(1);
  std::chrono::seconds ends = std::chrono::hours(24 * 30);
};

class Authority {
 public:
  // `ends` is relative to now.
  explicit Authority(const std::string& common_name,
                     std::chrono::seconds ends = std::chrono::hours(24 * 365));
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  [[nodiscard]] std::string certificate_pem() const;
  // A leaf certificate with a new key.
  [[nodiscard]] tls::Identity sign(const Subject& subject) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::test
