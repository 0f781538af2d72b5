#pragma once
#include <iostream>
#include <mutex>
#include <ostream>
#include <string_view>
#include <utility>

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

 private:
  std::mutex mutex_;
  std::ostream* stream_ = &std::cerr;
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

}  // namespace tilewright
