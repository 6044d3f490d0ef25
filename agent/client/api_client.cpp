#include "agent/client/api_client.h"

#include "platform/fs/file.h"
#include "platform/http/inflate.h"
#include "platform/log.h"
#include "platform/text.h"
#include "sync/wire/protobuf/status.h"
#include "sync/wire/status.h"

namespace holdfast::agent {
namespace {

constexpr std::string_view json_type = "application/json";
constexpr std::size_t token_limit = 64 * 1024;

bool is_success(int status) { return status >= 200 && status < 300; }

// For messages: the method and the path, without the query.
template <class AnyRequest>
std::string describe(const AnyRequest& request) {
  return std::string(http::to_string(request.method)) + " " +
         request.target.substr(0, request.target.find('?'));
}

}  // namespace

Result<std::string> body_of(const ApiRequest& request, http::Response response) {
  if (is_success(response.status)) return std::move(response.body);
  return fail(describe(request), sync::wire::to_error(response.status, response.body));
}

Result<std::unique_ptr<ApiClient>> ApiClient::make(ClusterAccess access, const Clock& clock,
                                                   std::string user_agent,
                                                   const http::ClientLimits& limits,
                                                   std::shared_ptr<AnswerReader> answers) {
  TRY(ServerClientList server_clients, make_server_clients(access, limits));
  return std::unique_ptr<ApiClient>(new ApiClient(std::move(access), std::move(server_clients),
                                                  clock, std::move(user_agent), limits,
                                                  std::move(answers)));
}

Result<ApiClient::ServerClientList> ApiClient::make_server_clients(
    const ClusterAccess& access, const http::ClientLimits& limits) {
  TRY(std::vector<http::Endpoint> endpoints, access.endpoints());
  const std::vector<ServerAddress> servers = access.servers();
  ServerClientList server_clients;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    server_clients.push_back(
        std::make_shared<ServerClients>(std::move(endpoints[i]), servers[i].path_prefix, limits));
  }
  // With a client certificate, requests with foreign tokens need connections without it.
  if (access.tls_settings.identity.certificate_pem.empty()) return server_clients;
  ClusterAccess nobody = access;
  nobody.tls_settings.identity = {};
  TRY(std::vector<http::Endpoint> without_certificate, nobody.endpoints());
  for (std::size_t i = 0; i < servers.size(); ++i) {
    server_clients[i]->without_certificate =
        std::make_unique<http::Client>(std::move(without_certificate[i]), limits);
  }
  return server_clients;
}

http::Traffic ApiClient::ServerClients::traffic() const {
  http::Traffic sum = with_certificate.traffic();
  if (without_certificate) sum += without_certificate->traffic();
  return sum;
}

void ApiClient::ServerClients::forget_connections() {
  with_certificate.forget_connections();
  if (without_certificate) without_certificate->forget_connections();
}

http::Traffic ApiClient::traffic() const {
  http::Traffic sum = replaced_traffic_;
  for (const auto& clients : server_clients_) sum += clients->traffic();
  return sum;
}

void ApiClient::forget_connections() {
  for (const auto& clients : server_clients_) clients->forget_connections();
}

void ApiClient::forget_connections(std::size_t server) { clients(server)->forget_connections(); }

std::shared_ptr<ApiClient::ServerClients> ApiClient::clients(
    std::optional<std::size_t> server) const {
  // A new kubeconfig may name fewer servers than the index of the caller assumes.
  return server_clients_[server.value_or(preferred_) % server_clients_.size()];
}

Status ApiClient::adopt(ClusterAccess access) {
  TRY(ServerClientList server_clients, make_server_clients(access, limits_));
  replace_connections(std::move(server_clients));
  access_ = std::move(access);
  credential_.reset();
  token_ = access_.token;
  token_read_at_ = MonoTime::min();
  held_.reset();
  return {};
}

void ApiClient::replace_connections(ServerClientList server_clients) {
  replaced_traffic_ = traffic();
  forget_connections();
  server_clients_ = std::move(server_clients);
}

asio::awaitable<Status> ApiClient::renew_credential(MonoTime deadline) {
  Status done;
  const std::shared_ptr<CredentialPlugin> plugin = access_.plugin;
  if (plugin == nullptr) co_return done;
  CO_TRY(CredentialPlugin::CredentialPtr given,
         co_await CredentialPlugin::get(plugin, clock_, deadline));
  // adopt() may have been called meanwhile; then the next request asks the other plug-in.
  if (plugin != access_.plugin || given == credential_) co_return done;
  const tls::Identity& now = given->identity;
  const tls::Identity& before = access_.tls_settings.identity;
  const bool same = now.certificate_pem == before.certificate_pem && now.key_pem == before.key_pem;
  if (!same) {
    ClusterAccess changed = access_;
    changed.tls_settings.identity = now;
    CO_TRY(ServerClientList server_clients, make_server_clients(changed, limits_));
    replace_connections(std::move(server_clients));
    access_ = std::move(changed);
  }
  token_ = given->token;
  credential_ = std::move(given);
  co_return done;
}

void ApiClient::note_status(bool own_credentials, const CredentialPlugin::CredentialPtr& used,
                            const Result<http::Response>& response) {
  if (!own_credentials || !response || response->status != 401) return;
  if (access_.plugin && used) access_.plugin->refused(used);
}

