// The tutorial's training step with Eigen's products, on one thread: measured as ../protocol.hpp says.
#include <Eigen/Core>

#include "mnist_with_library.hpp"

struct EigenProducts {
  template <int rows, int columns>
  using Matrix = Eigen::Map<Eigen::Matrix<float, rows, columns, Eigen::RowMajor>, Eigen::Aligned64>;
  template <int rows, int columns>
  using ConstMatrix = Eigen::Map<const Eigen::Matrix<float, rows, columns, Eigen::RowMajor>, Eigen::Aligned64>;

  template <int m, int k, int n>
  static void multiply(const float* a, const float* b, float* c) {
    Matrix<m, n>(c).noalias() += ConstMatrix<m, k>(a) * ConstMatrix<k, n>(b);
  }
  template <int m, int k, int n>
  static void multiply_transposed(const float* a, const float* b, float* c) {
    Matrix<m, n>(c).noalias() = ConstMatrix<m, k>(a) * ConstMatrix<n, k>(b).transpose();
  }
  template <int m, int k, int n>
  static void subtract_transposed(float factor, const float* a, const float* b, float* c) {
    Matrix<m, n>(c).noalias() -= factor * ConstMatrix<k, m>(a).transpose() * ConstMatrix<k, n>(b);
  }
};

int main() { return serve_training<EigenProducts>(); }
