// Filters a watch stream that comes directly from the API server.

#pragma once

#include <memory>

#include "agent/edge/filters/answer_filters.h"
#include "platform/http/message.h"

namespace holdfast::agent {

// `answer` is the API server's, with a stream of watch events in the encoding of its Content-Type.
// `filters` must outlive the stream.
[[nodiscard]] std::shared_ptr<http::BodyStream> filtered_stream(AnswerFilters& filters,
                                                                const FilterRequest& call,
                                                                const http::Response& answer);

}  // namespace holdfast::agent
