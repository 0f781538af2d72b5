#pragma once
// A program in a Session of one thread and in a StaticSession, on the same arrays, which must leave the same bits.
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../catch.hpp"
#include "tilewright/session/static_session.hpp"
#include "tilewright/tilewright.hpp"

namespace support {

namespace tw = tilewright;

/// A session that runs on arrays by number of their streams.
template <auto build, tw::Target target>
struct SessionOnArrays : tw::Session<build, target> {
  using tw::Session<build, target>::Session;
  void run_on(tw::StreamMemory<tw::Session<build, target>::plan> arrays) { this->execute(arrays, {}); }
};

/// The name of a stream in the form of `"image"_s`.
template <const auto& plan, std::size_t stream>
constexpr auto name_of_stream() {
  return []<std::size_t... i>(std::index_sequence<i...>) {
    constexpr char characters[] = {plan.stream_name(stream)[i]..., '\0'};
    return tw::Name<tw::NameText<sizeof...(i) + 1>(characters)>();
  }(std::make_index_sequence<plan.stream_name(stream).size()>());
}

template <auto build, tw::Target target = tw::cpu>
class BothSessions {
  using Session = SessionOnArrays<build, target>;
  static constexpr const auto& plan = Session::plan;

 public:
  /// `integers_below`: random integers in streams and variables are from 1 to the number before it.
  explicit BothSessions(std::uint64_t seed = 1, int integers_below = 10)
      : session_({.seed = seed, .threads = 1}),
        one_(std::make_unique<tw::StaticSession<build, target>>()),
        below_(integers_below) {
    static_assert(sizeof *one_ == tw::static_bytes<build, target>.total());
    REQUIRE(one_->init(seed).is_done());
    for_each_stream([&]<std::size_t i>() { arrays_[i].resize(tw::detail::array_bytes(plan, i, 1)); });
  }
  Session& session() { return session_; }
  tw::StaticSession<build, target>& one() { return *one_; }

  /// Gives the variables random values.
  void draw_variables() {
    std::vector<std::vector<std::byte>> values;
    std::vector<tw::HostTensor> tensors;
    for (const tw::HostTensor& tensor : session_.host_tensors()) {
      values.emplace_back(tensor.bytes.size());
      draw(tensor.spec.dtype, values.back());
      tensors.push_back({tensor.name, tensor.spec, values.back()});
    }
    session_.load_tensors({"random values", tensors});
    REQUIRE(one_->load_from_session(session_).is_done());
  }
  /// Runs both on random arrays, and compares all variables and outputs.
  void run(int times = 1) {
    for (int time = 0; time < times; ++time) {
      tw::StreamMemory<plan> memory{};
      for_each_stream([&]<std::size_t i>() {
        const bool is_input = plan.streams[i].direction == tw::StreamDirection::host_to_device;
        if (is_input) draw(plan.streams[i].spec.dtype, arrays_[i]);
        memory[i] = arrays_[i].data();
        if (is_input) std::memcpy(of_one<i>().data(), arrays_[i].data(), arrays_[i].size());
      });
      session_.run_on(memory);
      REQUIRE(one_->run().is_done());
      for_each_stream([&]<std::size_t i>() {
        INFO(plan.stream_name(i));
        CHECK(std::memcmp(of_one<i>().data(), arrays_[i].data(), arrays_[i].size()) == 0);
      });
    }
    check_variables();
  }
  void check_variables() {
    REQUIRE(one_->weights_to_host().is_done());
    const auto expected = session_.host_tensors(), found = std::as_const(*one_).host_tensors();
    for (std::size_t v = 0; v < expected.size(); ++v) {
      INFO(expected[v].name);
      CHECK(found[v].name == expected[v].name);
      CHECK(std::ranges::equal(found[v].bytes, expected[v].bytes));
    }
  }

 private:
  static void for_each_stream(auto f) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      const auto call = [&]<std::size_t stream>() {
        if constexpr (plan.streams[stream].used) f.template operator()<stream>();
      };
      (call.template operator()<i>(), ...);
    }(std::make_index_sequence<plan.streams.size()>());
  }
  template <std::size_t i>
  auto of_one() {
    return one_->stream(name_of_stream<plan, i>());
  }
  void draw(tw::DType dtype, std::span<std::byte> memory) {
    tw::visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
      for (std::size_t i = 0; i < memory.size() / sizeof(T); ++i) {
        double number = 1 + static_cast<double>(random_() % static_cast<unsigned>(below_ - 1));  // none is 0, to divide by
        if (tw::is_floating_point(dtype)) number = static_cast<double>(random_() % 2001) / 500 - 2;
        if (dtype == tw::boolean) number = static_cast<double>(random_() % 2);
        reinterpret_cast<T*>(memory.data())[i] = static_cast<T>(number);
      }
    });
  }

  Session session_;
  std::unique_ptr<tw::StaticSession<build, target>> one_;
  int below_;
  std::mt19937 random_{7};
  std::vector<std::byte> arrays_[plan.streams.size() + 1];
};

}  // namespace support
