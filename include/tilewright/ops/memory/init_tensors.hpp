#pragma once
#include "tilewright/module/variable_factory.hpp"
#include "tilewright/ops/shape/init.hpp"

namespace tilewright {

namespace detail {
constexpr NamedTensors init_tensors(const NamedVariableFactories& factories, std::string_view prefix, InitType type) {
  const auto create = [type](std::string_view name, const VariableFactory& factory) {
    const TensorSpec& spec = factory.spec();
    const Tensor tensor = ops::init(factory.ir(), spec.shape, spec.dtype, type, name);
    if (tensor.valid()) factory.set_meta_shape(tensor);
    return tensor;
  };
  return factories.transform<Tensor>(prefix, create, true);
}
}  // namespace detail

constexpr NamedTensors NamedVariableFactories::init_zero(std::string_view prefix) const {
  return detail::init_tensors(*this, prefix, InitType::zero);
}
constexpr NamedTensors NamedVariableFactories::init_undef(std::string_view prefix) const {
  return detail::init_tensors(*this, prefix, InitType::undef);
}

}  // namespace tilewright
