#include "test/support/answered.h"

namespace holdfast::test {

asio::awaitable<void> answer_into(http::Client& client, http::Request request, MonoTime deadline,
                                  http::Response& answer) {
  const bool streamed = request.query().find("watch=true") != std::string_view::npos ||
                        request.query().find("follow=true") != std::string_view::npos ||
                        request.headers.has("upgrade");
  Result<http::Response> response = fail(Errc::cancelled, "");
  if (streamed) {
    response = co_await client.open(std::move(request), deadline);
  } else {
    response = co_await client.send(std::move(request), deadline);
  }
  if (response) {
    answer = *std::move(response);
  } else {
    answer = {};
    answer.status = 0;
    answer.body = response.error().what;
  }
}

}  // namespace holdfast::test
