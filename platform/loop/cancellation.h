// How a cancelled task ends: by an exception, and in no other way.
//
// The rule: Tasks::cancel() makes a task leave by an exception at the await where it waits or, if
// it runs, at its next one. Asio throws at the next await in any case, so a Result that reported
// the cancellation besides would only make the caller act on an error that nobody asks about any
// more. What must happen however a task ends belongs in a destructor; only Tasks catches the
// exception.
//
// Errc::cancelled is about an object, not about the task: somebody else closed or stopped what the
// operation uses, for example with Connection::close() or BodyStream::cancel(). The task goes on.
//
// Asio reports both as operation_aborted. So every await that receives an error code tells them
// apart at once, before it looks at the code:
//
//     co_await socket.async_wait(tcp::socket::wait_read, into(ec));
//     leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);

#pragma once

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/error_code.hpp>

namespace holdfast::loop {

namespace asio = boost::asio;

// Throws if an await ended with an error because its task was cancelled. An await that succeeded is
// used; then the task leaves at its next one.
void leave_if_cancelled(const boost::system::error_code& ec, const asio::cancellation_state& task);

// Whether `error`, with which a task ended, is the exception of a cancelled task.
[[nodiscard]] bool is_cancellation(const boost::system::error_code& error);

}  // namespace holdfast::loop
