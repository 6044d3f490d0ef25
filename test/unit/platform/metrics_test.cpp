#include "platform/metrics.h"

namespace holdfast {
namespace {

TEST(Metrics, PrintAsPrometheusReadsThem) {
  Metrics metrics;
  metrics.counter("requests_total", "Requests.", {{"code", "200"}}).add();
  metrics.counter("requests_total", "Requests.", {{"code", "200"}}).add(2);
  metrics.gauge("outbox_entries", "Writes that wait.").set(7);
  metrics.histogram("read_seconds", "Reads.", {0.1, 1}).observe(0.5);
  EXPECT_EQ(metrics.text(),
            "# HELP requests_total Requests.\n"
            "# TYPE requests_total counter\n"
            "requests_total{code=\"200\"} 3\n"
            "# HELP outbox_entries Writes that wait.\n"
            "# TYPE outbox_entries gauge\n"
            "outbox_entries 7\n"
            "# HELP read_seconds Reads.\n"
            "# TYPE read_seconds histogram\n"
            "read_seconds_count 1\n"
            "read_seconds_sum 0.5\n"
            "read_seconds_bucket{le=\"0.1\"} 0\n"
            "read_seconds_bucket{le=\"1\"} 1\n"
            "read_seconds_bucket{le=\"+Inf\"} 1\n");
}

}  // namespace
}  // namespace holdfast
