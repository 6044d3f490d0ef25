#include "sync/schedule/fit_status.h"

#include "platform/check.h"
#include "platform/text.h"

namespace holdfast::sync::schedule {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::success:
      return "Success";
    case Code::error:
      return "Error";
    case Code::unschedulable:
      return "Unschedulable";
    case Code::unresolvable:
      return "UnschedulableAndUnresolvable";
    case Code::pending:
      return "Pending";
  }
  UNREACHABLE();
}

std::string FitStatus::message() const { return join(reasons, ", "); }

}  // namespace holdfast::sync::schedule
