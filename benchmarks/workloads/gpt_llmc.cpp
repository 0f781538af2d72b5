// W9: a GPT of the size that llm.c's tests have, with embedding and head: batches of 4 texts of 64 tokens, AdamW.
#include "gpt_llmc.hpp"

int main(int argc, char** argv) {
  return serve_step<llmc_step>(argc, argv, random_tokens<llmc.vocabulary>(llmc_batch, llmc.context),
                               random_labels(llmc_batch, llmc.context));
}
