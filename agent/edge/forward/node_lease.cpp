#include "agent/edge/forward/node_lease.h"

#include <algorithm>

#include "platform/text.h"
#include "sync/autonomy/admit.h"
#include "sync/wire/codec.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/header.h"

namespace holdfast::agent {
namespace {

const std::string leases_path = "/apis/coordination.k8s.io/v1/namespaces/" +
                                std::string(sync::autonomy::lease_namespace) + "/leases";

// Nothing here needs them, and the API server keeps them when they are missing in a write.
constexpr sync::wire::DecodeOptions without_managed_fields{.keep_managed_fields = false};

bool same_but_time(const sync::Lease& known, sync::Lease wanted) {
  wanted.spec.renew_time = known.spec.renew_time;
  return wanted == known;
}

ApiRequest whole(std::string target, const sync::Lease& lease) {
  return {.method = http::Method::put,
          .target = std::move(target),
          .body = sync::wire::encode_bytes(lease)};
}

ApiRequest time_patch(std::string target, const sync::Lease& lease, sync::json::object body) {
  body["spec"] =
      sync::json::object{{"renewTime", format_rfc3339(*lease.spec.renew_time, TimeDigits::micros)}};
  return {.method = http::Method::patch,
          .target = std::move(target),
          .body = sync::wire::serialize(body),
          .content_type = "application/merge-patch+json",
          .repeatable = true};
}

// The cheapest renewal, because it is sent every ten seconds, maybe over a metered link: it patches
// the time only, fails if somebody else has written the lease, and asks for an answer with the
// metadata only, if possible in protobuf, which needs little more than half of the bytes. Unless
// the lease `is_lean`, its managedFields are removed.
ApiRequest cheap_patch(std::string target, const sync::Lease& lease, bool is_lean) {
  sync::json::object metadata{{"resourceVersion", lease.metadata.resource_version}};
  if (!is_lean) metadata["managedFields"].emplace_array().emplace_back(sync::json::object{});
  ApiRequest patch = time_patch(std::move(target), lease, {{"metadata", std::move(metadata)}});
  const std::string form = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  patch.accept = std::string(sync::wire::protobuf_type) + form + ",application/json" + form;
  return patch;
}

// The renewal after a write without an answer, which may have changed the version: it is tied to
// none, and the answer shows the whole lease.
ApiRequest unconditional_patch(std::string target, const sync::Lease& lease) {
  return time_patch(std::move(target), lease, {});
}

}  // namespace

NodeLease::NodeLease(std::string node_name, Duration lease_duration, Duration kubelet_grace,
                     const Clock& clock)
    : node_name_(std::move(node_name)),
      lease_duration_(lease_duration),
      clock_(clock),
      kubelet_(kubelet_grace, clock.mono()),
      written_at_(clock.mono()),
      renewed_at_(clock.mono()) {
  lease_.metadata.name = node_name_;
  lease_.metadata.namespace_name = sync::autonomy::lease_namespace;
}

void NodeLease::refresh(sync::Lease& lease) {
  using std::chrono::microseconds;
  using std::chrono::seconds;
  // renewTime has microseconds on the wire, and each renewal must be later than all before.
  const WallTime now = std::chrono::floor<microseconds>(clock_.wall());
  const WallTime known = std::max(last_renewal_, lease.spec.renew_time.value_or(WallTime{}));
  last_renewal_ = std::max(now, known + microseconds(1));
  lease.spec.holder_identity = node_name_;
  const auto duration = std::chrono::duration_cast<seconds>(lease_duration_).count();
  lease.spec.lease_duration_seconds =
      static_cast<std::int32_t>(std::max<std::int64_t>(1, duration));
  lease.spec.renew_time = last_renewal_;
  set_owner(lease);
}

void NodeLease::set_owner(sync::Lease& lease) const {
  if (node_uid_.empty()) return;
  auto& owners = lease.metadata.owner_references;
  if (owners.empty()) {
    sync::OwnerReference owner;
    owner.api_version = "v1";
    owner.kind = "Node";
    owner.name = node_name_;
    owner.uid = node_uid_;
    owners.push_back(std::move(owner));
    return;
  }
  const auto dead =
      std::find_if(owners.begin(), owners.end(), [this](const sync::OwnerReference& owner) {
        return owner.kind == "Node" && owner.name == node_name_ && owner.uid != node_uid_;
      });
  if (dead == owners.end() || corrected_for_ == node_uid_) return;
  dead->uid = node_uid_;
}

Status NodeLease::adopt(Result<std::string> answer) {
  if (!answer) return fail("lease", answer.error());
  TRY(lease_, sync::wire::decode_bytes<sync::Lease>(*answer, without_managed_fields));
  is_lean_ = false;
  corrected_for_ = node_uid_;
  renewed_at_ = written_at_;
  note_version(lease_.metadata.resource_version);
  return {};
}

void NodeLease::note_version(std::string_view text) {
  const auto version = sync::objects::parse_version(text);
  if (!version || *version == 0) return;
  if (*version < newest_) setback_ = {newest_, *version};
  newest_ = *version;
  shown_ = *version;
}

Status NodeLease::adopt_version(sync::Lease written, Result<std::string> answer) {
  if (!answer) return fail("lease", answer.error());
  TRY(const sync::wire::ObjectHeader header, sync::wire::read_any_header(*answer));
  lease_ = std::move(written);
  is_lean_ = true;
  renewed_at_ = written_at_;
  lease_.metadata.resource_version = header.resource_version;
  note_version(header.resource_version);
  return {};
}

std::string NodeLease::target() const { return leases_path + "/" + percent_encode(node_name_); }

asio::awaitable<Status> NodeLease::look(Uplink& uplink) {
  const MonoTime asked = clock_.mono();
  ApiRequest get{.target = target()};
  const auto found = co_await uplink.heartbeat(std::move(get));
  Status done;
  if (!found && found.error().code != Errc::not_found) done = fail("lease", found.error());
  if (found) {
    renewed_at_ = asked;
    const auto header = sync::wire::read_header(*found);
    if (header) note_version(header->resource_version);
  }
  co_return done;
}

asio::awaitable<Status> NodeLease::renew(Uplink& uplink) {
  shown_ = 0;
  if (kubelet_.is_inactive(clock_.mono())) co_return co_await look(uplink);
  const std::string path = target();
  // If the lease is known and nobody else has changed it, one write is enough. Otherwise it is read
  // first, and created if it is missing.
  if (!lease_.metadata.resource_version.empty()) {
    sync::Lease wanted = lease_;
    refresh(wanted);
    written_at_ = clock_.mono();
    const bool only_time = same_but_time(lease_, wanted);
    const bool unanswered = unanswered_ && only_time;
    ApiRequest write = whole(path, wanted);
    if (only_time) write = cheap_patch(path, wanted, is_lean_);
    if (unanswered) write = unconditional_patch(path, wanted);
    unanswered_ = true;  // also if this is cancelled
    auto answer = co_await uplink.heartbeat(std::move(write));
    const bool stale = !answer && (answer.error().code == Errc::conflict ||
                                   answer.error().code == Errc::not_found);
    unanswered_ = !answer && !stale;
    if (!stale && unanswered) co_return adopt(std::move(answer));
    if (!stale && only_time) co_return adopt_version(std::move(wanted), std::move(answer));
    if (!stale) co_return adopt(std::move(answer));
    lease_.metadata.resource_version.clear();
  }
  ApiRequest get{.target = path};
  auto found = co_await uplink.heartbeat(std::move(get));
  if (!found && found.error().code == Errc::not_found) co_return co_await create(uplink);
  if (!found) co_return fail("lease", found.error());
  sync::Lease wanted;
  CO_TRY(wanted, sync::wire::decode_bytes<sync::Lease>(*found, without_managed_fields));
  refresh(wanted);
  written_at_ = clock_.mono();
  auto written = co_await uplink.heartbeat(whole(path, wanted));
  co_return adopt(std::move(written));
}

asio::awaitable<Status> NodeLease::create(Uplink& uplink) {
  ApiRequest get{.target = "/api/v1/nodes/" + percent_encode(node_name_)};
  const auto node = co_await uplink.heartbeat(std::move(get));
  if (!node) co_return fail("the Node, without which no lease is created", node.error());
  sync::wire::ObjectHeader header;
  CO_TRY(header, sync::wire::read_header(*node));
  set_node_uid(header.uid);
  sync::Lease wanted;
  wanted.metadata.name = node_name_;
  wanted.metadata.namespace_name = sync::autonomy::lease_namespace;
  refresh(wanted);
  written_at_ = clock_.mono();
  ApiRequest write = whole(leases_path, wanted);
  write.method = http::Method::post;
  auto written = co_await uplink.heartbeat(std::move(write));
  co_return adopt(std::move(written));
}

std::string NodeLease::renew_locally(std::string_view version) {
  sync::Lease shown = lease_;
  refresh(shown);
  shown.metadata.resource_version = version;
  return sync::wire::encode_bytes(shown);
}

}  // namespace holdfast::agent
