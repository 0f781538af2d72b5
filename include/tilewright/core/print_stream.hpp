#pragma once
#include <iostream>
#include <mutex>
#include <ostream>
#include <string_view>
#include <utility>

namespace tilewright {

namespace detail {
/// Where programs print. One for all sessions, as the standard streams are.
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

 private:
  std::mutex mutex_;
  std::ostream* stream_ = &std::cerr;
};
inline PrintStream print_stream;
}  // namespace detail

/// Sends what print_tensor prints to another stream, which must live until it is replaced; null: to none. Returns the one before,
/// std::cerr at first. It may be called while programs run: a text goes to one stream or the other as a whole.
inline std::ostream* set_print_stream(std::ostream* stream) { return detail::print_stream.exchange(stream); }

}  // namespace tilewright
