#include "agent/client/origin.h"

#include "sync/autonomy/fault.h"

namespace holdfast::agent {

Result<http::Response> check_origin(const ClusterAccess& access, std::string_view target,
                                    Result<http::Response> outcome) {
  if (!outcome || outcome->status == 101) return outcome;
  const http::Headers& headers = outcome->headers;
  const sync::autonomy::AnswerHead head{.status = outcome->status,
                                        .content_type = headers.get("content-type"),
                                        .location = headers.get("location"),
                                        .audited = headers.has("audit-id"),
                                        .verified = access.verifies_servers()};
  const auto why = sync::autonomy::why_not_api_answer(target, head, outcome->body);
  if (!why) return outcome;
  if (outcome->stream) outcome->stream->cancel();
  return fail(Errc::corrupt, *why);
}

}  // namespace holdfast::agent
