#pragma once
#include <algorithm>
#include <string>

#include "tilewright/core/format_tensor.hpp"
#include "tilewright/core/log/print_stream.hpp"
#include "tilewright/ops/memory/print_tensor.hpp"

namespace tilewright {

namespace detail {
template <class T>
void print_elements(const PrintAttributes& attributes, const T* elements, const Shape& shape) {
  if (attributes.level != 0 && !print_stream.shows(static_cast<LogLevel>(attributes.level - 1))) return;
  std::string text = printing_replica < 0 ? "" : "replica " + std::to_string(printing_replica) + ": ";
  text.append(attributes.title, std::find(attributes.title, attributes.title + PrintAttributes::max_title, '\0'));
  if (attributes.of_gradient) text += "_gradient";
  if (!attributes.is_text) text += ": " + format_tensor(elements, shape, attributes.format);
  print_stream.write(text + '\n');
}
}  // namespace detail

template <PackedAttributes A, class X, class Y>
inline void PrintTensor::compute(X x, Y y) {
  detail::print_elements(unpack<Attributes>(A), x.data, X::shape);
  if (x.data != y.data) std::copy_n(x.data, X::shape.nelms(), y.data);
}

}  // namespace tilewright
