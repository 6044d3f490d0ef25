// Speaks to one API server as one identity: credentials, user agent, and errors as our words.
//
// Threading: the loop's thread only. Outlive the calls.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "agent/client/kubeconfig.h"
#include "platform/http/client.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::agent {

namespace asio = boost::asio;

struct ApiRequest {
  http::Method method = http::Method::get;
  std::string target = {};  // below the server's prefix: "/api/v1/nodes/a"
  std::string body = {};
  std::string content_type = {};   // of the body; empty: application/json
  std::string accept = {};         // empty: application/json
  std::string authorization = {};  // another identity's; empty: ours
};

// The body of a 2xx answer to `request`. Any other status is an Error with the server's own
// message, coded as sync/api/status.h says.
[[nodiscard]] Result<std::string> body_of(const ApiRequest& request, http::Response response);

// Whoever sends a request and brings back the body of its answer.
class ApiCaller {
 public:
  virtual ~ApiCaller() = default;
  // Errors: of body_of(), and the transport's as http::Client::send() has them.
  virtual asio::awaitable<Result<std::string>> call(ApiRequest request, MonoTime deadline) = 0;
};

class ApiClient final : public ApiCaller {
 public:
  // Errors: invalid (certificates).
  [[nodiscard]] static Result<std::unique_ptr<ApiClient>> make(ClusterAccess access,
                                                               const Clock& clock,
                                                               std::string user_agent);

  asio::awaitable<Result<std::string>> call(ApiRequest request, MonoTime deadline) override;

  // The answer whatever its status; errors are the transport's only. `streamed` as
  // http::Client::open().
  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed,
                                               MonoTime deadline);

  // As call(), for a streamed answer: a watch.
  asio::awaitable<Result<std::shared_ptr<http::BodyStream>>> stream(ApiRequest request,
                                                                    MonoTime deadline);

  // Passes a request on as it is, with our credentials where it brings none of its own; the answer
  // is the server's, whatever its status. `streamed` as http::Client::open().
  asio::awaitable<Result<http::Response>> forward(http::Request request, bool streamed,
                                                  MonoTime deadline);

  void forget_connections() { http_.forget_connections(); }
  [[nodiscard]] http::Traffic traffic() const { return http_.traffic(); }
  [[nodiscard]] const ClusterAccess& access() const { return access_; }

 private:
  ApiClient(ClusterAccess access, http::Endpoint endpoint, const Clock& clock,
            std::string user_agent);
  [[nodiscard]] http::Request prepare(ApiRequest request);
  void authorize(http::Request& request);
  // The token as the file has it now, looked at again after a minute.
  [[nodiscard]] const std::string& token();

  ClusterAccess access_;
  http::Client http_;
  const Clock& clock_;
  std::string user_agent_;
  std::string token_;
  MonoTime token_read_at_ = MonoTime::min();
};

}  // namespace holdfast::agent
