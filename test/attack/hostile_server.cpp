#include "test/attack/hostile_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <zlib.h>

#include <array>
#include <cstdlib>

namespace holdfast::attack {
namespace {

constexpr std::size_t request_bytes_max = 16 << 20;
constexpr std::size_t recorded_bytes_max = 1 << 20;

// The size of the first request in `bytes` with its body; 0 if its head is incomplete.
std::size_t request_size(const std::string& bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) return 0;
  const std::size_t at = bytes.find("Content-Length:");
  const bool has_body = at != std::string::npos && at < end;
  const std::size_t body = has_body ? std::strtoul(bytes.c_str() + at + 15, nullptr, 10) : 0;
  return end + 4 + body;
}

}  // namespace

std::string request_line(const std::string& head) { return head.substr(0, head.find(" HTTP/")); }

std::string answer_text(int status, const std::string& body, const std::string& more_headers) {
  return "HTTP/1.1 " + std::to_string(status) +
         " As It Likes\r\nContent-Type: application/json\r\nAudit-Id: 1\r\n" + more_headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

HostileServer::HostileServer(std::uint16_t lab_port) : lab_port_(lab_port) {
  listener_ = listen_on(port_);
  acceptor_ = std::thread([this] { accept_all(); });
}

HostileServer::~HostileServer() {
  stopping_ = true;
  (void)shutdown(listener_.fd(), SHUT_RDWR);
  acceptor_.join();
  hang_up();
  for (std::thread& one : threads_) one.join();
}

void HostileServer::play(Script script) {
  const std::lock_guard lock(mutex_);
  script_ = std::make_shared<const Script>(std::move(script));
}

void HostileServer::cut() {
  cut_ = true;
  hang_up();
}

void HostileServer::mend() { cut_ = false; }

void HostileServer::hang_up() {
  const std::lock_guard lock(mutex_);
  for (const int fd : open_) {
    if (fd >= 0) (void)shutdown(fd, SHUT_RDWR);
  }
}

std::vector<std::string> HostileServer::received() const {
  const std::lock_guard lock(mutex_);
  return received_;
}

void HostileServer::accept_all() {
  while (!stopping_) {
    Socket socket(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.open() || cut_) continue;
    const std::lock_guard lock(mutex_);
    const std::size_t number = open_.size();
    open_.push_back(socket.fd());
    received_.emplace_back();
    threads_.emplace_back(
        [this, number, held = std::move(socket)]() mutable { serve(number, std::move(held)); });
  }
}

bool HostileServer::read_request(std::size_t number, const Socket& socket, std::string& bytes) {
  for (;;) {
    const std::size_t size = request_size(bytes);
    if (size > 0 && bytes.size() >= size) return true;
    const std::string more = socket.receive(60s);
    if (more.empty() || bytes.size() > request_bytes_max || stopping_) return false;
    bytes += more;
    const std::lock_guard lock(mutex_);
    if (received_[number].size() < recorded_bytes_max) received_[number] += more;
  }
}

void HostileServer::serve(std::size_t number, Socket socket) {
  std::string bytes;
  Then then = Then::keep;
  while (then == Then::keep && read_request(number, socket, bytes)) {
    const std::string request = bytes.substr(0, request_size(bytes));
    bytes.erase(0, request.size());
    std::shared_ptr<const Script> script;
    {
      const std::lock_guard lock(mutex_);
      script = script_;
    }
    then = Then::pass_on;
    if (script && *script)
      then = (*script)(request.substr(0, request.find("\r\n\r\n") + 4), socket);
    if (then == Then::pass_on) pass_on(request, socket);
  }
  const std::lock_guard lock(mutex_);
  open_[number] = -1;
  socket.close();
}

// Asks the lab to close the connection after its answer, so that the end of the stream ends the
// answer.
void HostileServer::pass_on(const std::string& request, const Socket& back) const {
  const Socket lab = connect_to(lab_port_);
  if (!lab.open()) return;
  const std::size_t line = request.find("\r\n") + 2;
  (void)lab.send(request.substr(0, line) + "Connection: close\r\n" + request.substr(line));
  for (;;) {
    std::array<pollfd, 2> ends = {{{lab.fd(), POLLIN, 0}, {back.fd(), POLLIN, 0}}};
    if (poll(ends.data(), ends.size(), 60'000) <= 0 || stopping_) return;
    if (ends[1].revents != 0) return;
    const std::string bytes = lab.receive();
    if (bytes.empty() || back.send(bytes) != bytes.size()) return;
  }
}

std::string packed_list(std::string_view head, std::size_t spaces) {
  z_stream stream = {};
  (void)deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out;
  const auto add = [&stream, &out](std::string plain, int flush) {
    std::string room(64UL << 10, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(plain.data());
    stream.avail_in = static_cast<uInt>(plain.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(room.data());
      stream.avail_out = static_cast<uInt>(room.size());
      (void)deflate(&stream, flush);
      out.append(room, 0, room.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  };
  add(std::string(head), Z_NO_FLUSH);
  for (std::size_t done = 0; done < spaces; done += 1UL << 20) {
    add(std::string(1UL << 20, ' '), Z_NO_FLUSH);
  }
  add("]}", Z_FINISH);
  (void)deflateEnd(&stream);
  return out;
}

}  // namespace holdfast::attack
