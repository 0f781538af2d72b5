#pragma once
// The world in which the agent of dqn.cpp learns.
#include <array>
#include <cmath>
#include <cstdint>
#include <random>

/// Position and speed of the cart, angle and angular speed of the pole: metres, radians, seconds.
constexpr int state_size = 4;
using State = std::array<float, state_size>;

/// A cart with a pole on a hinge ("Neuronlike adaptive elements that can solve difficult learning control problems", Barto,
/// Sutton and Anderson, 1983), without friction. An episode ends if the pole falls, if the cart leaves the track, or after 500
/// steps.
struct CartPole {
  State state{};
  int length = 0;

  explicit CartPole(std::mt19937& random) {
    for (float& number : state) number = std::uniform_real_distribution<float>(-0.05F, 0.05F)(random);
  }
  /// One step of Euler's method, with a push to the left (0) or to the right (1).
  void push(std::int32_t action) {
    constexpr float gravity = 9.8F, mass_of_pole = 0.1F, mass = 1 + mass_of_pole, half_length = 0.5F, force = 10, seconds = 0.02F;
    auto& [position, speed, angle, angular_speed] = state;
    const float sine = std::sin(angle), cosine = std::cos(angle), pole = mass_of_pole * half_length;
    const float push = ((action == 1 ? force : -force) + pole * angular_speed * angular_speed * sine) / mass;
    const float turn = (gravity * sine - cosine * push) / (half_length * (4.0F / 3 - mass_of_pole * cosine * cosine / mass));
    position += seconds * speed;
    speed += seconds * (push - pole * turn * cosine / mass);
    angle += seconds * angular_speed;
    angular_speed += seconds * turn;
    ++length;
  }
  bool failed() const { return std::abs(state[0]) > 2.4F || std::abs(state[2]) > 0.2095F; }  // metres; 12 degrees
  bool is_over() const { return failed() || length == 500; }
};
