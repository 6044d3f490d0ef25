// A TLS client for attacks: it accepts any certificate and presents none.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "test/attack/wire.h"

namespace holdfast::attack {

class TlsSocket {
 public:
  // Connects to a port of an address. Offers `protocol` by ALPN if it is not empty.
  TlsSocket(std::uint16_t port, std::string_view protocol, const char* address = "127.0.0.1");
  ~TlsSocket();
  TlsSocket(TlsSocket&&) noexcept;

  // Whether the handshake succeeded.
  [[nodiscard]] bool open() const;
  // The protocol agreed by ALPN, for example "h2"; "" if none was.
  [[nodiscard]] std::string protocol() const;
  // Sends all bytes, or as many as the peer takes within two seconds. Returns whether it sent all.
  [[nodiscard]] bool send(std::string_view bytes) const;
  // The next bytes; empty at the end of the stream or after `limit`.
  [[nodiscard]] std::string receive(Duration limit) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One HTTP/1.1 request on a new connection.
[[nodiscard]] Answer ask_over_tls(std::uint16_t port, const Ask& question,
                                  const char* address = "127.0.0.1");

}  // namespace holdfast::attack
