// The tutorial's training step with OpenBLAS's products, on one thread (OPENBLAS_NUM_THREADS=1): measured as ../protocol.hpp
// says.
#include <cblas.h>

#include "mnist_with_library.hpp"

struct BlasProducts {
  template <int m, int k, int n>
  static void multiply(const float* a, const float* b, float* c) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 1, c, n);
  }
  template <int m, int k, int n>
  static void multiply_transposed(const float* a, const float* b, float* c) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1, a, k, b, k, 0, c, n);
  }
  template <int m, int k, int n>
  static void subtract_transposed(float factor, const float* a, const float* b, float* c) {
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, -factor, a, m, b, n, 1, c, n);
  }
};

int main() { return serve_training<BlasProducts>(); }
