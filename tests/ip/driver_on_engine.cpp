// A processor's part, played for a package's driver: it loads the image of a broadcast into the
// simulated engine by AXI4-Lite, runs it several times and reads the message at every node.
#include <cstdio>
#include <cstdlib>

#include "Veyecast_engine.h"
#include "axi.h"
#include "verilated.h"

#include "eyecast.h"
#include "eyecast_image.h"

static Veyecast_engine *engine;

static void tick() {
  engine->clk = 0;
  engine->eval();
  engine->clk = 1;
  engine->eval();
}

static void require(bool holds, const char *what) {
  if (!holds) {
    std::printf("FAIL: %s\n", what);
    std::exit(1);
  }
}

// Clock until a signal of the engine is 1, in the cycle of which the next edge is.
template <typename Signal> static void until(const Signal &signal) {
  engine->eval();
  for (int cycles = 0; !signal; cycles++) {
    require(cycles < 1000, "the bus does not answer");
    tick();
  }
}

extern "C" uint32_t axi_read(uint32_t address) {
  engine->s_axi_araddr = address;
  engine->s_axi_arvalid = 1;
  until(engine->s_axi_arready);
  tick();
  engine->s_axi_arvalid = 0;
  engine->s_axi_rready = 1;
  until(engine->s_axi_rvalid);
  const uint32_t word = engine->s_axi_rdata;
  require(engine->s_axi_rresp == 0, "a read is refused");
  tick();
  engine->s_axi_rready = 0;
  return word;
}

static unsigned write_answer;

extern "C" void axi_write(uint32_t address, uint32_t word) {
  engine->s_axi_awaddr = address;
  engine->s_axi_wdata = word;
  engine->s_axi_wstrb = 0xf;
  engine->s_axi_awvalid = engine->s_axi_wvalid = 1;
  // Address and word may be taken in one cycle or apart.
  for (int cycles = 0; engine->s_axi_awvalid || engine->s_axi_wvalid; cycles++) {
    require(cycles < 1000, "the bus takes no write");
    engine->eval();
    const bool address_taken = engine->s_axi_awready, word_taken = engine->s_axi_wready;
    tick();
    if (address_taken) engine->s_axi_awvalid = 0;
    if (word_taken) engine->s_axi_wvalid = 0;
  }
  engine->s_axi_bready = 1;
  until(engine->s_axi_bvalid);
  write_answer = engine->s_axi_bresp;
  tick();
  engine->s_axi_bready = 0;
}

static void run_program() {
  require(eyecast_start(nullptr, EYECAST_IMAGE_PROGRAM) == EYECAST_OK, "it starts");
  require(eyecast_wait(nullptr, 1000) == EYECAST_OK, "it ends");
  require(eyecast_cycles(nullptr) == EYECAST_IMAGE_CYCLES, "it takes the cycles of the image");
}

int main(int, char **arguments) {
  const unsigned nodes = std::atoi(arguments[1]), words = std::atoi(arguments[2]);
  engine = new Veyecast_engine;
  engine->rst = 1;
  tick();
  engine->rst = 0;
  require(eyecast_wait(nullptr, 3) == EYECAST_WAITING, "nothing has run");
  require(eyecast_start(nullptr, 0) == EYECAST_REFUSED, "nothing is loaded");
  require(write_answer != 0, "the bus says so too");
  const eyecast_run_t status = {offsetof(eyecast_engine_t, status), 0, 1, 1};
  const eyecast_word_t zero = 0;
  const eyecast_image_t nowhere = {&status, 1, &zero};
  for (int time = 0; time < 2; time++) {
    require(eyecast_load(nullptr, &nowhere) == EYECAST_REFUSED, "status is not written");
    require(eyecast_queue(nullptr, 0) == EYECAST_REFUSED, "nothing is loaded to be queued");
    uint32_t address;
    require(eyecast_refused(nullptr, &address) == 2, "it is the queue that was refused last");
  }
  const eyecast_word_t identity = eyecast_image_words[0] ^ 1;
  const eyecast_image_t other = {eyecast_image_runs, 1, &identity};
  require(eyecast_load(nullptr, &other) == EYECAST_OTHER_NETWORK, "it is for another network");
  require(eyecast_clear(nullptr) == EYECAST_OK, "every word of every memory is there");
  require(eyecast_load(nullptr, &eyecast_image) == EYECAST_OK, "it loads");
  for (int run = 0; run < 2; run++) {
    run_program();
    for (unsigned node = 1; node < nodes; node++) {
      for (unsigned word = 0; word < words; word++) {
        const uint32_t sent = eyecast_read(nullptr, 0, word);
        require(eyecast_read(nullptr, node, word) == sent, "all have the message");
        require(sent != 0 || run > 0, "there is a message");
      }
    }
  }
  const uint32_t more[] = {0x11111111, 0x22222222};
  require(eyecast_write(nullptr, 0, 0, more, 2) == EYECAST_OK, "words are written");
  require(eyecast_start(nullptr, EYECAST_IMAGE_PROGRAM) == EYECAST_OK, "it starts");
  require(eyecast_queue(nullptr, EYECAST_IMAGE_PROGRAM) == EYECAST_OK, "it is queued behind itself");
  require(eyecast_wait(nullptr, 1000) == EYECAST_OK, "both runs end");
  eyecast_word_t last[2];
  require(eyecast_read_words(nullptr, nodes - 1, 0, last, 2) == EYECAST_OK, "words are read");
  require(last[0] == more[0] && last[1] == more[1], "the last node has the new words");
  require(eyecast_start(nullptr, EYECAST_IMAGE_PROGRAM) == EYECAST_OK, "it starts again");
  eyecast_stop(nullptr);
  require(eyecast_wait(nullptr, 3) == EYECAST_WAITING, "it was stopped before its end");
  std::printf("PASS\n");
  return 0;
}
