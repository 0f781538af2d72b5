// labels: alone
// Values of variables by names of run time, trees of host tensors, and timers. With libstdc++'s debug mode, whose containers may
// copy where others move.
#define _GLIBCXX_DEBUG
#include "tilewright/session/weights_dict.hpp"

#include <array>
#include <sstream>
#include <type_traits>
#include <vector>

#include "../../catch.hpp"
#include "tilewright/checkpoint/tensor_file.hpp"
#include "tilewright/core/timer.hpp"

namespace {
namespace tw = tilewright;
using tw::HostTensor, tw::WeightsDict;

/// What a session of three variables describes.
const std::array<HostTensor, 3> variables{{{.name = "fc1.bias", .spec = {{3}, tw::float32}},
                                           {.name = "fc1.weight", .spec = {{2, 3}, tw::float32}},
                                           {.name = "steps", .spec = {{}, tw::int32}}}};
/// The text of the error that a call throws; "" if it throws none.
std::string error_of(auto call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}
}  // namespace

TEST_CASE("WeightsDict: values that were set fit the variables that a session loads") {
  WeightsDict weights(variables);
  CHECK(weights.tensors().empty());
  CHECK(weights.find("steps") == nullptr);
  weights.set("fc1.bias", std::vector{1.f, 2.f, 3.f});
  const xt::xtensor<float, 2> matrix{{1, 2, 3}, {4, 5, 6}};
  weights.set("fc1.weight", matrix);
  weights.set("steps", 7);
  weights.set("fc1.bias", std::array{4.f, 5.f, 6.f});  // again: replaces
  const WeightsDict moved = std::move(weights);
  const auto matched = tw::detail::match_tensors(variables, moved, {});
  const auto* bias = reinterpret_cast<const float*>(matched.bytes[0].data());
  const auto* weight = reinterpret_cast<const float*>(matched.bytes[1].data());
  CHECK(std::vector(bias, bias + 3) == std::vector{4.f, 5.f, 6.f});
  CHECK(std::vector(weight, weight + 6) == std::vector{1.f, 2.f, 3.f, 4.f, 5.f, 6.f});
  CHECK(*reinterpret_cast<const int*>(matched.bytes[2].data()) == 7);
  CHECK(moved.tensors().size() == 3);
  STATIC_REQUIRE(!std::is_copy_constructible_v<WeightsDict>);
}

TEST_CASE("WeightsDict: another name, shape or dtype is an error when the value is set") {
  WeightsDict weights(variables);
  CHECK(error_of([&] { weights.set("fc2.bias", std::vector{1.f}); }) ==
        "WeightsDict: 'fc2.bias': no variable of this name: one of fc1.bias, fc1.weight, steps expected");
  CHECK(error_of([&] { weights.set("fc1.bias", std::vector{1.f}); }) ==
        "WeightsDict: 'fc1.bias': (1,) float32: (3,) float32 expected");
  CHECK(error_of([&] { weights.set("fc1.bias", std::vector{1, 2, 3}); }) ==
        "WeightsDict: 'fc1.bias': (3,) int32: (3,) float32 expected");
  CHECK(error_of([&] { weights.set("steps", 1.f); }) == "WeightsDict: 'steps': () float32: () int32 expected");
  const xt::xtensor<float, 2, xt::layout_type::column_major> columns{{1, 2, 3}, {4, 5, 6}};
  CHECK(error_of([&] { weights.set("fc1.weight", columns); }) ==
        "WeightsDict: 'fc1.weight': elements with gaps or in another order: row-major elements without gaps expected");
  CHECK(weights.tensors().empty());
}

TEST_CASE("named_tensor_data: host tensors as a tree of views with their whole names") {
  const std::array<float, 3> elements{1, 2, 3};
  std::array<HostTensor, 3> tensors = variables;
  tensors[0].bytes = std::as_bytes(std::span(elements));
  tw::NamedTensorData data = tw::named_tensor_data(tensors);
  CHECK(data.len_flat() == 3);
  CHECK(data["fc1.bias"].bytes.data() == tensors[0].bytes.data());
  const auto layer = data.filter_keys({"fc1"}).values_flat();
  REQUIRE(layer.size() == 2);
  CHECK(layer[1].name == "fc1.weight");
  CHECK(data.pop("steps").spec.dtype == tw::int32);
  CHECK(error_of([&] { data.pop("steps"); }) == "DotTree: no leaf 'steps': one of fc1.bias, fc1.weight expected");
  CHECK(error_of([&] { tw::named_tensor_data(std::array{tensors[2], tensors[2]}); }) ==
        "DotTree: 'steps' exists already: a new name, or overwrite, expected");
  std::string deep = "a";
  for (int i = 0; i < 200'000; ++i) deep += ".a";
  tensors[0].name = deep;
  CHECK(error_of([&] { tw::named_tensor_data(tensors); }) ==
        "named_tensor_data: a name of 400001 characters with more than 1,000 keys: at most 1,000 expected");
  tensors[0].name = std::string_view(deep).substr(0, 1999);
  CHECK(tw::named_tensor_data(tensors).len_flat() == 3);
}

TEST_CASE("Timer: a line with the title and the seconds at the end of the block") {
  std::ostringstream out;
  {
    const tw::Timer timer("load weights", out);
    CHECK(out.str().empty());
  }
  CHECK(out.str().starts_with("load weights: "));
  CHECK(out.str().ends_with(" s\n"));
}

TEST_CASE("TensorFile: tensors stay where they are while it keeps the memory of more files, and when it moves") {
  tw::TensorFile all("all");
  std::vector<const std::byte*> places;
  for (int i = 0; i < 20; ++i) {
    tw::TensorFile one("one");
    const auto& bytes = one.keep(std::vector<std::byte>(4, static_cast<std::byte>(i)));
    one.add(std::to_string(i), {{4}, tw::uint8}, bytes);  // a name that is so short that it has no memory of its own
    all.add(one.tensors()[0]);
    places.push_back(bytes.data());
    all.keep(std::move(one));
  }
  const tw::TensorFile moved = std::move(all);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const HostTensor& tensor = moved.tensors()[i];
    CHECK(tensor.name == std::to_string(i));
    CHECK(tensor.bytes.data() == places[i]);
    CHECK(tensor.bytes[3] == static_cast<std::byte>(i));
  }
}
