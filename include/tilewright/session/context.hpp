#pragma once
#include <exception>

namespace tilewright {

/// Keeps a session attached until the end of a block. If the session is detached, the context attaches it and copies the
/// variables from the host copy to the device. At its end, that context copies the variables back to the host and detaches the
/// session. It does not copy if weights_to_host_on_exit is false or an exception leaves the block. Nested contexts are no-ops. Do
/// not move the session while a context exists.
template <class Session>
class [[nodiscard]] SessionContext {
 public:
  explicit SessionContext(Session& session) : session_(session), attached_here_(!session.is_attached()) { session.attach(); }
  /// Throws what ops before a download throw; the session is detached in this case, too.
  ~SessionContext() noexcept(false) {
    if (!attached_here_ || !session_.is_attached()) return;
    if (session_.options().weights_to_host_on_exit && std::uncaught_exceptions() == exceptions_) {
      try {
        session_.weights_to_host();
      } catch (...) {
        session_.detach();
        throw;
      }
    }
    session_.detach();
  }
  SessionContext(const SessionContext&) = delete;
  SessionContext& operator=(const SessionContext&) = delete;

 private:
  Session& session_;
  bool attached_here_;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace tilewright
