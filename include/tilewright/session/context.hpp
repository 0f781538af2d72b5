#pragma once
#include <exception>

namespace tilewright {

/// Keeps a session attached until the end of a block. The context that finds the session detached attaches it, which gives the
/// device the values of the host copy. At its end it copies the variables back to the host, unless the session's option
/// weights_to_host_on_exit is false or an exception leaves the block, and detaches the session. Others do nothing: contexts nest.
/// The session must not be moved meanwhile.
template <class Session>
class [[nodiscard]] SessionContext {
 public:
  explicit SessionContext(Session& session) : session_(session), attached_here_(!session.is_attached()) { session.attach(); }
  /// Throws what ops that precede a download throw; the session is detached all the same.
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
