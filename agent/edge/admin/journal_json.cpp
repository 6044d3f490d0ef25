#include "agent/edge/admin/journal_json.h"

#include "platform/time.h"
#include "sync/wire/json.h"

namespace holdfast::agent {

std::string journal_json(const std::vector<store::Record>& records) {
  sync::json::array rows;
  for (const store::Record& record : records) {
    auto detail = record.detail.empty() ? Result<sync::json::value>(nullptr)
                                        : sync::wire::parse_json(record.detail);
    rows.push_back(sync::json::object{{"seq", record.seq},
                                      {"at", format_rfc3339(record.at, TimeDigits::micros)},
                                      {"kind", record.kind},
                                      {"subject", record.subject},
                                      {"what", record.what},
                                      {"detail", detail ? *detail : sync::json::value(nullptr)},
                                      {"entry", record.entry}});
  }
  return sync::wire::serialize(sync::json::value(std::move(rows)));
}

}  // namespace holdfast::agent
