#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tilewright/distributed/mpi.hpp"
#include "tilewright/distributed/planned_collective.hpp"

namespace tilewright::internal {

/// MPI's type for elements of a dtype; MPI_DATATYPE_NULL where it has none that computes alike. Integers are unsigned, so that
/// sums and products wrap around, but for minima and maxima.
inline MPI_Datatype mpi_type(DType dtype, bool is_ordered) {
  switch (dtype) {
    case DType::float32: return MPI_FLOAT;
    case DType::float64: return MPI_DOUBLE;
    case DType::int8: return is_ordered ? MPI_INT8_T : MPI_UINT8_T;
    case DType::int16: return is_ordered ? MPI_INT16_T : MPI_UINT16_T;
    case DType::int32: return is_ordered ? MPI_INT32_T : MPI_UINT32_T;
    case DType::int64: return is_ordered ? MPI_INT64_T : MPI_UINT64_T;
    case DType::uint8: return MPI_UINT8_T;
    case DType::uint16: return MPI_UINT16_T;
    case DType::uint32: return MPI_UINT32_T;
    case DType::uint64: return MPI_UINT64_T;
    default: return MPI_DATATYPE_NULL;
  }
}

/// An all-reduce over all replicas in two levels: of the replicas that this process holds, then between processes, by
/// MPI_Allreduce. It takes no memory of its own.
class HierarchicalAllReduce {
 public:
  /// Makes MPI's ops for minima and maxima, which give NaN if one of the elements is, as MPI_MIN and MPI_MAX need not.
  HierarchicalAllReduce() {
    constexpr std::array<MPI_User_function*, 4> functions{select<float, false>, select<double, false>, select<float, true>,
                                                          select<double, true>};
    for (std::size_t i = 0; i < ops_.size(); ++i) check_mpi(MPI_Op_create(functions[i], 1, &ops_[i]), "MPI_Op_create");
  }
  HierarchicalAllReduce(const HierarchicalAllReduce&) = delete;
  HierarchicalAllReduce& operator=(const HierarchicalAllReduce&) = delete;
  ~HierarchicalAllReduce() {
    for (MPI_Op& op : ops_) MPI_Op_free(&op);
  }

  /// Whether it reduces such a collective: an all-reduce over all replicas, of a dtype and an operator that MPI has.
  static constexpr bool takes(const PlannedCollective& collective) { return collective.reduce_held != nullptr; }

  /// `inputs` and `outputs` are those of the `held` replicas; an output may be the input of the same replica. All processes of
  /// the communicator call this with the same number of held replicas.
  void reduce(const PlannedCollective& collective, std::byte* const* inputs, std::byte* const* outputs, int held, int replicas,
              MPI_Comm communicator) const {
    const std::int64_t elements = collective.input_bytes / collective.element_bytes;
    const bool is_ordered = collective.reduction == CollectiveOperator::min || collective.reduction == CollectiveOperator::max;
    const MPI_Datatype type = mpi_type(collective.dtype, is_ordered);
    const MPI_Op op = op_of(collective);
    std::byte* const result = outputs[0];
    if (held > 1) collective.reduce_held(inputs, held, elements, result);
    const bool is_in_place = held > 1 || inputs[0] == result;
    for (std::int64_t done = 0; done < elements; done += most_elements) {
      const std::int64_t offset = done * collective.element_bytes;
      check_mpi(MPI_Allreduce(is_in_place ? MPI_IN_PLACE : inputs[0] + offset, result + offset,
                              static_cast<int>(std::min(elements - done, most_elements)), type, op, communicator),
                "MPI_Allreduce");
    }
    if (collective.reduction == CollectiveOperator::mean) {
      if (collective.dtype == DType::float32) divide<float>(result, elements, replicas);
      else divide<double>(result, elements, replicas);
    }
    for (int i = 1; i < held; ++i) std::memcpy(outputs[i], result, static_cast<std::size_t>(collective.input_bytes));
  }

 private:
  static constexpr std::int64_t most_elements = std::int64_t{1} << 28;  // of one call, whose count is an int

  MPI_Op op_of(const PlannedCollective& collective) const {
    switch (collective.reduction) {
      case CollectiveOperator::mul: return MPI_PROD;
      case CollectiveOperator::min:
      case CollectiveOperator::max: {
        const bool is_max = collective.reduction == CollectiveOperator::max;
        if (collective.dtype == DType::float32) return ops_[is_max ? 2 : 0];
        if (collective.dtype == DType::float64) return ops_[is_max ? 3 : 1];
        return is_max ? MPI_MAX : MPI_MIN;
      }
      default: return MPI_SUM;
    }
  }
  /// The smaller or larger of each two elements, the same for either order of both: also of NaNs, and of zeros with signs.
  template <class T, bool is_max>
  static void select(void* given, void* kept, int* count, MPI_Datatype*) {
    const T* const x = static_cast<const T*>(given);
    T* const y = static_cast<T*>(kept);
    for (int i = 0; i < *count; ++i) {
      const bool is_smaller = x[i] < y[i] || (x[i] == y[i] && std::signbit(x[i]));
      if (x[i] != x[i] || y[i] != y[i]) y[i] = std::numeric_limits<T>::quiet_NaN();
      else if (is_smaller != is_max) y[i] = x[i];
    }
  }
  template <class T>
  static void divide(std::byte* data, std::int64_t elements, int by) {
    T* const x = reinterpret_cast<T*>(data);
    for (std::int64_t i = 0; i < elements; ++i) x[i] /= static_cast<T>(by);
  }

  std::array<MPI_Op, 4> ops_{};  // minimum of float, of double, maximum of float, of double
};

}  // namespace tilewright::internal
