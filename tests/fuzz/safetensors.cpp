// Any bytes are a .safetensors file that can be written and read again, or a LoadError.
#include "tilewright/checkpoint/safetensors.hpp"

#include "round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace tw = tilewright;
  try {
    const auto file = tw::parse_safetensors(as_file(data, size), "input");
    std::vector<std::byte> written;
    const tw::detail::SafetensorsParts parts("fuzz", file.tensors(), file.metadata());
    for (const auto& part : parts.parts) written.insert(written.end(), part.begin(), part.end());
    require_equal(file, tw::parse_safetensors(std::move(written), "written"));
  } catch (const tw::LoadError&) {
  }
  return 0;
}
