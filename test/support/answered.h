// A request and what comes of it, as tests want both: one call, one value.

#pragma once

#include "platform/http/client.h"

namespace holdfast::test {

namespace asio = boost::asio;

// Sends `request` into `answer`: whole; of a watch with its stream, of an upgrade with its tunnel.
// Status 0: none came, and the body says why. The client and `answer` outlive it.
asio::awaitable<void> answer_into(http::Client& client, http::Request request, MonoTime deadline,
                                  http::Response& answer);

}  // namespace holdfast::test
