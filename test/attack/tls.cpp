#include "test/attack/tls.h"

#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>

namespace holdfast::attack {
namespace {

void set_timeout(int fd, int which, Duration limit) {
  const timeval time{limit.count() / 1000, (limit.count() % 1000) * 1000};
  (void)setsockopt(fd, SOL_SOCKET, which, &time, sizeof time);
}

}  // namespace

struct TlsSocket::State {
  Socket socket;
  SSL_CTX* context = nullptr;
  SSL* ssl = nullptr;
  bool open = false;

  ~State() {
    SSL_free(ssl);
    SSL_CTX_free(context);
  }
};

TlsSocket::TlsSocket(std::uint16_t port, std::string_view protocol, const char* address)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.socket = connect_to(port, address);
  if (!state.socket.open()) return;
  set_timeout(state.socket.fd(), SO_RCVTIMEO, 5s);
  set_timeout(state.socket.fd(), SO_SNDTIMEO, 2s);
  state.context = SSL_CTX_new(TLS_client_method());
  state.ssl = SSL_new(state.context);
  if (!protocol.empty()) {
    const std::string offer = static_cast<char>(protocol.size()) + std::string(protocol);
    (void)SSL_set_alpn_protos(state.ssl, reinterpret_cast<const unsigned char*>(offer.data()),
                              static_cast<unsigned>(offer.size()));
  }
  (void)SSL_set_fd(state.ssl, state.socket.fd());
  state.open = SSL_connect(state.ssl) == 1;
}

TlsSocket::~TlsSocket() = default;
TlsSocket::TlsSocket(TlsSocket&&) noexcept = default;

bool TlsSocket::open() const { return state_->open; }

std::string TlsSocket::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  if (state_->open) SSL_get0_alpn_selected(state_->ssl, &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

bool TlsSocket::send(std::string_view bytes) const {
  std::size_t sent = 0;
  if (!state_->open || bytes.empty()) return state_->open;
  return SSL_write_ex(state_->ssl, bytes.data(), bytes.size(), &sent) == 1;
}

std::string TlsSocket::receive(Duration limit) const {
  if (!state_->open) return {};
  set_timeout(state_->socket.fd(), SO_RCVTIMEO, limit);
  std::string bytes(16 * 1024, '\0');
  std::size_t count = 0;
  if (SSL_read_ex(state_->ssl, bytes.data(), bytes.size(), &count) != 1) count = 0;
  bytes.resize(count);
  return bytes;
}

Answer ask_over_tls(std::uint16_t port, const Ask& question, const char* address) {
  const TlsSocket socket(port, "http/1.1", address);
  Ask asked = question;
  if (asked.host.empty()) asked.host = std::string(address) + ":" + std::to_string(port);
  if (!socket.send(text_of(asked, port))) return {};
  std::string came;
  while (!parse_answer(came).whole) {
    const std::string more = socket.receive(question.limit);
    if (more.empty()) break;
    came += more;
  }
  return parse_answer(came);
}

}  // namespace holdfast::attack
