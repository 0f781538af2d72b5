// Any bytes are a .safetensors file for the variables of a StaticSession, or a status. A file that both readers take has the same
// bytes for both.
#include "round_trip.hpp"
#include "tilewright/checkpoint/safetensors.hpp"
#include "tilewright/session/one_object/safetensors_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace tw = tilewright;
  const std::array<tw::detail::FileVariable, 2> variables{
      {{.name = "f32", .dtype = "F32", .spec = {.shape = {2, 3}, .dtype = tw::float32}},
       {.name = "naïve", .dtype = "BOOL", .spec = {.shape = {4}, .dtype = tw::boolean}}}};
  std::array<const std::byte*, 2> found{};
  const auto file = as_file(data, size);
  if (!tw::detail::SafetensorsReader(variables, found).read(file).is_done()) return 0;
  try {
    const auto other = tw::parse_safetensors(std::vector(file), "input");
    for (std::size_t v = 0; v < variables.size(); ++v) {
      const auto* tensor = other.find(variables[v].name);
      if (!tensor || tensor->spec != variables[v].spec || !std::equal(tensor->bytes.begin(), tensor->bytes.end(), found[v]))
        std::abort();
    }
  } catch (const tw::LoadError&) {  // this reader also looks at tensors that are no variables
  }
  return 0;
}
