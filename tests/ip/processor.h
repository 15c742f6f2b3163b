/* The processor of processor.v for C: its start, the registers of the system, and the engine. */
#include <stddef.h>
#include <stdint.h>

#include "eyecast.h"
#include "eyecast_image.h"

enum { CONSOLE, END, CYCLES, WRITES, RESET_IN, PAUSES, HOLD, INTERRUPT };
static volatile uint32_t *const system = (volatile uint32_t *)0x40000000;
static const eyecast_t engine = (eyecast_t)0x80000000;

int main(void);

/* The memory keeps its words at a reset of the system, so variables keep their values. */
__attribute__((section(".start"), noreturn)) void _start(void) {
  main();
  system[END] = 0;
  for (;;) {
  }
}

static void print(const char *text) {
  while (*text) system[CONSOLE] = *text++;
}

static void print_number(const char *text, uint32_t number) {
  char digits[11], *digit = digits + 10;
  *digit = 0;
  do *--digit = '0' + number % 10;
  while (number /= 10);
  print(text);
  print(digit);
  print("\n");
}

static void require(int holds, const char *what) {
  if (holds) return;
  print("FAIL: ");
  print(what);
  print("\n");
  system[END] = 0;
  for (;;) {
  }
}

/* Sleep until the engine's interrupt is 1: PicoRV32's instruction waitirq. */
static void sleep(void) {
  uint32_t pending;
  __asm__ volatile(".insn r 0x0b, 0, 4, %0, x0, x0" : "=r"(pending));
  require(pending == 8, "only the engine interrupts");
}
