#include "platform/fs/errno.h"

namespace holdfast {

Errc errc_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ESRCH:
      return Errc::not_found;
    case EEXIST:
    case ENOTEMPTY:
      return Errc::conflict;
    case EACCES:
    case EPERM:
    case EROFS:
      return Errc::denied;
    case EINVAL:
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case ENOEXEC:
    case E2BIG:
      return Errc::invalid;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:  // fork() returns it at the limit on processes
      return Errc::exhausted;
    case EIO:
      return Errc::corrupt;
    default:
      return Errc::unavailable;
  }
}

tl::unexpected<Error> fail_errno(const std::string& doing, int error) {
  const std::error_code cause(error, std::generic_category());
  return fail(errc_of(error), doing + ": " + cause.message(), cause);
}

}  // namespace holdfast
