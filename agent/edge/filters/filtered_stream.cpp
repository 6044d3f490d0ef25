#include "agent/edge/filters/filtered_stream.h"

#include <deque>

#include "agent/edge/filters/filtered_watch.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/frames.h"
#include "sync/wire/protobuf/header.h"
#include "sync/wire/status.h"

namespace holdfast::agent {
namespace {

using WireType = sync::wire::WatchEvent::Type;

sync::watch::EventType event_type(WireType type) {
  if (type == WireType::added) return sync::watch::EventType::added;
  return type == WireType::deleted ? sync::watch::EventType::deleted
                                   : sync::watch::EventType::modified;
}

class FilteredStream final : public http::BodyStream {
 public:
  FilteredStream(AnswerFilters& filters, const FilterRequest& call, const http::Response& answer)
      : filters_(filters), inner_(answer.stream), watch_(filters, call) {
    const bool protobuf = sync::wire::is_protobuf_type(answer.headers.get("content-type"));
    kind_.encoding = protobuf ? sync::wire::Encoding::protobuf : sync::wire::Encoding::json;
  }

  asio::awaitable<Result<std::string>> next() override {
    for (;;) {
      if (cancelled_) co_return fail(Errc::cancelled, "watch cancelled");
      std::string piece = take();
      if (!piece.empty() || ended_) co_return piece;
      if (!waiting_.empty()) {
        co_await filters_.changed().wait();
        continue;
      }
      auto more = co_await inner_->next();
      if (!more || more->empty()) co_return more;
      if (auto read = read_frames(*more); !read) co_return fail(read.error());
    }
  }

  void cancel() override {
    cancelled_ = true;
    inner_->cancel();
    filters_.changed().notify_all();
  }

 private:
  // The frames of all waiting events that can be sent now; "" for none.
  std::string take() {
    std::string piece;
    while (!ended_ && !waiting_.empty()) {
      const std::uint64_t epoch = filters_.epoch();
      if (watch_.outdated()) {
        return piece +
               end(sync::wire::status::expired("the filters of this component have changed"));
      }
      const auto text = say(waiting_.front());
      if (!text) return piece + end(sync::wire::status::internal_error(text.error().what));
      if (*text) {
        piece += **text;
        waiting_.pop_front();
      } else if (filters_.epoch() == epoch) {
        break;  // Held back until the missing knowledge arrives.
      }
    }
    return piece;
  }

  Result<std::optional<std::string>> say(const sync::wire::WatchEvent& event) {
    if (event.type == WireType::bookmark || event.type == WireType::error) return frame(event);
    TRY(const sync::wire::ObjectHeader header, sync::wire::read_any_header(event.object));
    const sync::watch::CacheEvent delivered{
        .type = event_type(event.type),
        .key = {header.namespace_name, header.name},
        .object = {.uid = header.uid, .bytes = std::make_shared<const std::string>(event.object)}};
    return watch_.frames(kind_, delivered);
  }

  [[nodiscard]] std::string frame(const sync::wire::WatchEvent& event) const {
    const bool protobuf = kind_.encoding == sync::wire::Encoding::protobuf;
    return protobuf ? sync::wire::encode_protobuf_event(event.type, event.object)
                    : sync::wire::encode_event(event.type, event.object);
  }

  std::string end(const sync::wire::ApiStatus& status) {
    ended_ = true;
    inner_->cancel();
    return sync::watch::error_frame(kind_, status.body());
  }

  Status read_frames(std::string_view bytes) {
    const bool protobuf = kind_.encoding == sync::wire::Encoding::protobuf;
    TRY(const std::vector<std::string> frames,
        protobuf ? protobuf_frames_.feed(bytes) : json_frames_.feed(bytes));
    for (const std::string& each : frames) {
      TRY(sync::wire::WatchEvent event,
          protobuf ? sync::wire::decode_protobuf_event(each) : sync::wire::decode_event(each));
      waiting_.push_back(std::move(event));
    }
    return {};
  }

  AnswerFilters& filters_;
  std::shared_ptr<http::BodyStream> inner_;
  FilteredWatch watch_;
  sync::wire::ScopeKind kind_;
  sync::wire::FrameSplitter json_frames_;
  sync::wire::ProtobufFrames protobuf_frames_;
  std::deque<sync::wire::WatchEvent> waiting_;
  bool ended_ = false;
  bool cancelled_ = false;
};

}  // namespace

std::shared_ptr<http::BodyStream> filtered_stream(AnswerFilters& filters, const FilterRequest& call,
                                                  const http::Response& answer) {
  return std::make_shared<FilteredStream>(filters, call, answer);
}

}  // namespace holdfast::agent
