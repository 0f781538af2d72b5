// W4: forward and backward of a transformer encoder block: batch 4, sequence 128, hidden 256, 4 heads, feed-forward 1,024.
#include "encoder.hpp"

int main(int argc, char** argv) { return serve_encoder<EncoderBlock>(argc, argv); }
