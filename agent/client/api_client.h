// Sends requests to a cluster's API servers with one identity: it adds credentials and the user
// agent, and turns answers other than 2xx into Errors. The caller chooses among several servers; a
// server is identified by its index in ClusterAccess::servers().
//
// Threading: the loop's thread only. An ApiClient must outlive its calls.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/client/answer_reader.h"
#include "agent/client/credential_plugin.h"
#include "agent/client/kubeconfig.h"
#include "platform/http/client.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::agent {

struct ApiRequest {
  http::Method method = http::Method::get;
  std::string target = {};  // path and query, without the server's prefix: "/api/v1/nodes/a"
  std::string body = {};
  std::string content_type = {};  // of the body; "" means application/json
  std::string accept = {};        // "" means application/json
  // Authorization header of another identity; "": our own credentials
  std::string authorization = {};
  bool repeatable = false;    // may be sent twice; see http::Request
  bool may_be_large = false;  // accepts gzip; the answer's body is decompressed
};

// The body of a 2xx answer to `request`. Any other status becomes an Error with the server's own
// message and the code that sync/wire/status.h defines for the status.
[[nodiscard]] Result<std::string> body_of(const ApiRequest& request, http::Response response);

// Sends a request and returns the body of its answer. Implemented by ApiClient and LimitedClient.
class ApiCaller {
 public:
  virtual ~ApiCaller() = default;
  // Errors: those of body_of(), and the transport's; see http::Client::send().
  virtual asio::awaitable<Result<std::string>> call(ApiRequest request, MonoTime deadline) = 0;
};

class ApiClient final : public ApiCaller {
 public:
  // `answers` may be shared with other clients. With it, call() and send() read answers that are
  // not streamed within its limits and fail with `exhausted` above them. Without it, only `limits`
  // apply to each answer. Errors: invalid (certificates).
  [[nodiscard]] static Result<std::unique_ptr<ApiClient>> make(
      ClusterAccess access, const Clock& clock, std::string user_agent,
      const http::ClientLimits& limits = {}, std::shared_ptr<AnswerReader> answers = {});

  asio::awaitable<Result<std::string>> call(ApiRequest request, MonoTime deadline) override;

  // Sets the server for requests that name none.
  void prefer(std::size_t server) { preferred_ = server; }
  [[nodiscard]] std::size_t preferred() const { return preferred_; }

  // Returns the answer, whatever its status. `server` is an index; without it the preferred server
  // is asked. `streamed` is as in http::Client::open(). Errors: the transport's; denied (see
  // hold(), and CredentialPlugin::get()); exhausted and timeout from reading the body.
  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed, MonoTime deadline,
                                               std::optional<std::size_t> server = {});

  // As call(), but for a watch: returns the stream of a 2xx answer.
  asio::awaitable<Result<std::shared_ptr<http::BodyStream>>> stream(ApiRequest request,
                                                                    MonoTime deadline);

  // Forwards a request as it is. Our credentials are added if it has no Authorization header.
  // Returns the server's answer, whatever its status. `streamed` and `server` are as in send().
  // Errors: the transport's; denied (see hold()).
  asio::awaitable<Result<http::Response>> forward(http::Request request, bool streamed,
                                                  MonoTime deadline,
                                                  std::optional<std::size_t> server = {});

  // Sends later requests to these servers with these credentials, and ends hold(). Requests under
  // way and open watches keep their old connections. Errors: invalid (certificates); then nothing
  // changes.
  [[nodiscard]] Status adopt(ClusterAccess access);
  // Fails every later request with `denied` and `why`, until adopt().
  void hold(std::string why) { held_ = std::move(why); }
  [[nodiscard]] bool held() const { return held_.has_value(); }

  // Closes idle connections; later requests open new ones. Requests under way continue. Call it
  // when existing connections may be broken.
  void forget_connections();
  // The same for one server only.
  void forget_connections(std::size_t server);
  [[nodiscard]] http::Traffic traffic() const;
  [[nodiscard]] const ClusterAccess& access() const { return access_; }

 private:
  // The connections to one server: some with our client certificate and some without. A server
  // authenticates by certificate before it looks at tokens, so a request with a foreign token on a
  // connection with our certificate would be performed as us.
  struct ServerClients {
    ServerClients(http::Endpoint endpoint, std::string prefix, const http::ClientLimits& limits)
        : with_certificate(std::move(endpoint), limits), path_prefix(std::move(prefix)) {}

    http::Client with_certificate;
    std::unique_ptr<http::Client>
        without_certificate;  // null if `with_certificate` has no client certificate
    std::string path_prefix;

    [[nodiscard]] http::Client& for_request(bool own_credentials) {
      return own_credentials || !without_certificate ? with_certificate : *without_certificate;
    }
    [[nodiscard]] http::Traffic traffic() const;
    void forget_connections();
  };
  using ServerClientList = std::vector<std::shared_ptr<ServerClients>>;  // one per server
  [[nodiscard]] static Result<ServerClientList> make_server_clients(
      const ClusterAccess& access, const http::ClientLimits& limits);

  ApiClient(ClusterAccess access, ServerClientList server_clients, const Clock& clock,
            std::string user_agent, const http::ClientLimits& limits,
            std::shared_ptr<AnswerReader> answers);
  // The connections to that server, or to the preferred one.
  [[nodiscard]] std::shared_ptr<ServerClients> clients(std::optional<std::size_t> server) const;
  [[nodiscard]] http::Request prepare(ApiRequest request);
  // Gets the credential of the plug-in, if there is one, and uses it for later requests. With
  // another certificate, they use new connections.
  asio::awaitable<Status> renew_credential(MonoTime deadline);
  // Tells the plug-in that the server refused its credential.
  void note_status(bool own_credentials, const CredentialPlugin::CredentialPtr& used,
                   const Result<http::Response>& response);
  void replace_connections(ServerClientList server_clients);
  // Decompresses the body. Errors: those of http::inflated().
  [[nodiscard]] Result<http::Response> plain(http::Response response) const;
  void authorize(http::Request& request);
  // The bearer token; a token file is read again after a minute.
  [[nodiscard]] const std::string& token();

  ClusterAccess access_;
  http::ClientLimits limits_;
  std::shared_ptr<AnswerReader> answers_;
  ServerClientList server_clients_;  // shared with the calls under way
  std::size_t preferred_ = 0;
  std::optional<std::string> held_;
  http::Traffic replaced_traffic_;  // of connections replaced by adopt()
  const Clock& clock_;
  std::string user_agent_;
  std::string token_;
  MonoTime token_read_at_ = MonoTime::min();
  CredentialPlugin::CredentialPtr credential_;  // of the plug-in, in use
};

}  // namespace holdfast::agent
