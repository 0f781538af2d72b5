#pragma once
#include "../op_test.hpp"

namespace op_tests {

/// How windows move along the spatial axes.
struct Steps {
  Index stride{}, dilation{}, begin{};

  /// Of `in` elements along each axis, with a kernel of the given extents.
  Steps(const tw::WindowAttributes& given, const Index& in, const Index& kernel)
      : stride(in.size(), 1), dilation(in.size(), 1), begin(in.size(), 0) {
    for (std::size_t axis = 0; axis < in.size(); ++axis) {
      if (given.stride_count > 0) stride[axis] = given.stride[axis];
      if (given.dilation_count > 0) dilation[axis] = given.dilation[axis];
      if (given.pad_type == tw::PadType::not_set && given.padding_count > 0) begin[axis] = given.padding[axis];
      if (given.pad_type != tw::PadType::same_upper && given.pad_type != tw::PadType::same_lower) continue;
      const std::int64_t results = (in[axis] - 1) / stride[axis] + 1;
      const std::int64_t all = (results - 1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] + 1 - in[axis];
      if (all > 0) begin[axis] = given.pad_type == tw::PadType::same_upper ? all / 2 : (all + 1) / 2;
    }
  }
  std::int64_t place(std::size_t axis, std::int64_t result, std::int64_t of_kernel) const {
    return result * stride[axis] + of_kernel * dilation[axis] - begin[axis];
  }
};
inline Index spatial(const tw::Shape& shape) {
  Index result;
  for (int axis = 2; axis < shape.rank; ++axis) result.push_back(shape[axis]);
  return result;
}

}  // namespace op_tests
