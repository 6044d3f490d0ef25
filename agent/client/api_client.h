// Speaks to a cluster's API servers as one identity: credentials, user agent, and errors as our
// words. Which of several servers is asked is the caller's to say; servers are known by their place
// in ClusterAccess::servers().
//
// Threading: the loop's thread only. Outlive the calls.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/client/answer_reader.h"
#include "agent/client/kubeconfig.h"
#include "platform/http/client.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::agent {

struct ApiRequest {
  http::Method method = http::Method::get;
  std::string target = {};  // below the server's prefix: "/api/v1/nodes/a"
  std::string body = {};
  std::string content_type = {};   // of the body; empty: application/json
  std::string accept = {};         // empty: application/json
  std::string authorization = {};  // another identity's; empty: ours
  bool repeatable = false;         // as http::Request has it
  bool may_be_large = false;       // gzip is asked for; the answer is plain all the same
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
  // With `answers`, which may be shared with other clients, call() and send() read answers that are
  // not streamed within its limits, and fail with `exhausted` beyond them; without it each answer
  // has the limits of `limits` alone. Errors: invalid (certificates).
  [[nodiscard]] static Result<std::unique_ptr<ApiClient>> make(
      ClusterAccess access, const Clock& clock, std::string user_agent,
      const http::ClientLimits& limits = {}, std::shared_ptr<AnswerReader> answers = {});

  asio::awaitable<Result<std::string>> call(ApiRequest request, MonoTime deadline) override;

  // The server for requests that name none.
  void prefer(std::size_t server) { preferred_ = server; }
  [[nodiscard]] std::size_t preferred() const { return preferred_; }

  // The answer whatever its status; errors are the transport's only. `streamed` as
  // http::Client::open().
  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed, MonoTime deadline,
                                               std::optional<std::size_t> server = {});

  // As call(), for a streamed answer: a watch.
  asio::awaitable<Result<std::shared_ptr<http::BodyStream>>> stream(ApiRequest request,
                                                                    MonoTime deadline);

  // Passes a request on as it is, with our credentials where it brings none of its own; the answer
  // is the server's, whatever its status. `streamed` as http::Client::open().
  asio::awaitable<Result<http::Response>> forward(http::Request request, bool streamed,
                                                  MonoTime deadline,
                                                  std::optional<std::size_t> server = {});

  // From now on requests go there and with these credentials. What is under way ends as it began,
  // open watches too. Errors: invalid (certificates); then nothing has changed.
  [[nodiscard]] Status adopt(ClusterAccess access);
  // No request leaves any more: all fail with `denied` and `why`, until adopt().
  void hold(std::string why) { held_ = std::move(why); }
  [[nodiscard]] bool held() const { return held_.has_value(); }

  void forget_connections();
  // Those to one server only.
  void forget_connections(std::size_t server);
  [[nodiscard]] http::Traffic traffic() const;
  [[nodiscard]] const ClusterAccess& access() const { return access_; }

 private:
  // Connections that show our certificate, and some that do not: a server looks at the certificate
  // first, so who brings a token of his own would be taken for us.
  struct Way {
    Way(http::Endpoint endpoint, std::string prefix, const http::ClientLimits& limits)
        : ours(std::move(endpoint), limits), path_prefix(std::move(prefix)) {}

    http::Client ours;
    std::unique_ptr<http::Client> bare;  // null: `ours` shows none either
    std::string path_prefix;

    [[nodiscard]] http::Client& for_request(bool own_credentials) {
      return own_credentials || !bare ? ours : *bare;
    }
    [[nodiscard]] http::Traffic traffic() const;
    void forget_connections();
  };
  using Ways = std::vector<std::shared_ptr<Way>>;  // one per server
  [[nodiscard]] static Result<Ways> ways_of(const ClusterAccess& access,
                                            const http::ClientLimits& limits);

  ApiClient(ClusterAccess access, Ways ways, const Clock& clock, std::string user_agent,
            const http::ClientLimits& limits, std::shared_ptr<AnswerReader> answers);
  // The way to that server, or to the preferred one.
  [[nodiscard]] std::shared_ptr<Way> way(std::optional<std::size_t> server) const;
  [[nodiscard]] http::Request prepare(ApiRequest request);
  // What came compressed, plain. Errors: those of http::inflated().
  [[nodiscard]] Result<http::Response> plain(http::Response response) const;
  void authorize(http::Request& request);
  // The token as the file has it now, looked at again after a minute.
  [[nodiscard]] const std::string& token();

  ClusterAccess access_;
  http::ClientLimits limits_;
  std::shared_ptr<AnswerReader> answers_;
  Ways ways_;  // shared with the calls under way
  std::size_t preferred_ = 0;
  std::optional<std::string> held_;
  http::Traffic before_;  // of ways that were given up
  const Clock& clock_;
  std::string user_agent_;
  std::string token_;
  MonoTime token_read_at_ = MonoTime::min();
};

}  // namespace holdfast::agent
