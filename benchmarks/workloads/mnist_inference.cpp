// W2: inference with the tutorial's network, batches of 80.
#include "../../examples/tutorial/net.hpp"
#include "../../examples/tutorial/steps.hpp"
#include "session.hpp"

int main(int argc, char** argv) {
  auto images = random_numbers(80, 28, 28);
  return serve_session<tw::Session<test_step<Net, 80, 28, 28>>>(
      argc, argv, [&](auto& session, std::size_t i) { return session.run("image"_s = images[i])["outputs"_s](0, 0); });
}
