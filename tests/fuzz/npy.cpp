// Any bytes are an array of a .npz file or an error. (Fuzzing the whole archive rarely gets past its checksums.)
#include "tilewright/checkpoint/npy.hpp"

#include "round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace tw = tilewright;
  const auto fail = [](const std::string& found, const std::string& expected) {
    throw tw::LoadError("fuzz", "input", "array", found, expected);
  };
  try {
    const auto bytes = as_file(data, size);
    const auto array = tw::detail::parse_npy(bytes, fail);
    const auto header = tw::detail::npy_header(array.spec);
    auto written = as_file(reinterpret_cast<const std::uint8_t*>(header.data()), header.size());
    written.insert(written.end(), array.elements.begin(), array.elements.end());
    const auto again = tw::detail::parse_npy(written, fail);
    if (again.spec != array.spec || !std::ranges::equal(again.elements, array.elements)) std::abort();
  } catch (const tw::LoadError&) {
  }
  return 0;
}
