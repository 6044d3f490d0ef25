#include "agent/edge/answers/presentation.h"

#include <algorithm>
#include <array>

#include "platform/text.h"

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

sync::printing::IncludeObject include_of(const Query& query) {
  const std::string_view asked = query.get("includeObject");
  if (asked == "None") return sync::printing::IncludeObject::none;
  if (asked == "Object") return sync::printing::IncludeObject::object;
  return sync::printing::IncludeObject::metadata;
}

// The key of the stored answer with the columns and cells of a resource's tables. It begins like a
// path, so that it is dropped before what pods need (store::Answers).
std::string table_key(const sync::objects::RequestInfo& info) {
  return "/table/" + info.group + "/" + info.version + "/" + info.resource;
}

// Turns a watch of objects into a watch of tables. Frames are JSON, one per line.
class PrintedStream final : public http::BodyStream {
 public:
  PrintedStream(std::shared_ptr<http::BodyStream> objects, sync::printing::Printer printer,
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
  sync::printing::Printer printer_;
  const Clock& clock_;
  std::string waiting_;  // an incomplete line
};

}  // namespace

bool is_person(std::string_view agent, const std::vector<std::string>& cache_agents) {
  if (is_one_of(tools, agent)) return true;
  return !is_one_of(components, agent) && !is_one_of(cache_agents, agent);
}

std::string warning_header(std::string_view text) {
  std::string value = "299 - \"";
  for (const char c : text) {
    if (c == '"' || c == '\\') value += '\\';
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) value += c;
  }
  return value + '"';
}

Presentation::Presentation(std::vector<std::string> cache_agents, std::size_t whole_bytes_max,
                           Uplink& uplink, AnswerCache& answer_cache, const Clock& clock)
    : cache_agents_(std::move(cache_agents)),
      whole_bytes_max_(whole_bytes_max),
      uplink_(uplink),
      answer_cache_(answer_cache),
      clock_(clock) {}

void Presentation::prepare(RoutedRequest& request) const {
  if (uplink_.link().allows_reads() || request.accept.encoding() || !request.accept.json_form())
    return;
  request.inner_accept =
      sync::wire::Accept::parse(sync::wire::content_type(sync::wire::Encoding::json));
}

http::Response Presentation::present(const RoutedRequest& request, RoutedAnswer answer) {
  http::Response response = std::move(answer.response);
  if (response.status != 200) return response;
  // Whole objects for a client that accepts none are those of prepare().
  const bool of_objects =
      answer.from_cache || (request.inner_accept.encoding() && !request.accept.encoding());
  if (of_objects) warn(request.caller, response);
  if (!request.info.is_resource || !request.info.subresource.empty()) return response;
  const auto form = request.accept.json_form();
  if (!form || *form == sync::wire::Form::object) return response;
  if (of_objects) return print(request, *form, std::move(response));
  remember(request, response);
  return response;
}

void Presentation::warn(const Caller& caller, http::Response& response) const {
  const std::string outage = uplink_.describe_outage();
  if (outage.empty() || !is_person(caller.agent, cache_agents_)) return;
  response.headers.add("Warning", warning_header(outage + "; this is the last known state"));
}

http::Response Presentation::print(const RoutedRequest& request, sync::wire::Form form,
                                   http::Response response) {
  if (!response.headers.get("content-type").starts_with("application/json")) return response;
  sync::printing::Printer printer(request.info, form, include_of(request.query),
                                  seen_tables(request));
  if (response.stream) {
    response.stream =
        std::make_shared<PrintedStream>(std::move(response.stream), std::move(printer), clock_);
    return response;
  }
  response = joined(std::move(response), whole_bytes_max_);
  if (response.status != 200) return response;
  auto printed = printer.print(response.body, clock_.wall());
  if (!printed) return to_response(sync::wire::status::internal_error(printed.error().what));
  response.body = *std::move(printed);
  return response;
}

bool Presentation::remembers(const RoutedRequest& request) {
  if (!request.info.is_resource || !request.info.subresource.empty()) return false;
  const auto form = request.accept.json_form();
  return form && *form == sync::wire::Form::table && !sync::printing::has_columns(request.info);
}

void Presentation::remember(const RoutedRequest& request, const http::Response& response) {
  if (response.stream || !remembers(request)) return;
  if (request.impersonates || !answer_cache_.may_keep(request.caller)) return;
  if (!response.headers.get("content-type").starts_with("application/json")) return;
  auto seen = sync::printing::remember_table(seen_tables(request), response.body);
  if (!seen) return;  // The answer is no table: nothing to remember.
  answer_cache_.put(request, table_key(request.info),
                    {.status = 200, .content_type = "application/json", .bytes = *std::move(seen)});
}

std::string Presentation::seen_tables(const RoutedRequest& request) {
  if (sync::printing::has_columns(request.info)) return {};
  const auto kept = answer_cache_.find(request.caller, table_key(request.info));
  return kept ? kept->bytes : std::string();
}

}  // namespace holdfast::agent
