// Speaks to one API server as one identity: credentials, user agent, and errors as our words.
//
// Threading: the loop's thread only. Outlive the calls.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
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

  // From now on requests go there and with these credentials. What is under way ends as it began,
  // open watches too. Errors: invalid (certificates); then nothing has changed.
  [[nodiscard]] Status adopt(ClusterAccess access);
  // No request leaves any more: all fail with `denied` and `why`, until adopt().
  void hold(std::string why) { held_ = std::move(why); }

  void forget_connections();
  [[nodiscard]] http::Traffic traffic() const;
  [[nodiscard]] const ClusterAccess& access() const { return access_; }

 private:
  // Connections that show our certificate, and some that do not: a server looks at the certificate
  // first, so who brings a token of his own would be taken for us.
  struct Ways {
    explicit Ways(http::Endpoint endpoint) : ours(std::move(endpoint)) {}

    http::Client ours;
    std::unique_ptr<http::Client> bare;  // null: `ours` shows none either

    [[nodiscard]] http::Client& for_request(bool own_credentials) {
      return own_credentials || !bare ? ours : *bare;
    }
    [[nodiscard]] http::Traffic traffic() const;
  };
  [[nodiscard]] static Result<std::shared_ptr<Ways>> ways_of(const ClusterAccess& access);

  ApiClient(ClusterAccess access, std::shared_ptr<Ways> ways, const Clock& clock,
            std::string user_agent);
  [[nodiscard]] http::Request prepare(ApiRequest request);
  void authorize(http::Request& request);
  // The token as the file has it now, looked at again after a minute.
  [[nodiscard]] const std::string& token();

  ClusterAccess access_;
  std::shared_ptr<Ways> ways_;  // shared with the calls under way
  std::optional<std::string> held_;
  http::Traffic before_;  // of ways that were given up
  const Clock& clock_;
  std::string user_agent_;
  std::string token_;
  MonoTime token_read_at_ = MonoTime::min();
};

}  // namespace holdfast::agent
