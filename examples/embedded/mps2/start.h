/* What a program on a Cortex-M has in place of a system. */
void write_text(const char* text);
void end_program(void);
int main(void);
