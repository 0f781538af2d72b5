// A step of W8 with one replica: gpt_1 [SESSIONS].
#include <cstdlib>

#include "measure.hpp"

int main(int argc, char** argv) {
  measure<train_gpt<1>, 1>(3, 1, argc == 2 ? std::atoi(argv[1]) : 1, 128, 1, 128, GptBlock::width);
}
