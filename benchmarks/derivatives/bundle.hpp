#pragma once
// Bundle adjustment: errors of m points as n cameras see them, in p observations. An observation has two errors in the image,
// with 15 derivatives each, and one of its weight w, 1 - w^2. Inputs in order: cameras (n, 11), points (m, 3), weights (p); then,
// without derivatives, places in images (p, 2), numbers of cameras (p) and of points (p). A camera has a rotation (axis times
// angle), a centre, a focal length, the centre of its image, and two factors of its distortion.
#include <array>
#include <cmath>
#include <random>

#include "problem.hpp"

struct Bundle {
  static constexpr std::size_t of_camera = 11, columns = 15;
  std::size_t cameras = 49, points = 7776, observations = 31843;

  constexpr std::size_t points_at() const { return cameras * of_camera; }
  constexpr std::size_t weights_at() const { return points_at() + points * 3; }
  constexpr std::size_t places_at() const { return weights_at() + observations; }
  constexpr std::size_t numbers_at() const { return places_at() + 2 * observations; }

  /// Points lie in front of all cameras.
  Numbers draw() const {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    Numbers inputs(numbers_at() + 2 * observations);
    for (double& each : inputs) each = normal(random);
    for (std::size_t i = 0; i < cameras; ++i) {
      double* camera = &inputs[i * of_camera];
      for (std::size_t j = 0; j < 3; ++j) camera[j] *= 0.2;
      camera[6] = 1 + camera[6] * 0.1, camera[9] *= 0.01, camera[10] *= 0.001;
    }
    for (std::size_t i = 0; i < points; ++i) inputs[points_at() + 3 * i + 2] += 12;
    for (std::size_t i = 0; i < observations; ++i) {
      inputs[numbers_at() + i] = static_cast<double>(random() % cameras);
      inputs[numbers_at() + observations + i] = static_cast<double>(random() % points);
    }
    return inputs;
  }
  /// The inputs of an observation: its camera's, its point's, and its weight.
  std::array<double, columns> row(const Numbers& inputs, std::size_t i) const {
    std::array<double, columns> result;
    const auto camera = static_cast<std::size_t>(inputs[numbers_at() + i]);
    const auto point = static_cast<std::size_t>(inputs[numbers_at() + observations + i]);
    std::copy_n(&inputs[camera * of_camera], of_camera, result.data());
    std::copy_n(&inputs[points_at() + 3 * point], 3, result.data() + of_camera);
    result[columns - 1] = inputs[weights_at() + i];
    return result;
  }

  /// The two errors of an observation: plain code for doubles, and for numbers that know their derivatives.
  template <class T, class Place>
  static void errors(const T* row, const Place* place, T* result) {
    using std::cos, std::sin, std::sqrt;
    const T *r = row, *centre = row + 3, *x = row + of_camera;
    const T v[3] = {x[0] - centre[0], x[1] - centre[1], x[2] - centre[2]};
    const T angle = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]), c = cos(angle), s = sin(angle);
    const T w[3] = {r[0] / angle, r[1] / angle, r[2] / angle};
    const T along = (w[0] * v[0] + w[1] * v[1] + w[2] * v[2]) * (1 - c);
    const T rotated[3] = {v[0] * c + (w[1] * v[2] - w[2] * v[1]) * s + w[0] * along,
                          v[1] * c + (w[2] * v[0] - w[0] * v[2]) * s + w[1] * along,
                          v[2] * c + (w[0] * v[1] - w[1] * v[0]) * s + w[2] * along};
    const T p = rotated[0] / rotated[2], q = rotated[1] / rotated[2], square = p * p + q * q;
    const T factor = (1 + square * (row[9] + square * row[10])) * row[6];
    result[0] = row[14] * (p * factor + row[7] - place[0]);
    result[1] = row[14] * (q * factor + row[8] - place[1]);
  }
  /// The errors and their (2, 15) derivatives by hand.
  static void jacobian(const double* row, const double* place, double* result) {
    const double *r = row, *x = row + of_camera;
    const double v[3] = {x[0] - row[3], x[1] - row[4], x[2] - row[5]};
    const double angle = std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]), c = std::cos(angle), s = std::sin(angle);
    const double w[3] = {r[0] / angle, r[1] / angle, r[2] / angle};
    const double cross[3] = {w[1] * v[2] - w[2] * v[1], w[2] * v[0] - w[0] * v[2], w[0] * v[1] - w[1] * v[0]};
    const double dot = w[0] * v[0] + w[1] * v[1] + w[2] * v[2];
    double rotated[3], of_r[3][3], of_x[3][3];  // component, then input
    for (int i = 0; i < 3; ++i) {
      rotated[i] = v[i] * c + cross[i] * s + w[i] * dot * (1 - c);
      for (int j = 0; j < 3; ++j) {
        const double sign = (j - i + 3) % 3 == 1 ? -1 : 1;  // of the element of the matrix by which w x v is a product
        of_x[i][j] = (1 - c) * w[i] * w[j] + (i == j ? c : s * sign * w[3 - i - j]);
      }
    }
    for (int j = 0; j < 3; ++j) {
      double dw[3];
      for (int i = 0; i < 3; ++i) dw[i] = ((i == j ? 1 : 0) - w[i] * w[j]) / angle;
      const double dcross[3] = {dw[1] * v[2] - dw[2] * v[1], dw[2] * v[0] - dw[0] * v[2], dw[0] * v[1] - dw[1] * v[0]};
      const double ddot = dw[0] * v[0] + dw[1] * v[1] + dw[2] * v[2];
      for (int i = 0; i < 3; ++i)
        of_r[i][j] = w[j] * (cross[i] * c - v[i] * s + w[i] * dot * s) + dcross[i] * s + (1 - c) * (dw[i] * dot + w[i] * ddot);
    }
    const double p = rotated[0] / rotated[2], q = rotated[1] / rotated[2], square = p * p + q * q;
    const double distortion = 1 + square * (row[9] + square * row[10]), slope = 2 * (row[9] + 2 * square * row[10]);
    const double weight = row[14], scale = weight * row[6];
    const auto column = [&](std::size_t j, double of_0, double of_1, double of_2) {  // of what moves the rotated point
      const double dp = (of_0 - p * of_2) / rotated[2], dq = (of_1 - q * of_2) / rotated[2];
      const double change = slope * (p * dp + q * dq);
      result[j] = scale * (distortion * dp + p * change);
      result[columns + j] = scale * (distortion * dq + q * change);
    };
    for (std::size_t j = 0; j < 3; ++j) {
      column(j, of_r[0][j], of_r[1][j], of_r[2][j]);
      column(of_camera + j, of_x[0][j], of_x[1][j], of_x[2][j]);
      result[3 + j] = -result[of_camera + j], result[columns + 3 + j] = -result[columns + of_camera + j];
    }
    const double seen[2] = {p, q};
    for (std::size_t i = 0; i < 2; ++i) {
      double* line = result + i * columns;
      line[6] = weight * seen[i] * distortion;
      line[7] = i == 0 ? weight : 0, line[8] = i == 1 ? weight : 0;
      line[9] = scale * seen[i] * square, line[10] = scale * seen[i] * square * square;
      line[14] = seen[i] * distortion * row[6] + row[7 + i] - place[i];
    }
  }
};
