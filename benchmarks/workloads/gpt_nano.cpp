// W7: nanoGPT's setting for a CPU, its blocks: batches of 12, Adam.
#include "gpt_nano.hpp"

int main(int argc, char** argv) { return serve_gpt<nano, nano_batch, nano_parameters>(argc, argv); }