ApiClient::ApiClient(ClusterAccess access, ServerClientList server_clients, const Clock& clock,
                     std::string user_agent, const http::ClientLimits& limits,
                     std::shared_ptr<AnswerReader> answers)
    : access_(std::move(access)),
      limits_(limits),
      answers_(std::move(answers)),
      server_clients_(std::move(server_clients)),
      clock_(clock),
      user_agent_(std::move(user_agent)),
      token_(access_.token) {}

const std::string& ApiClient::token() {
  // client-go also reads token files again every minute. They are rotated long before they expire.
  constexpr auto reread = std::chrono::minutes(1);
  const MonoTime now = clock_.mono();
  const bool fresh = token_read_at_ != MonoTime::min() && now - token_read_at_ < reread;
  if (access_.token_file.empty() || fresh) return token_;
  token_read_at_ = now;
  const auto read = fs::read_all(access_.token_file, token_limit);
  if (read) {
    token_ = trim(*read);
  } else {
    log_warn("token file unreadable, keeping the old token", {{"error", read.error()}});
  }
  return token_;
}

void ApiClient::authorize(http::Request& request) {
  if (request.headers.has("authorization") || token().empty()) return;
  request.headers.set("Authorization", "Bearer " + token());
}

http::Request ApiClient::prepare(ApiRequest request) {
  http::Request made{.method = request.method, .target = std::move(request.target)};
  made.body = std::move(request.body);
  made.repeatable = request.repeatable;
  made.headers.add("Accept", request.accept.empty() ? std::string(json_type) : request.accept);
  made.headers.add("User-Agent", user_agent_);
  if (!made.body.empty()) {
    const bool plain = request.content_type.empty();
    made.headers.add("Content-Type", plain ? std::string(json_type) : request.content_type);
  }
  const bool compressed = request.may_be_large && !access_.disable_compression;
  if (compressed) made.headers.add("Accept-Encoding", "gzip");
  if (!request.authorization.empty()) made.headers.add("Authorization", request.authorization);
  authorize(made);
  return made;
}

Result<http::Response> ApiClient::plain(http::Response response) const {
  // The reader of a stream limits the bytes that it collects; a whole body is limited here.
  http::InflateLimits limits;
  limits.body_bytes =
      response.stream ? std::numeric_limits<std::size_t>::max() : limits_.reader.body_bytes;
  return http::inflated(std::move(response), limits);
}

asio::awaitable<Result<http::Response>> ApiClient::send(ApiRequest request, bool streamed,
                                                        MonoTime deadline,
                                                        std::optional<std::size_t> server) {
  const bool own_credentials = request.authorization.empty();
  const bool may_be_gzip = request.may_be_large;
  if (held_) co_return fail(Errc::denied, describe(request) + ": " + *held_);
  if (own_credentials) {
    const Status renewed = co_await renew_credential(deadline);
    if (!renewed) co_return fail(describe(request), renewed.error());
  }
  const CredentialPlugin::CredentialPtr used = credential_;
  const std::shared_ptr<ServerClients> to = clients(server);
  http::Request made = prepare(std::move(request));
  made.target.insert(0, to->path_prefix);
  const std::string doing = describe(made);
  http::Client& client = to->for_request(own_credentials);
  const std::shared_ptr<AnswerReader> reader = streamed ? nullptr : answers_;
  const auto verb = streamed || reader ? &http::Client::open : &http::Client::send;
  auto response = co_await (client.*verb)(std::move(made), deadline);
  note_status(own_credentials, used, response);
  if (response && may_be_gzip) response = plain(*std::move(response));
  if (!response) co_return fail(doing, response.error());
  if (!reader) co_return response;
  ReadRules rules{.whose = own_credentials ? Requester::own : Requester::foreign,
                  .deadline = deadline};
  auto read = co_await reader->read(*std::move(response), std::move(rules));
  if (!read) co_return fail(doing, read.error());
  response = ReadAnswer::finish(*std::move(read));
  if (!response) co_return fail(doing, response.error());
  co_return response;
}

asio::awaitable<Result<std::string>> ApiClient::call(ApiRequest request, MonoTime deadline) {
  const ApiRequest asked{.method = request.method, .target = request.target};
  CO_TRY(http::Response response, co_await send(std::move(request), false, deadline));
  Result<std::string> body = body_of(asked, std::move(response));
  co_return body;
}

asio::awaitable<Result<std::shared_ptr<http::BodyStream>>> ApiClient::stream(ApiRequest request,
                                                                             MonoTime deadline) {
  const std::string doing = describe(request);
  CO_TRY(http::Response response, co_await send(std::move(request), true, deadline));
  if (response.stream) co_return std::move(response.stream);
  co_return fail(doing, sync::wire::to_error(response.status, response.body));
}

asio::awaitable<Result<http::Response>> ApiClient::forward(http::Request request, bool streamed,
                                                           MonoTime deadline,
                                                           std::optional<std::size_t> server) {
  const bool own_credentials = !request.headers.has("authorization");
  if (held_) co_return fail(Errc::denied, *held_);
  if (own_credentials) {
    const Status renewed = co_await renew_credential(deadline);
    if (!renewed) co_return fail(renewed.error());
  }
  const CredentialPlugin::CredentialPtr used = credential_;
  const std::shared_ptr<ServerClients> to = clients(server);
  request.target.insert(0, to->path_prefix);
  authorize(request);
  http::Client& client = to->for_request(own_credentials);
  const auto verb = streamed ? &http::Client::open : &http::Client::send;
  auto response = co_await (client.*verb)(std::move(request), deadline);
  note_status(own_credentials, used, response);
  co_return response;
}

}  // namespace holdfast::agent
