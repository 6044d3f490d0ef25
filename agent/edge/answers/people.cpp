#include "agent/edge/answers/people.h"

#include <algorithm>
#include <array>

#include "agent/edge/route/answer.h"
#include "platform/log.h"
#include "platform/text.h"
#include "sync/watch/encoding.h"

namespace holdfast::agent {
namespace {

constexpr std::array<std::string_view, 11> components = {
    "kubelet",          "kube-proxy",    "flanneld",    "coredns",      "raven-agent-ds",
    "yurttunnel-agent", "holdfast-node", "calico-node", "cilium-agent", "node-problem-detector",
    "kindnetd"};

// These are always used by people, even if --cache-agents lists them.
constexpr std::array<std::string_view, 8> tools = {"kubectl", "curl", "wget", "oc",
                                                   "helm",    "k9s",  "",     "mozilla"};

bool is_one_of(const auto& list, std::string_view word) {
  return std::any_of(list.begin(), list.end(),
                     [word](std::string_view each) { return equals_ignoring_case(each, word); });
}

sync::IncludeObject include_of(const http::Request& request) {
  const auto query = Query::parse(request.query());
  const std::string_view asked = query ? query->get("includeObject") : "";
  if (asked == "None") return sync::IncludeObject::none;
  if (asked == "Object") return sync::IncludeObject::object;
  return sync::IncludeObject::metadata;
}

// The key of the stored answer with the columns and cells of a resource's tables. It begins like a
// path, so that it is dropped before what pods need (store::Answers).
std::string table_key(const sync::RequestInfo& info) {
  return "/table/" + info.group + "/" + info.version + "/" + info.resource;
}

// Turns a watch of objects into a watch of tables. Frames are JSON, one per line.
class PrintedStream final : public http::BodyStream {
 public:
  PrintedStream(std::shared_ptr<http::BodyStream> objects, sync::Printer printer,
                const Clock& clock)
      : objects_(std::move(objects)), printer_(std::move(printer)), clock_(clock) {}

  asio::awaitable<Result<std::string>> next() override {
    for (;;) {
      auto piece = co_await objects_->next();
      if (!piece || piece->empty()) co_return piece;
      waiting_ += *piece;
      auto printed = take();
      if (!printed) objects_->cancel();
      if (!printed || !printed->empty()) co_return printed;
    }
  }

  void cancel() override { objects_->cancel(); }

 private:
  // Prints all complete lines received so far.
  Result<std::string> take() {
    std::string printed;
    std::size_t from = 0;
    for (std::size_t end = 0; (end = waiting_.find('\n', from)) != std::string::npos;) {
      const std::string_view line = std::string_view(waiting_).substr(from, end - from);
      from = end + 1;
      if (line.empty()) continue;
      TRY(const std::string event, printer_.print_event(line, clock_.wall()));
      printed += event;
    }
    waiting_.erase(0, from);
    return printed;
  }

  std::shared_ptr<http::BodyStream> objects_;
  sync::Printer printer_;
  const Clock& clock_;
  std::string waiting_;  // an incomplete line
};

}  // namespace

bool is_person(std::string_view agent, const EdgeOptions& options) {
  if (is_one_of(tools, agent)) return true;
  return !is_one_of(components, agent) && !is_one_of(options.cache_agents, agent);
}

std::string warning_header(std::string_view text) {
  std::string value = "299 - \"";
  for (const char c : text) {
    if (c == '"' || c == '\\') value += '\\';
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) value += c;
  }
  return value + '"';
}

People::People(const EdgeOptions& options, Scopes& scopes, Uplink& uplink, const Clock& clock)
    : options_(options), scopes_(scopes), uplink_(uplink), clock_(clock) {}

std::optional<http::Request> People::without_form(const http::Request& request) const {
  if (uplink_.link().may_ask()) return std::nullopt;
  const std::string_view accept = request.headers.get("accept");
  if (sync::wanted_encoding(accept) || !sync::negotiate(accept)) return std::nullopt;
  http::Request plain = request;
  plain.headers.set("Accept", std::string(sync::content_type(sync::Encoding::json)));
  return plain;
}

http::Response People::show(const http::Request& request, const sync::RequestInfo& info,
                            const Caller& caller, bool of_objects, http::Response response) {
  if (response.status != 200) return response;
  if (of_objects) warn(caller, response);
  if (!info.is_resource || !info.subresource.empty()) return response;
  const auto form = sync::negotiate(request.headers.get("accept"));
  if (!form || *form == sync::Form::object) return response;
  if (of_objects) return print(request, info, caller, *form, std::move(response));
  if (*form == sync::Form::table) learn(info, caller, response);
  return response;
}

void People::warn(const Caller& caller, http::Response& response) const {
  const std::string outage = uplink_.describe_outage();
  if (outage.empty() || !is_person(caller.agent, options_)) return;
  response.headers.add("Warning", warning_header(outage + "; this is the last known state"));
}

http::Response People::print(const http::Request& request, const sync::RequestInfo& info,
                             const Caller& caller, sync::Form form, http::Response response) {
  if (!response.headers.get("content-type").starts_with("application/json")) return response;
  sync::Printer printer(info, form, include_of(request), seen_tables(info, caller));
  if (response.stream) {
    response.stream =
        std::make_shared<PrintedStream>(std::move(response.stream), std::move(printer), clock_);
    return response;
  }
  auto printed = printer.print(response.body, clock_.wall());
  if (!printed) return to_response(sync::status::internal_error(printed.error().what));
  response.body = *std::move(printed);
  return response;
}

void People::learn(const sync::RequestInfo& info, const Caller& caller,
                   const http::Response& response) {
  const bool trusted = caller.owner == node_owner || uplink_.owners().accepted(caller.owner);
  if (response.stream || !trusted || sync::has_columns(info)) return;
  if (!response.headers.get("content-type").starts_with("application/json")) return;
  const auto seen = sync::remember_table(seen_tables(info, caller), response.body);
  if (!seen) return;  // The answer is no table: nothing to remember.
  const store::Answer kept{.status = 200, .content_type = "application/json", .bytes = *seen};
  if (auto put = scopes_.put_answer(caller.owner, table_key(info), kept); !put) {
    log_debug("columns of a table not stored",
              {{"resource", info.resource}, {"error", put.error()}});
  }
}

std::string People::seen_tables(const sync::RequestInfo& info, const Caller& caller) {
  if (sync::has_columns(info)) return {};
  const auto kept = scopes_.find_answer(caller.owner, table_key(info));
  return kept && *kept ? (*kept)->bytes : std::string();
}

}  // namespace holdfast::agent
