// TLS as a stranger speaks it: believes whatever it is shown, and shows nothing itself.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "test/attack/wire.h"

namespace holdfast::attack {

class TlsSocket {
 public:
  // Connects to a port of an address; `protocol` is offered by ALPN when it is not empty.
  TlsSocket(std::uint16_t port, std::string_view protocol, const char* address = "127.0.0.1");
  ~TlsSocket();
  TlsSocket(TlsSocket&&) noexcept;

  // Whether it has shaken hands.
  [[nodiscard]] bool open() const;
  // What was agreed to speak: "h2"; "" without an agreement.
  [[nodiscard]] std::string protocol() const;
  // Sends all, or as much as is taken within two seconds; whether it was all.
  [[nodiscard]] bool send(std::string_view bytes) const;
  // What comes next; empty: the end, or nothing within the limit.
  [[nodiscard]] std::string receive(Duration limit) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One HTTP/1.1 request on a connection of its own.
[[nodiscard]] Answer ask_over_tls(std::uint16_t port, const Ask& question,
                                  const char* address = "127.0.0.1");

}  // namespace holdfast::attack
