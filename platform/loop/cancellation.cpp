#include "platform/loop/cancellation.h"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

namespace holdfast::loop {

void leave_if_cancelled(const boost::system::error_code& ec, const asio::cancellation_state& task) {
  if (!ec || task.cancelled() == asio::cancellation_type::none) return;
  throw boost::system::system_error(asio::error::operation_aborted);
}

bool is_cancellation(const boost::system::error_code& error) {
  return error == asio::error::operation_aborted;
}

}  // namespace holdfast::loop
