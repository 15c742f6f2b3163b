/* The driver of a workload's package on a processor: it loads all programs, runs them in the order
 * of the table, and sees the cycles of each. */
#include "processor.h"

#include "eyecast_workload.h"

int main(void) {
  require(eyecast_load(engine, &eyecast_workload) == EYECAST_OK, "it loads");
  for (unsigned run = 0; run < EYECAST_WORKLOAD_RUNS; run++) {
    const unsigned program = eyecast_workload_order[run];
    require(eyecast_start(engine, program) == EYECAST_OK, "it starts");
    require(eyecast_wait(engine, 1000) == EYECAST_OK, "it ends");
    require(eyecast_cycles(engine) == eyecast_workload_cycles[program], "it takes its cycles");
  }
  print("PASS\n");
  return 0;
}
