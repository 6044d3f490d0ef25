// A watch that the cloud answers itself, as the filters let the client see it.

#pragma once

#include <memory>

#include "agent/edge/filters/answer_filters.h"
#include "platform/http/message.h"

namespace holdfast::agent {

// `answer` is the cloud's, with a stream of watch events in the encoding of its Content-Type.
// `filters` outlives the stream.
[[nodiscard]] std::shared_ptr<http::BodyStream> shown_stream(AnswerFilters& filters,
                                                             const FilterCall& call,
                                                             const http::Response& answer);

}  // namespace holdfast::agent
