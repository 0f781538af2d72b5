#pragma once
// The logarithm of the likelihood of a mixture of Gaussians, with a Wishart prior for its inverse covariances. Inputs in order:
// logits of the weights (k), means (k, d), and for each Gaussian the logarithms of the diagonal of a lower triangular matrix Q,
// then Q's elements below the diagonal column by column (k, d + d (d - 1) / 2); points (n, d), for which there are no
// derivatives.
#include <cmath>
#include <numbers>
#include <random>

#include "problem.hpp"

struct Gmm {
  std::size_t d = 10, k = 25, n = 1000;

  constexpr std::size_t below() const { return d * (d - 1) / 2; }
  constexpr std::size_t of_matrix() const { return d + below(); }
  constexpr std::size_t parameters() const { return k * (1 + d + of_matrix()); }

  Numbers draw() const {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    Numbers inputs(parameters() + n * d);
    for (double& each : inputs) each = normal(random);
    return inputs;
  }
  /// The part that depends on no input; the prior has one degree of freedom more than dimensions, and the scale 1.
  double constant() const {
    const auto p = static_cast<double>(d), points = static_cast<double>(n), all = static_cast<double>(k);
    double gamma = 0.25 * p * (p - 1) * std::log(std::numbers::pi);
    for (std::size_t j = 0; j < d; ++j) gamma += std::lgamma(0.5 * (p + 1 - static_cast<double>(j)));
    return -0.5 * points * p * std::log(2 * std::numbers::pi) + all * (0.5 * (p + 1) * p * std::log(2.0) + gamma);
  }

  template <class T>
  static T log_sum_exp(const T* x, std::size_t count) {
    using std::exp, std::log;
    T largest = x[0];
    for (std::size_t i = 1; i < count; ++i)
      if (x[i] > largest) largest = x[i];
    T sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += exp(x[i] - largest);
    return log(sum) + largest;
  }
  // GCC 12's vectors of loops as short as these take longer than no vectors: measured with 10 dimensions and 25 Gaussians.
#if defined(__GNUC__) && !defined(__clang__)
#define TILEWRIGHT_SHORT_LOOPS [[gnu::optimize("no-tree-vectorize")]]
#else
#define TILEWRIGHT_SHORT_LOOPS
#endif
  /// Plain loops for doubles, and for the numbers of libraries that record what is done with them.
  template <class T>
  TILEWRIGHT_SHORT_LOOPS T value(const T* parameters_, const double* points) const {
    using std::exp;
    const T *logits = parameters_, *means = logits + k, *matrices = means + k * d;
    std::vector<T> diagonal(k * d), sums(k), centred(d), product(d), terms(k);
    T result = constant();
    for (std::size_t c = 0; c < k; ++c) {
      T squares = 0;
      sums[c] = 0;
      for (std::size_t i = 0; i < d; ++i) {
        const T& q = matrices[c * of_matrix() + i];
        diagonal[c * d + i] = exp(q);
        sums[c] += q;
        squares += diagonal[c * d + i] * diagonal[c * d + i];
      }
      for (std::size_t i = d; i < of_matrix(); ++i) squares += matrices[c * of_matrix() + i] * matrices[c * of_matrix() + i];
      result += 0.5 * squares;
    }
    for (std::size_t point = 0; point < n; ++point) {
      for (std::size_t c = 0; c < k; ++c) {
        for (std::size_t i = 0; i < d; ++i) {
          centred[i] = points[point * d + i] - means[c * d + i];
          product[i] = diagonal[c * d + i] * centred[i];
        }
        const T* element = matrices + c * of_matrix() + d;
        for (std::size_t j = 0; j < d; ++j)
          for (std::size_t i = j + 1; i < d; ++i) product[i] += *element++ * centred[j];
        T squares = 0;
        for (std::size_t i = 0; i < d; ++i) squares += product[i] * product[i];
        terms[c] = logits[c] + sums[c] - 0.5 * squares;
      }
      result += log_sum_exp(terms.data(), k);
    }
    return result - static_cast<double>(n) * log_sum_exp(logits, k);
  }
  /// The gradient by hand, which uses what the terms of a point have in common.
  TILEWRIGHT_SHORT_LOOPS void gradient(const double* parameters_, const double* points, double* result) const {
    const double *logits = parameters_, *means = logits + k, *matrices = means + k * d;
    double *of_logits = result, *of_means = result + k, *of_matrices = of_means + k * d;
    Numbers diagonal(k * d), sums(k), centred(k * d), product(k * d), terms(k);
    std::fill_n(result, parameters(), 0.0);
    for (std::size_t c = 0; c < k; ++c)
      for (std::size_t i = 0; i < d; ++i) {
        const double q = matrices[c * of_matrix() + i];
        diagonal[c * d + i] = std::exp(q);
        sums[c] += q;
      }
    for (std::size_t point = 0; point < n; ++point) {
      for (std::size_t c = 0; c < k; ++c) {
        double *x = centred.data() + c * d, *y = product.data() + c * d;
        for (std::size_t i = 0; i < d; ++i) {
          x[i] = points[point * d + i] - means[c * d + i];
          y[i] = diagonal[c * d + i] * x[i];
        }
        const double* element = matrices + c * of_matrix() + d;
        for (std::size_t j = 0; j < d; ++j)
          for (std::size_t i = j + 1; i < d; ++i) y[i] += *element++ * x[j];
        double squares = 0;
        for (std::size_t i = 0; i < d; ++i) squares += y[i] * y[i];
        terms[c] = logits[c] + sums[c] - 0.5 * squares;
      }
      const double largest = *std::max_element(terms.begin(), terms.end());
      double sum = 0;
      for (double& term : terms) sum += term = std::exp(term - largest);
      for (std::size_t c = 0; c < k; ++c) {
        const double weight = terms[c] / sum, *x = centred.data() + c * d, *y = product.data() + c * d;
        const double* element = matrices + c * of_matrix() + d;
        double *of_mean = of_means + c * d, *of_matrix_ = of_matrices + c * of_matrix(), *of_element = of_matrix_ + d;
        of_logits[c] += weight;
        for (std::size_t j = 0; j < d; ++j) {
          double of_x = diagonal[c * d + j] * y[j];
          of_matrix_[j] += weight * (1 - diagonal[c * d + j] * x[j] * y[j]);
          for (std::size_t i = j + 1; i < d; ++i) {
            of_x += *element++ * y[i];
            *of_element++ -= weight * y[i] * x[j];
          }
          of_mean[j] += weight * of_x;
        }
      }
    }
    const double all = log_sum_exp(logits, k);
    for (std::size_t c = 0; c < k; ++c) {
      of_logits[c] -= static_cast<double>(n) * std::exp(logits[c] - all);
      for (std::size_t i = 0; i < of_matrix(); ++i) {
        const double element = i < d ? diagonal[c * d + i] : matrices[c * of_matrix() + i];
        of_matrices[c * of_matrix() + i] += i < d ? element * element : element;
      }
    }
  }
};
