// Any bytes are a .npz file that can be written and read again, or a LoadError.
#include "tilewright/checkpoint/npz.hpp"

#include "round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace tw = tilewright;
  try {
    const auto file = tw::parse_npz(as_file(data, size), "input");
    require_equal(file, tw::parse_npz(tw::detail::NpzWriter(file.tensors()).bytes(), "written"));
  } catch (const tw::LoadError&) {
  }
  return 0;
}
