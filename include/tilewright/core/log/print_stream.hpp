#pragma once
#include <iostream>
#include <mutex>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "tilewright/core/log/logger.hpp"

namespace tilewright {

namespace detail {
/// The stream to which programs print. All sessions share it, like the standard streams.
class PrintStream {
 public:
  std::ostream* exchange(std::ostream* stream) {
    const std::lock_guard lock(mutex_);
    return std::exchange(stream_, stream);
  }
  void write(std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (stream_) stream_->write(text.data(), static_cast<std::streamsize>(text.size())).flush();
  }
  LogLevel exchange_level(LogLevel least) {
    const std::lock_guard lock(mutex_);
    const LogLevel before = least_level();
    least_ = least;
    return before;
  }
  bool shows(LogLevel level) {
    const std::lock_guard lock(mutex_);
    return level >= least_level();
  }

 private:
  LogLevel least_level() {
    if (!least_) least_ = Logger::levels_from_environment()[LogModule::prints];
    return *least_;
  }

  std::mutex mutex_;
  std::ostream* stream_ = &std::cerr;
  std::optional<LogLevel> least_;  // of texts with a level that are written; nothing: not yet read from the environment
};
inline PrintStream print_stream;
/// The replica whose op runs on this thread, for texts that name replicas; -1: none.
inline thread_local int printing_replica = -1;
/// Resets the replica of this thread's texts at its end.
struct ReplicaNames {
  ~ReplicaNames() { printing_replica = -1; }
};
}  // namespace detail

/// Sends the texts of print_tensor to another stream, which must live until it is replaced; null: to none. Returns the previous
/// stream, at first std::cerr. May be called while programs run: each text goes to one of the two streams as a whole.
inline std::ostream* set_print_stream(std::ostream* stream) { return detail::print_stream.exchange(stream); }

/// Sets the least level of the texts that print_tensor and print_text write, for all sessions; LogLevel::off: none is written.
/// Texts without a level are always written. Returns the previous level. At first, it is the level of the module `prints` in
/// TILEWRIGHT_LOG_CONFIG, or else TILEWRIGHT_LOG_LEVEL, or else LogLevel::warn, which the process reads once. May be called while
/// programs run. Errors of the first call: those of Logger::levels_from_environment.
inline LogLevel set_print_level(LogLevel least) { return detail::print_stream.exchange_level(least); }

}  // namespace tilewright
