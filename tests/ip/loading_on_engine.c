/* Bus writes and cycles of a processor that loads an image. */
#include "processor.h"

int main(void) {
  const uint32_t writes = system[WRITES], begin = system[CYCLES];
  require(eyecast_load(engine, &eyecast_image) == EYECAST_OK, "it loads");
  const uint32_t cycles = system[CYCLES] - begin;
  print_number("writes ", system[WRITES] - writes);
  print_number("cycles ", cycles);
  return 0;
}
