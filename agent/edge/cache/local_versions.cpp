#include "agent/edge/cache/local_versions.h"

#include <limits>

#include "platform/check.h"

namespace holdfast::agent {

Result<sync::objects::Version> LocalVersions::next() {
  TRY(const std::int64_t next,
      file_.run([](CacheFile::Tables& tables) { return tables.versions.next(); }));
  return sync::objects::first_local_version + static_cast<sync::objects::Version>(next);
}

bool LocalVersions::has_assigned(sync::objects::Version local) {
  CHECK(sync::objects::is_local(local));
  const sync::objects::Version number = local - sync::objects::first_local_version;
  constexpr auto last = std::numeric_limits<std::int64_t>::max();
  if (number > static_cast<sync::objects::Version>(last)) return false;
  return file_
      .run([number](CacheFile::Tables& tables) {
        return tables.versions.has_returned(static_cast<std::int64_t>(number));
      })
      .value_or(false);
}

}  // namespace holdfast::agent
