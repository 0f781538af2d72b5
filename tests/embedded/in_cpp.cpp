// The same in sessions.
#include <tilewright/tilewright.hpp>

#include "net.hpp"
#include "values.h"

using namespace tw::literals;

int main() {
  tw::Session<train_step, tw::one_core> session({.seed = 1, .threads = 1});
  float loss = 0;
  for (int step = 0; step < steps; ++step) {
    draw_batch();
    loss = session.run("image"_s = images, "label"_s = labels)["loss"_s]();
  }
  tw::Session<infer, tw::one_core> inference({.threads = 1});
  inference.load_from_session(session);
  const auto outputs = inference.run("image"_s = images[0]);
  const auto logits = outputs["logits"_s];
  print_bytes("loss", &loss, sizeof loss);
  print_bytes("logits", logits.data(), logits.size() * sizeof(float));
  for (const tw::HostTensor& tensor : session.host_tensors())
    print_bytes(std::string(tensor.name).c_str(), tensor.bytes.data(), tensor.bytes.size());
}
