// A processor's part for the driver of a workload's package: it loads all programs, runs them in the
// order of the table, and sees the cycles of each.
#define main main_of_one_program
#include "driver_on_engine.cpp"
#undef main

extern "C" {
#include "eyecast_workload.h"
}

int main() {
  engine = new Veyecast_engine;
  engine->rst = 1;
  tick();
  engine->rst = 0;
  require(eyecast_load(nullptr, &eyecast_workload) == EYECAST_OK, "it loads");
  for (const uint8_t program : eyecast_workload_order) {
    require(eyecast_start(nullptr, program) == EYECAST_OK, "it starts");
    require(eyecast_wait(nullptr, 1000) == EYECAST_OK, "it ends");
    require(eyecast_cycles(nullptr) == eyecast_workload_cycles[program], "it takes its cycles");
  }
  std::printf("PASS\n");
}
