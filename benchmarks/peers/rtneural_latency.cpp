// Networks of latency/networks.cpp in RTNeural, with layers that the compiler knows: `rtneural_latency NETWORK`. It has no GELU,
// so the perceptron has tanh. The GRU and the convolution take one sample of a stream after the other, as RTNeural does.
// latency.py compiles it for a folder with RTNeural's source, and says what it reads and writes.
#define RTNEURAL_DEFAULT_ALIGNMENT 64
#include <RTNeural/RTNeural.h>

#include <string_view>

#include "../latency/serve.hpp"

namespace {

template <int in, int out>
using Dense = RTNeural::DenseT<float, in, out>;
template <int size>
using Tanh = RTNeural::TanhActivationT<float, size>;
template <int in, int out, class... Layers>
using Model = RTNeural::ModelT<float, in, out, Layers...>;

using Perceptron = Model<784, 10, Dense<784, 32>, Tanh<32>, Dense<32, 10>>;
using Controller = Model<10, 1, Dense<10, 16>, Tanh<16>, Dense<16, 16>, Tanh<16>, Dense<16, 1>>;
using Gru = Model<16, 64, RTNeural::GRULayerT<float, 16, 64>>;
using Dilated = Model<16, 16, RTNeural::Conv1DT<float, 16, 16, 3, 4>, Tanh<16>>;

template <class Net, int inputs, int samples>
int measure() {
  static Net net;
  alignas(64) static float x[samples][inputs];
  for (auto& sample : x)
    for (float& each : sample) each = 0.5f;
  static volatile float result = 0;  // so that the compiler leaves out nothing
  return serve_latency([] {
    net.reset();
    for (const auto& sample : x) result = net.forward(sample);
  });
}

}  // namespace

int main(int, char** arguments) {
  const std::string_view network = arguments[1];
  if (network == "perceptron") return measure<Perceptron, 784, 1>();
  if (network == "controller") return measure<Controller, 10, 1>();
  if (network == "gru") return measure<Gru, 16, 8>();
  return measure<Dilated, 16, 64>();
}
