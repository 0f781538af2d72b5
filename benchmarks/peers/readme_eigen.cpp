// The README's program with Eigen's matrices and loops, and gradients written by hand. `./dev bench compiling` compiles it.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>

#include "made_up_digits.hpp"

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Linear {
  Matrix weight, x;
  Eigen::RowVectorXf bias;
  Linear(int in, int out, std::mt19937& random) : weight(in, out), bias(Eigen::RowVectorXf::Zero(out)) {
    std::normal_distribution<float> normal(0, 0.577f / std::sqrt(static_cast<float>(in)));
    for (auto& each : weight.reshaped()) each = normal(random);
  }
  Matrix forward(const Matrix& input) {
    x = input;
    return (x * weight).rowwise() + bias;
  }
  Matrix backward(const Matrix& dy, float rate) {
    Matrix dx = dy * weight.transpose();
    weight.noalias() -= rate * x.transpose() * dy;
    bias -= rate * dy.colwise().sum();
    return dx;
  }
};

struct Gelu {
  Matrix slope;
  Matrix forward(Matrix x) {
    slope.resizeLike(x);
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const float v = x.data()[i], vv = 0.044715f * v * v, s = 1 / (1 + std::exp(-1.5957691216f * v * (1 + vv)));
      slope.data()[i] = s + 1.5957691216f * v * s * (1 - s) * (1 + 3 * vv);
      x.data()[i] = v * s;
    }
    return x;
  }
  Matrix backward(const Matrix& dy) const { return dy.cwiseProduct(slope); }
};

struct Net {
  std::mt19937 random{1};
  Linear fc1{pixels, 512, random}, fc2{512, 512, random}, fc3{512, classes, random};
  Gelu gelu1, gelu2;
  Matrix forward(const Matrix& x) { return fc3.forward(gelu2.forward(fc2.forward(gelu1.forward(fc1.forward(x))))); }
  void backward(const Matrix& dy, float rate) {
    fc1.backward(gelu1.backward(fc2.backward(gelu2.backward(fc3.backward(dy, rate)), rate)), rate);
  }
};

/// Turns scores into the gradient of their mean cross entropy.
Matrix gradient(Matrix scores, const std::vector<std::int64_t>& labels, const int* rows) {
  for (Eigen::Index row = 0; row < scores.rows(); ++row) {
    auto probabilities = scores.row(row).array();
    probabilities = (probabilities - probabilities.maxCoeff()).exp();
    probabilities /= probabilities.sum();
    scores(row, labels[static_cast<std::size_t>(rows[row])]) -= 1;
  }
  return scores / static_cast<float>(scores.rows());
}

int main() {
  constexpr int batch = 8;
  const auto train = made_up_digits(10'000, 1), test = made_up_digits(1'000, 2);
  const auto images_of = [](const Digits& digits) {
    return Eigen::Map<const Matrix>(digits.images.data(), static_cast<Eigen::Index>(digits.labels.size()), pixels);
  };
  Net net;
  std::vector<int> order(train.labels.size());
  std::iota(order.begin(), order.end(), 0);
  Matrix x(batch, pixels);
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::shuffle(order.begin(), order.end(), net.random);
    for (std::size_t i = 0; i + batch <= order.size(); i += batch) {
      for (int row = 0; row < batch; ++row) x.row(row) = images_of(train).row(order[i + static_cast<std::size_t>(row)]);
      net.backward(gradient(net.forward(x), train.labels, &order[i]), 0.05f);
    }
  }
  const Matrix scores = net.forward(images_of(test));
  int right = 0;
  for (Eigen::Index row = 0, column = 0; row < scores.rows(); ++row) {
    scores.row(row).maxCoeff(&column);
    right += column == test.labels[static_cast<std::size_t>(row)];
  }
  std::printf("%.1f %% of the test set are right\n", 100.0 * right / static_cast<double>(scores.rows()));
}
