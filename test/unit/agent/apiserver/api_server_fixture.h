// The lab's API server without a socket, in virtual time.

#pragma once

#include <boost/json.hpp>
#include <memory>
#include <string>
#include <vector>

#include "agent/lab/apiserver/apiserver.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"

namespace holdfast::test {

struct TestRequest {
  std::string method = "GET";
  std::string target;
  std::string body = {};
  std::string content_type = {};
  std::string accept = {};
  std::string token = {};
  std::string accept_encoding = {};
  net::Peer peer = {};         // the caller, as its client certificate identifies it
  http::Headers headers = {};  // further ones
};

struct TestResponse {
  int status = 0;
  http::Headers headers;
  std::string body;                          // of a stream: what was read of it by drain()
  std::shared_ptr<http::BodyStream> stream;  // not read yet

  // The body as JSON; for a stream an array of its lines.
  [[nodiscard]] boost::json::value json() const;
  // The body, which must be a JSON object.
  [[nodiscard]] boost::json::object object() const;
};

// Options without the controllers, so that objects change only by requests.
[[nodiscard]] agent::lab::ApiServerOptions options_without_controllers();

class ApiServerFixture {
 public:
  // 2026-11-21T01:23:14Z: the time of the recording.
  static WallTime start();

  explicit ApiServerFixture(agent::lab::ApiServerOptions options = {});

  // Sends a request. Unless the answer is a stream, reads all of it.
  TestResponse ask(const TestRequest& test_request);
  // Reads the lines of a stream that are available now, without waiting.
  std::vector<std::string> lines_now(const TestResponse& response);
  // Reads a stream to its end; advances the clock by seconds until then.
  void drain(TestResponse& response);

  // Advances the clock and runs the server's timers.
  void advance(Duration by);

  // Closes the server and opens it again on the same files.
  void restart();

  // Requests with JSON as input and output.
  boost::json::object get(const std::string& target);
  boost::json::object post(const std::string& target, const boost::json::object& body);
  boost::json::object patch(const std::string& target, const boost::json::object& body);
  boost::json::object put(const std::string& target, const boost::json::object& body);
  boost::json::object remove(const std::string& target, const std::string& body = {});

  agent::lab::ApiServer& server() { return *server_; }
  VirtualClock& clock() { return time_.clock(); }

 private:
  void open();

  ScratchDir dir_;
  VirtualTime time_;
  agent::lab::ApiServerOptions options_;
  std::unique_ptr<agent::lab::ApiServer> server_;
};

}  // namespace holdfast::test
