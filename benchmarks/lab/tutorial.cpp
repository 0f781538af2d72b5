// A step of gradient descent of the tutorial's network, for 8 images.
#include "../../examples/tutorial/net.hpp"
#include "../../examples/tutorial/steps.hpp"
#include "lab.hpp"

int main() { return lab::serve(train_step<Net, 8, 28, 28>); }
