#include "sync/api/codec_pod.h"

namespace holdfast::sync {

HOLDFAST_CODEC(Pod)

json::object encode_part(const PodCondition& condition) {
  return codec::Writer::write(condition).get_object();
}

json::object encode_part(const PodSpec& spec) { return codec::Writer::write(spec).get_object(); }

json::object encode_part(const PodStatus& status) {
  return codec::Writer::write(status).get_object();
}

}  // namespace holdfast::sync
