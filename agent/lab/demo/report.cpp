#include "agent/lab/demo/report.h"

namespace holdfast::demo {
std::string escape_html(std::string_view text) { return std::string(text); }
std::string timeline_svg(const History&, const Cast&) { return {}; }
std::string report_page(const History&, const Cast&, const std::vector<Verdict>&) { return "x"; }
}  // namespace holdfast::demo
