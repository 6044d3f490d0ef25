#include "agent/client/api_client.h"

#include "platform/fs/file.h"
#include "platform/log.h"
#include "platform/text.h"
#include "sync/api/status.h"

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
  return fail(describe(request), sync::to_error(response.status, response.body));
}

Result<std::unique_ptr<ApiClient>> ApiClient::make(ClusterAccess access, const Clock& clock,
                                                   std::string user_agent) {
  TRY(std::shared_ptr<Ways> ways, ways_of(access));
  return std::unique_ptr<ApiClient>(
      new ApiClient(std::move(access), std::move(ways), clock, std::move(user_agent)));
}

Result<std::shared_ptr<ApiClient::Ways>> ApiClient::ways_of(const ClusterAccess& access) {
  TRY(http::Endpoint endpoint, access.endpoint());
  const auto ways = std::make_shared<Ways>(std::move(endpoint));
  if (access.tls_settings.identity.certificate_pem.empty()) return ways;
  ClusterAccess nobody = access;
  nobody.tls_settings.identity = {};
  TRY(http::Endpoint bare, nobody.endpoint());
  ways->bare = std::make_unique<http::Client>(std::move(bare));
  return ways;
}

http::Traffic ApiClient::Ways::traffic() const {
  http::Traffic sum = ours.traffic();
  if (!bare) return sum;
  sum.sent += bare->traffic().sent;
  sum.received += bare->traffic().received;
  return sum;
}

http::Traffic ApiClient::traffic() const {
  http::Traffic sum = ways_->traffic();
  sum.sent += before_.sent;
  sum.received += before_.received;
  return sum;
}

void ApiClient::forget_connections() {
  ways_->ours.forget_connections();
  if (ways_->bare) ways_->bare->forget_connections();
}

Status ApiClient::adopt(ClusterAccess access) {
  TRY(std::shared_ptr<Ways> ways, ways_of(access));
  before_ = traffic();
  forget_connections();
  ways_ = std::move(ways);
  access_ = std::move(access);
  token_ = access_.token;
  token_read_at_ = MonoTime::min();
  held_.reset();
  return {};
}

ApiClient::ApiClient(ClusterAccess access, std::shared_ptr<Ways> ways, const Clock& clock,
                     std::string user_agent)
    : access_(std::move(access)),
      ways_(std::move(ways)),
      clock_(clock),
      user_agent_(std::move(user_agent)),
      token_(access_.token) {}

const std::string& ApiClient::token() {
  // client-go rereads token files each minute, too: they are rotated long before they expire.
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
  http::Request made{.method = request.method, .target = access_.path_prefix + request.target};
  made.body = std::move(request.body);
  made.headers.add("Accept", request.accept.empty() ? std::string(json_type) : request.accept);
  made.headers.add("User-Agent", user_agent_);
  if (!made.body.empty()) {
    const bool plain = request.content_type.empty();
    made.headers.add("Content-Type", plain ? std::string(json_type) : request.content_type);
  }
  if (!request.authorization.empty()) made.headers.add("Authorization", request.authorization);
  authorize(made);
  return made;
}

asio::awaitable<Result<http::Response>> ApiClient::send(ApiRequest request, bool streamed,
                                                        MonoTime deadline) {
  const bool own_credentials = request.authorization.empty();
  http::Request made = prepare(std::move(request));
  const std::string doing = describe(made);
  if (held_) co_return fail(Errc::denied, doing + ": " + *held_);
  const std::shared_ptr<Ways> ways = ways_;
  http::Client& client = ways->for_request(own_credentials);
  const auto way = streamed ? &http::Client::open : &http::Client::send;
  auto response = co_await (client.*way)(std::move(made), deadline);
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
  co_return fail(doing, sync::to_error(response.status, response.body));
}

asio::awaitable<Result<http::Response>> ApiClient::forward(http::Request request, bool streamed,
                                                           MonoTime deadline) {
  const bool own_credentials = !request.headers.has("authorization");
  if (held_) co_return fail(Errc::denied, *held_);
  request.target.insert(0, access_.path_prefix);
  authorize(request);
  const std::shared_ptr<Ways> ways = ways_;
  http::Client& client = ways->for_request(own_credentials);
  if (streamed) co_return co_await client.open(std::move(request), deadline);
  co_return co_await client.send(std::move(request), deadline);
}

}  // namespace holdfast::agent
