#include "agent/lab/apiserver/transcode.h"

#include <algorithm>
#include <utility>

#include "platform/log.h"
#include "sync/objects/protobuf_write.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/frames.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::string_view kinds[] = {"Node", "Pod", "Lease", "DaemonSet"};
constexpr std::string_view verbs[] = {"get", "list", "watch"};

// JSON events in, protobuf frames out.
class Transcoder final : public http::BodyStream {
 public:
  explicit Transcoder(std::shared_ptr<http::BodyStream> from) : from_(std::move(from)) {}

  asio::awaitable<Result<std::string>> next() override {
    for (;;) {
      Result<std::string> piece = co_await from_->next();
      // An empty piece is the end.
      const bool more = piece && !piece->empty();
      if (more) piece = frames_of(*piece);
      if (!more || !piece || !piece->empty()) co_return piece;
    }
  }
  void cancel() override { from_->cancel(); }

 private:
  Result<std::string> frames_of(std::string_view piece) {
    TRY(const std::vector<std::string> documents, documents_.feed(piece));
    std::string out;
    for (const std::string& document : documents) {
      TRY(const sync::wire::WatchEvent event, sync::wire::decode_event(document));
      TRY(const std::string object, sync::objects::to_protobuf(event.object));
      out += sync::wire::encode_protobuf_event(event.type, object);
    }
    return out;
  }

  std::shared_ptr<http::BodyStream> from_;
  sync::wire::FrameSplitter documents_;
};

}  // namespace

bool wants_protobuf(const Call& call) {
  const auto one_of = [](const auto& known, std::string_view text) {
    return std::find(std::begin(known), std::end(known), text) != std::end(known);
  };
  return call.view.form == sync::wire::Form::object && call.subresource == nullptr &&
         !call.resource().is_custom && one_of(kinds, call.resource().kind) &&
         one_of(verbs, call.info.verb) && call.accept.prefers_protobuf();
}

http::Response in_protobuf(http::Response response) {
  std::string type(sync::wire::protobuf_type);
  if (response.stream) {
    response.stream = std::make_shared<Transcoder>(std::move(response.stream));
    type += ";stream=watch";
  } else {
    auto body = sync::objects::to_protobuf(response.body);
    if (!body) {
      log_error("cannot answer in protobuf", {{"error", body.error()}});
      return response;
    }
    response.body = *std::move(body);
  }
  response.headers.set("Content-Type", std::move(type));
  return response;
}

}  // namespace holdfast::agent::lab
