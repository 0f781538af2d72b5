// Trees of named tensors: inserting, reading, updating, packing and unpacking.
//
// labels: more
// test:
// expect: {'layer1.bias': Tensor[bias float32 (32,)], 'layer1.weight': Tensor[weight float32 (4, 32)]
// expect: 'layer2.bias': Tensor[second.bias float32 (32,)], 'layer2.weight': Tensor[second.weight float32 (4, 32)]}
// expect: layer1: {'bias': Tensor[bias float32 (32,)], 'weight': Tensor[weight float32 (4, 32)]}
// expect: {'x': Tensor[x float32 (2, 4)], 'b': Tensor[bias float32 (32,)]}
// expect: new_bias_name, new_weight_name
// expect: Tensor[bias float32 (32,)], Tensor[second.bias float32 (32,)], Tensor[second.weight float32 (4, 32)]
// expect: Tensor[weight float32 (4, 32)]
// expect: layer2.bias: second.bias
#include <iostream>
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using tw::layers::Linear;

int main() {
  tw::Ir ir;
  const auto [factories, linear] = tw::create_graph(ir, Linear<32>{}, tw::TensorSpec{{2, 4}, tw::float32});
  const auto variables = factories.init();
  const auto variables2 = factories.init("second");
  const auto x = ir.variable(tw::uniform(0, 1), {2, 4}, tw::float32, "x");

  tw::NamedTensors collection;
  collection.insert("layer1", variables);
  collection.insert("layer2", variables2);
  std::cout << to_text(collection) << "\n\n";
  std::cout << "layer1: " << to_text(collection.subtree("layer1")) << "\n\n";

  auto tensors = tw::NamedTensors::from_dict({{"x", x}});
  tensors.update(tw::NamedTensors::from_dict({{"b", variables["bias"]}}));
  std::cout << to_text(tensors) << "\n\n";

  const auto packed = tw::NamedTensors::pack({"new_bias_name", "new_weight_name"}, variables.tensors());
  const auto [names, leaves] = packed.unpack();
  std::cout << join(names, ", ") << "\n\n";

  std::vector<tw::Text> sorted;
  for (const tw::Tensor& tensor : collection.tensors()) sorted.push_back(to_text(tensor));
  std::cout << join(sorted, ", ") << "\n\n";

  for (const auto& [name, tensor] : collection.named_tensors()) std::cout << name << ": " << tensor.name() << '\n';
}
