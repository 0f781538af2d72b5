// labels: alone standard-library tsan windows
#include "tilewright/data/prefetch.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../../catch.hpp"
#include "../../support/child_process.hpp"
#include "tilewright/core/platform/platform.hpp"

#if defined(__GLIBC__)
#include <pthread.h>
#endif

using tilewright::data::Prefetch;

TEST_CASE("Prefetch: items come in order, from two buffers") {
  Prefetch<std::vector<std::size_t>> items([](auto& item, std::size_t index) { item = {index}; });
  for (int sequence = 0; sequence < 2; ++sequence) {
    items.start(1000);
    const auto* before = &items.next();
    CHECK(before->at(0) == 0);
    for (std::size_t i = 1; i < 1000; ++i) {
      const auto* item = &items.next();
      REQUIRE(item->at(0) == i);
      REQUIRE(item != before);
      before = item;
    }
  }
}

TEST_CASE("Prefetch: makes one item ahead and no more") {
  std::atomic<int> made = 0;
  Prefetch<int> items([&](int& item, std::size_t index) { item = static_cast<int>(index), ++made; });
  items.start(10);
  for (int i = 0; i < 9; ++i) {
    CHECK(items.next() == i);
    while (made < i + 2) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(made == i + 2);
  }
  CHECK(items.next() == 9);
  CHECK(made == 10);
}

TEST_CASE("Prefetch: what making an item throws arrives where the item is taken") {
  Prefetch<int> items([](int& item, std::size_t index) {
    if (index == 2) throw std::runtime_error("no item " + std::to_string(index));
    item = static_cast<int>(index);
  });
  for (int sequence = 0; sequence < 2; ++sequence) {
    items.start(10);
    CHECK(items.next() == 0);
    CHECK(items.next() == 1);
    CHECK_THROWS_WITH(items.next(), "no item 2");
    CHECK_THROWS_WITH(items.next(), "no item 2");
  }
}

TEST_CASE("Prefetch: a sequence may be given up, and another started, at any moment") {
  std::atomic<std::size_t> base = 0;
  Prefetch<std::size_t> items([&](std::size_t& item, std::size_t index) { item = base + index; });
  for (std::size_t taken = 0; taken < 100; ++taken) {
    items.cancel();
    base = 1000 * taken;
    items.start(taken + taken % 3);
    for (std::size_t i = 0; i < taken; ++i) REQUIRE(items.next() == base + i);
  }
  for (int i = 0; i < 100; ++i) {
    Prefetch<int> unused([](int&, std::size_t) {});
    if (i % 2 == 0) unused.start(5);
  }
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// While it lives, the system makes no threads: there are no addresses for their stacks.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_t large;
    REQUIRE(pthread_attr_init(&large) == 0);
    REQUIRE(pthread_attr_getstacksize(&large, &before_) == 0);
    set(std::size_t{1} << 47);
  }
  ~NoThreads() { set(before_); }

 private:
  static void set(std::size_t stack_bytes) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_setattr_default_np(&attributes);
  }
  std::size_t before_ = 0;
};

TEST_CASE("Prefetch: without a thread, items are made when they are asked for, as long as there is none") {
  std::thread::id maker;
  Prefetch<std::size_t> items([&](std::size_t& item, std::size_t index) {
    if (index == 5) throw std::runtime_error("five");
    item = index * index;
    maker = std::this_thread::get_id();
  });
  {
    const NoThreads none;
    for (int sequence = 0; sequence < 2; ++sequence) {
      items.start(10);
      for (std::size_t i = 0; i < 5; ++i) {
        CHECK(items.next() == i * i);
        CHECK(maker == std::this_thread::get_id());
      }
      CHECK_THROWS_WITH(items.next(), "five");
      CHECK_THROWS_WITH(items.next(), "five");
    }
  }
  items.start(5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(items.next() == i * i);
  CHECK(maker != std::this_thread::get_id());
}
#endif

TEST_CASE("Prefetch: in a child that was forked while a thread makes items, calls are errors and do not wait") {
  if (is_sanitized || !tilewright::internal::counts_forks) return;
  Prefetch<std::size_t> items([](std::size_t& item, std::size_t index) { item = index; });
  items.start(1000);
  for (std::size_t i = 0; i < 10; ++i) REQUIRE(items.next() == i);
  CHECK(in_child([&](Report& report) {
          for (const bool starts : {false, true}) {
            try {
              if (starts) items.start(1000);
              (void)items.next();
              report.add("no error");
            } catch (const std::logic_error& error) {
              if (std::string(error.what()).find("fork") == std::string::npos) report.add(error.what());
            }
          }
        }) == "");
  CHECK(in_child([&](Report&) { items.~Prefetch(); }) == "");  // ends, though the thread that waits for work does not exist
  for (std::size_t i = 10; i < 1000; ++i) REQUIRE(items.next() == i);
}
