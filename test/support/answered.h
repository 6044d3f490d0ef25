// Sends a request and stores the result, for tests that want one call and one value.

#pragma once

#include "platform/http/client.h"

namespace holdfast::test {

namespace asio = boost::asio;

// Sends `request` and stores the response in `answer`: with the whole body, except that a watch
// keeps its stream and an upgrade its tunnel. Status 0 means that no response came; the body then
// contains the error. `client` and `answer` must outlive the coroutine.
asio::awaitable<void> answer_into(http::Client& client, http::Request request, MonoTime deadline,
                                  http::Response& answer);

}  // namespace holdfast::test
