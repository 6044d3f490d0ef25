// An API server without a socket, on a clock that stands still until it is told to go.

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <memory>
#include <string>
#include <vector>

#include "agent/lab/apiserver/apiserver.h"
#include "test/support/scratch_dir.h"

namespace holdfast::test {

class ManualClock final : public Clock {
 public:
  explicit ManualClock(WallTime start) : wall_(start) {}
  [[nodiscard]] MonoTime mono() const override { return mono_; }
  [[nodiscard]] WallTime wall() const override { return wall_; }
  void advance(Duration by) {
    mono_ += by;
    wall_ += by;
  }

 private:
  MonoTime mono_ = MonoTime(std::chrono::hours(1));
  WallTime wall_;
};

struct Asked {
  std::string method = "GET";
  std::string target;
  std::string body = {};
  std::string content_type = {};
  std::string accept = {};
  std::string token = {};
  std::string accept_encoding = {};
  net::Peer peer = {};  // who the client's certificate says that it is
};

struct Told {
  int status = 0;
  http::Headers headers;
  std::string body;                          // of a stream: all of it
  std::shared_ptr<http::BodyStream> stream;  // not read yet

  // The body; for a stream its lines, as an array.
  [[nodiscard]] boost::json::value json() const;
  // The body must be an object.
  [[nodiscard]] boost::json::object object() const;
};

// Without the controllers, so that nothing moves by itself.
[[nodiscard]] agent::lab::ApiServerOptions quiet();

class Rig {
 public:
  // 2026-11-21T01:23:14Z: when the fixture was recorded.
  static WallTime start();

  explicit Rig(agent::lab::ApiServerOptions options = {});

  // Asks and, unless the answer is a stream, has all of it.
  Told ask(const Asked& asked);
  // Reads what a stream has now, without waiting.
  std::vector<std::string> lines_now(const Told& told);
  // Reads a stream to its end; the clock goes on by seconds until it comes.
  void drain(Told& told);

  // Lets time pass and the server notice.
  void advance(Duration by);

  // Closes the server and opens it again on the same files.
  void restart();

  // Shorthands: JSON in, JSON out.
  boost::json::object get(const std::string& target);
  boost::json::object post(const std::string& target, const boost::json::object& body);
  boost::json::object patch(const std::string& target, const boost::json::object& body);
  boost::json::object put(const std::string& target, const boost::json::object& body);
  boost::json::object remove(const std::string& target, const std::string& body = {});

  agent::lab::ApiServer& server() { return *server_; }
  ManualClock& clock() { return clock_; }

 private:
  void open();

  ScratchDir dir_;
  boost::asio::io_context context_{1};
  ManualClock clock_;
  agent::lab::ApiServerOptions options_;
  std::unique_ptr<agent::lab::ApiServer> server_;
};

}  // namespace holdfast::test
