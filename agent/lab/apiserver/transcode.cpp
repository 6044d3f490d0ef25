#include "agent/lab/apiserver/transcode.h"

#include <algorithm>
#include <utility>

#include "platform/log.h"
#include "sync/objects/protobuf_write.h"
#include "sync/wire/json.h"
#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/frames.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::string_view kinds[] = {"Node", "Pod", "Lease", "DaemonSet"};
constexpr std::string_view verbs[] = {"get", "list", "watch"};
constexpr std::string_view verbs_of_one[] = {"get", "create", "update", "patch"};

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

// A PartialObjectMetadata. Unlike whole objects, it has its managed fields, which are most of it.
Result<std::string> metadata_to_protobuf(std::string_view body) {
  using sync::model::known_type;
  TRY(const auto value, sync::wire::parse_json(body));
  const auto& metadata = sync::wire::dig_object(sync::wire::as_object(value), {"metadata"});
  TRY(std::string raw, sync::objects::write_protobuf(known_type("ObjectMeta"), metadata));
  const auto* managed = metadata.if_contains("managedFields");
  if (managed != nullptr && managed->is_array()) {
    for (const auto& entry : managed->get_array()) {
      TRY(const std::string bytes, sync::objects::write_protobuf(known_type("ManagedFieldsEntry"),
                                                                 sync::wire::as_object(entry)));
      sync::wire::append_wire(raw, 17, bytes);
    }
  }
  std::string object;
  sync::wire::append_wire(object, 1, raw);
  return sync::wire::enveloped("meta.k8s.io/v1", "PartialObjectMetadata", object);
}

}  // namespace

bool wants_protobuf(const Call& call) {
  const auto one_of = [](const auto& known, std::string_view text) {
    return std::find(std::begin(known), std::end(known), text) != std::end(known);
  };
  const sync::wire::Form form = call.view.form;
  if (!call.accept.prefers_protobuf(form) || call.subresource != nullptr) return false;
  if (call.resource().is_custom || !one_of(kinds, call.resource().kind)) return false;
  if (form == sync::wire::Form::metadata) return one_of(verbs_of_one, call.info.verb);
  return form == sync::wire::Form::object && one_of(verbs, call.info.verb);
}

http::Response in_protobuf(http::Response response, sync::wire::Form form) {
  std::string type(sync::wire::protobuf_type);
  if (response.stream) {
    response.stream = std::make_shared<Transcoder>(std::move(response.stream));
    type += ";stream=watch";
  } else {
    auto body = form == sync::wire::Form::metadata ? metadata_to_protobuf(response.body)
                                                   : sync::objects::to_protobuf(response.body);
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
