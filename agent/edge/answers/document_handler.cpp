#include "agent/edge/answers/document_handler.h"

#include "agent/edge/forward/unavailable.h"

namespace holdfast::agent {

asio::awaitable<RoutedAnswer> DocumentHandler::serve(const RoutedRequest& request) {
  const std::string key = request.http.target + " " + request.inner_accept.text();
  const bool is_head = request.http.method == http::Method::head;
  RoutedAnswer answer;
  if (uplink_.link().allows_reads() || is_head) {
    answer.response =
        co_await forwarder_.forward(request, deadlines_.read, Delivery::whole_if_it_fits);
    const http::Response& response = answer.response;
    if (response.status == 200 && !is_head && !response.stream) {
      answer_cache_.put(request, key,
                        {.status = 200,
                         .content_type = std::string(response.headers.get("content-type")),
                         .bytes = response.body});
    }
    const bool reached = response.status != 503 && response.status != 504;
    if (reached || is_head) co_return answer;
  }
  auto known = answer_cache_.find(request.caller, key);
  answer.from_cache = known.has_value();
  // It only takes longer than a read may wait.
  if (!known && uplink_.link().allows_reads()) {
    answer.response = co_await forwarder_.forward(request, deadlines_.write, Delivery::moving);
    co_return answer;
  }
  answer.response = known ? to_response(*std::move(known))
                          : unavailable(uplink_, "this document was never fetched");
  co_return answer;
}

}  // namespace holdfast::agent
