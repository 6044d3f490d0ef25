// HTTP messages as the rest of the project uses them: plain values, streams and tunnels.
//
// Threading: everything here belongs to the loop's thread.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/net/connection.h"
#include "platform/query.h"
#include "platform/result.h"

namespace holdfast::http {

namespace asio = boost::asio;

enum class Method : std::uint8_t { get, head, put, post, patch, remove, options, other };

[[nodiscard]] std::string_view to_string(Method method);   // "GET", "DELETE"; "OTHER" for other
[[nodiscard]] Method parse_method(std::string_view text);  // exact, upper case

struct Header {
  std::string name;
  std::string value;

  bool operator==(const Header&) const = default;
};

// An ordered list of headers. Names are compared without regard to case.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Header> headers) : headers_(headers) {}

  // The first value, or "" when there is none.
  [[nodiscard]] std::string_view get(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
  // Replaces every header of that name.
  void set(std::string_view name, std::string value);
  void add(std::string name, std::string value) {
    headers_.push_back({std::move(name), std::move(value)});
  }
  void remove(std::string_view name);

  [[nodiscard]] auto begin() const { return headers_.begin(); }
  [[nodiscard]] auto end() const { return headers_.end(); }
  [[nodiscard]] std::size_t size() const { return headers_.size(); }
  bool operator==(const Headers&) const = default;

 private:
  std::vector<Header> headers_;
};

// A body that is produced or consumed piece by piece, such as a watch.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  // The next piece; "" at the normal end of the stream.
  // Errors: unavailable (the connection broke), timeout, cancelled (by cancel()).
  virtual asio::awaitable<Result<std::string>> next() = 0;
  // Makes a pending and every later next() return `cancelled`. May be called more than once.
  virtual void cancel() = 0;
};

// A large body of known size that is produced piece by piece when it is sent, so that it is never
// whole in memory twice.
class BodyPieces {
 public:
  virtual ~BodyPieces() = default;
  // The size in bytes of all pieces together, also of those that were returned.
  [[nodiscard]] virtual std::size_t size() const = 0;
  // How much of that is in memory until it is sent.
  [[nodiscard]] virtual std::size_t memory_bytes() const { return size(); }
  // Whether it holds so little that its client may take its time, as for a stream.
  [[nodiscard]] bool is_light() const { return memory_bytes() < size() / 2; }
  // The next piece; "" after the last one. Errors: those of where the pieces come from; the body
  // ends there, incomplete.
  [[nodiscard]] virtual Result<std::string> next() = 0;
};

// pieces.next(); nothing, after a line in the log, if it fails.
[[nodiscard]] std::optional<std::string> next_piece(BodyPieces& pieces);

struct Request {
  Method method = Method::get;
  std::string target = {};  // origin-form as on the wire: "/api/v1/pods?watch=true"
  Headers headers = {};
  std::string body = {};         // at most ReaderLimits::body_bytes
  net::Peer peer = {};           // the client; set only by a server
  std::string method_text = {};  // the method's name if it is Method::other
  bool repeatable = false;       // sending it twice is harmless, whatever its method

  // The target before and after the first '?'.
  [[nodiscard]] std::string_view path() const;
  [[nodiscard]] std::string_view query() const;
};

// Whether a request may be sent again when it is unknown whether it took effect.
[[nodiscard]] constexpr bool may_repeat(Method method, bool repeatable) {
  return repeatable || (method != Method::post && method != Method::patch);
}

struct Response {
  int status = 200;
  Headers headers = {};
  std::string body = {};
  // If set, the body instead of `body`. A server sends it with its size.
  std::shared_ptr<BodyPieces> pieces = {};
  // If set, the body instead of `body`. A server sends it chunked as pieces arrive.
  std::shared_ptr<BodyStream> stream = {};
  // The compressed size so far of a body or stream that arrived compressed (see inflate.h).
  std::shared_ptr<std::size_t> wire_bytes = {};
  // Of an answer that was received: only the end of its connection ends the body, so that one which
  // was cut off cannot be told from a whole one.
  bool ends_with_connection = false;
  // With status 101: the connection after the response, for both directions.
  std::shared_ptr<net::Connection> tunnel = {};

  // The size in bytes of `body` or `pieces`.
  [[nodiscard]] std::size_t body_size() const { return pieces ? pieces->size() : body.size(); }
  // The part of it that is in memory, or will be.
  [[nodiscard]] std::size_t body_memory() const {
    return pieces ? pieces->memory_bytes() : body.size();
  }
  // Turns `pieces`, if set, into `body`. Errors: those of BodyPieces::next(); exhausted if the body
  // would have more than `bytes_max` bytes.
  [[nodiscard]] Status join_pieces(std::size_t bytes_max);
};

// Handles one request. It never throws: an error is a Response, too. The request outlives the
// coroutine.
using Handler = std::function<asio::awaitable<Response>(const Request&)>;

}  // namespace holdfast::http
