#include <boost/json.hpp>

#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/wire/read.h"
#include "test/unit/agent/edge/chaos/chaos_fixture.h"

namespace holdfast::agent::chaos {
namespace {

using namespace std::chrono_literals;

constexpr const char* own_pods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1";

std::string text_of(const boost::json::value& object, sync::wire::Path path) {
  return std::string(sync::wire::dig_text(object.as_object(), path));
}

std::string seen_of(const boost::json::value& pod) {
  std::string text = text_of(pod, {"metadata", "uid"});
  text += ' ';
  return text += text_of(pod, {"status", "message"});
}

}  // namespace

PodInformer::PodInformer(asio::any_io_executor executor, net::HostPort agent)
    : client_(http::Endpoint{std::move(agent)}), tasks_(executor) {
  tasks_.spawn("informer", follow());
}

PodInformer::~PodInformer() = default;

asio::awaitable<void> PodInformer::stop() {
  stopping_ = true;
  if (stream_) stream_->cancel();
  tasks_.cancel();
  co_await tasks_.join();
}

asio::awaitable<void> PodInformer::follow() {
  while (!stopping_) {
    const std::string version = co_await list();
    if (!version.empty()) co_await watch(version);
    if (!stopping_) co_await loop::wait_for(1s);
  }
}

// The resourceVersion of the list; "" if the list failed.
asio::awaitable<std::string> PodInformer::list() {
  std::string version;
  http::Request request{.target = own_pods};
  request.target += "&resourceVersion=0";
  request.headers.set("User-Agent", "kubelet/chaos");
  const MonoTime deadline = loop::clock_of(co_await asio::this_coro::executor).mono() + 30s;
  const auto answer = co_await client_.send(std::move(request), deadline);
  if (!answer || answer->status != 200) co_return version;
  const boost::json::value body = boost::json::parse(answer->body);
  version = text_of(body, {"metadata", "resourceVersion"});
  if (version.empty()) faults_.emplace_back("a list without a version");
  pods_.clear();
  for (const auto& pod : body.at("items").as_array()) {
    pods_[text_of(pod, {"metadata", "name"})] = seen_of(pod);
  }
  if (pods_.empty()) faults_.emplace_back("an empty list, and the node has pods");
  co_return version;
}

asio::awaitable<void> PodInformer::watch(std::string version) {
  http::Request request{.target = own_pods};
  request.target += "&watch=true&allowWatchBookmarks=true&resourceVersion=";
  request.target += version;
  request.headers.set("User-Agent", "kubelet/chaos");
  const MonoTime deadline = loop::clock_of(co_await asio::this_coro::executor).mono() + 30s;
  auto answer = co_await client_.open(std::move(request), deadline);
  if (!answer || !answer->stream) co_return;
  stream_ = answer->stream;
  auto newest = parse_int<std::int64_t>(version).value_or(0);
  std::string rest;
  while (!stopping_) {
    const auto piece = co_await stream_->next();
    if (!piece || piece->empty()) break;
    rest += *piece;
    for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
      take(std::string_view(rest).substr(0, end), newest);
      rest.erase(0, end + 1);
    }
  }
  stream_.reset();
}

void PodInformer::take(std::string_view line, std::int64_t& newest) {
  if (line.empty()) return;
  const boost::json::value event = boost::json::parse(line);
  const std::string type = text_of(event, {"type"});
  if (type == "ERROR") return;  // the watch ends, and the informer lists again
  const boost::json::value& object = event.at("object");
  const std::string version = text_of(object, {"metadata", "resourceVersion"});
  const auto number = parse_int<std::int64_t>(version).value_or(0);
  if (number < newest) {
    faults_.push_back("a watch went back from " + std::to_string(newest) + " to " + version);
  }
  newest = std::max(newest, number);
  const std::string name = text_of(object, {"metadata", "name"});
  if (type == "DELETED") pods_.erase(name);
  if (type == "ADDED" || type == "MODIFIED") pods_[name] = seen_of(object);
}

}  // namespace holdfast::agent::chaos
