#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/module/dot_tree.hpp"
#include "tilewright/session/host_array.hpp"
#include "tilewright/session/host_tensor.hpp"

namespace tilewright {

/// Tensors in host memory as a tree by their dotted names: views, for example of a session's variables or of a file. Unknown,
/// repeated and invalid names throw std::out_of_range.
using NamedTensorData = DotTree<HostTensor>;

/// Returns host tensors as a tree. The tensors keep their whole names: a part of the tree can be loaded again. A name of more
/// than 1,000 keys throws std::out_of_range, too.
///
///     const auto data = tw::named_tensor_data(session.host_tensors());
///     const auto layer = data.filter_keys({"fc1"}).values_flat();  // fc1.weight and fc1.bias
inline NamedTensorData named_tensor_data(std::span<const HostTensor> tensors) {
  NamedTensorData result;
  for (const HostTensor& tensor : tensors) {
    if (std::ranges::count(tensor.name, '.') >= 1000)  // the tree's functions call themselves for each level
      throw std::out_of_range("named_tensor_data: a name of " + std::to_string(tensor.name.size()) +
                              " characters with more than 1,000 keys: at most 1,000 expected");
    result.insert(tensor.name, tensor);
  }
  return result;
}

/// Values of variables by names that are known at run time only. Each array is checked when it is set, and copied. A session
/// loads them together.
///
///     tw::WeightsDict weights(session.host_tensors());
///     weights.set("fc1.bias", array);
///     session.load_tensors(weights, {.allow_missing = true});  // others keep their values
class WeightsDict {
 public:
  /// Takes the names, shapes and dtypes of variables, such as those of session.host_tensors(). No variable has a value yet.
  explicit WeightsDict(std::span<const HostTensor> variables) {
    for (const HostTensor& variable : variables) entries_[std::string(variable.name)].spec = variable.spec;
  }
  WeightsDict(WeightsDict&&) = default;
  WeightsDict& operator=(WeightsDict&&) = default;

  /// Sets the value of a variable. `array`: a number, or an array of the variable's shape and dtype, whose elements are row-major
  /// without gaps. Throws std::invalid_argument for other arrays and for an unknown name.
  template <class Array>
    requires(detail::HostNumber<Array> || detail::HostArray<Array>)
  void set(std::string_view name, const Array& array) {
    const TensorSpec spec{detail::host_shape_of(array), detail::host_dtype<Array>()};
    if constexpr (detail::HostNumber<Array>) {
      set_bytes(name, spec, std::as_bytes(std::span(&array, 1)));
    } else {
      if (!detail::stands_dense(array, spec.shape))
        fail(name, "elements with gaps or in another order: row-major elements without gaps expected");
      const auto count = static_cast<std::size_t>(spec.shape.nelms());
      set_bytes(name, spec, std::as_bytes(std::span(detail::first_element(array), count)));
    }
  }
  /// Sets the value of a variable from a tensor of the same shape and dtype, for example of a file. The errors are those of set.
  void set(std::string_view name, const HostTensor& tensor) { set_bytes(name, tensor.spec, tensor.bytes); }

  /// Returns the value that was set for a variable, or null.
  const HostTensor* find(std::string_view name) const {
    for (const HostTensor& tensor : tensors_)
      if (tensor.name == name) return &tensor;
    return nullptr;
  }
  /// Returns all values that were set, in the order of the first calls of set.
  std::span<const HostTensor> tensors() const { return tensors_; }
  operator HostTensors() const { return {"WeightsDict", tensors_}; }

 private:
  struct Entry {
    TensorSpec spec{};
    std::vector<std::byte> bytes{};
    bool is_set = false;
  };
  [[noreturn]] static void fail(std::string_view name, std::string_view problem) {
    throw std::invalid_argument("WeightsDict: '" + std::string(name) + "': " + std::string(problem));
  }
  void set_bytes(std::string_view name, const TensorSpec& spec, std::span<const std::byte> bytes) {
    const auto found = entries_.find(name);
    if (found == entries_.end()) fail(name, "no variable of this name: " + names() + " expected");
    Entry& entry = found->second;
    if (spec != entry.spec) fail(name, text(to_text(spec), ": ", to_text(entry.spec), " expected").view());
    entry.bytes.assign(bytes.begin(), bytes.end());
    const HostTensor tensor{.name = found->first, .spec = entry.spec, .bytes = entry.bytes};
    if (entry.is_set) *std::ranges::find(tensors_, tensor.name, &HostTensor::name) = tensor;
    else tensors_.push_back(tensor);
    entry.is_set = true;
  }
  std::string names() const {
    std::string result;
    for (const auto& [name, entry] : entries_) result += (result.empty() ? "one of " : ", ") + name;
    return result.empty() ? "a session with variables" : result;
  }

  std::map<std::string, Entry, std::less<>> entries_{};
  std::vector<HostTensor> tensors_{};  // views of entries_
};

/// Writes the values of a WeightsDict to a session's variables, by one transfer. Variables without a value keep theirs. The
/// WeightsDict has checked each array when it was set. Throws LoadError if the session has no such variables.
template <class Session>
void write_variables_pb(Session& session, const WeightsDict& weights) {
  session.load_tensors(weights, {.allow_missing = true});
}

}  // namespace tilewright
