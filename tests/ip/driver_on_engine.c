/* A package's driver on a processor: it loads the broadcast of node 0 of two, runs it, reads its
 * words, and sees each refusal and failure; on a bus that pauses, and after resets at many times. */
#include "processor.h"

enum { WORDS = 16, RESETS = 80, POLLS = 1000, NOT_NOW = 2 };

static const uint32_t STATUS = offsetof(eyecast_engine_t, status);

/* Write a word at a byte address. */
static eyecast_status_t change(uint32_t address, eyecast_word_t word) {
  const eyecast_run_t run = {address, 0, 1, 1};
  const eyecast_image_t image = {&run, 1, &word};
  return eyecast_load(engine, &image);
}

#define ENTRY(name) \
  (uint32_t)(offsetof(eyecast_engine_t, controller.entry) + offsetof(eyecast_engine__entry_f_t, name))

static void start_and_wait(void) {
  require(eyecast_start(engine, EYECAST_IMAGE_PROGRAM) == EYECAST_OK, "it starts");
  require(eyecast_wait(engine, POLLS) == EYECAST_OK, "it ends");
  require(eyecast_cycles(engine) == EYECAST_IMAGE_CYCLES, "it takes the cycles of the image");
}

static void broadcast(eyecast_word_t first) {
  eyecast_word_t sent[WORDS], arrived[WORDS];
  for (unsigned word = 0; word < WORDS; word++) sent[word] = first + word * 0x1000001;
  require(eyecast_write(engine, 0, 0, sent, WORDS) == EYECAST_OK, "words are written");
  start_and_wait();
  require(eyecast_read_words(engine, 1, 0, arrived, WORDS) == EYECAST_OK, "words are read");
  for (unsigned word = 0; word < WORDS; word++)
    require(arrived[word] == sent[word] && eyecast_read(engine, 1, word) == sent[word], "arrived");
}

/* Before anything is loaded, and with an image of another network. */
static void refuse(void) {
  uint32_t address;
  const eyecast_word_t identity = eyecast_image_words[0] ^ 1;
  const eyecast_image_t other = {eyecast_image_parts, 1, &identity};
  require(eyecast_wait(engine, 3) == EYECAST_WAITING, "nothing has run");
  for (int time = 0; time < 2; time++) {
    require(change(STATUS, 0) == EYECAST_REFUSED, "status is not written");
    require(eyecast_refused(engine, &address) == 1 && address == STATUS, "there is no such word");
    require(eyecast_queue(engine, 0) == EYECAST_REFUSED, "nothing is loaded to be queued");
    require(eyecast_refused(engine, &address) == NOT_NOW, "it is the queue that was refused last");
  }
  require(eyecast_start(engine, 0) == EYECAST_REFUSED, "nothing is loaded");
  require(eyecast_load(engine, &other) == EYECAST_OTHER_NETWORK, "it is for another network");
}

/* A run that a tile holds: what is refused meanwhile, its stop, and its limit. */
static void hold(void) {
  unsigned node, flags;
  require(change(ENTRY(limit), 0) == EYECAST_OK, "it has no limit");
  system[HOLD] = 1;
  require(eyecast_start(engine, EYECAST_IMAGE_PROGRAM) == EYECAST_OK, "it starts");
  require(eyecast_wait(engine, 5) == EYECAST_WAITING, "the tile holds it");
  require(eyecast_load(engine, &eyecast_image) == EYECAST_BUSY, "nothing is loaded in a run");
  require(eyecast_clear(engine) == EYECAST_BUSY, "nothing is cleared in a run");
  require(eyecast_start(engine, EYECAST_IMAGE_PROGRAM) == EYECAST_BUSY, "nor started");
  require(eyecast_queue(engine, EYECAST_IMAGE_PROGRAM) == EYECAST_OK, "it is queued behind itself");
  for (int time = 0; time < 2; time++)
    require(eyecast_queue(engine, EYECAST_IMAGE_PROGRAM) == EYECAST_REFUSED, "one can be queued");
  eyecast_stop(engine);
  require(eyecast_wait(engine, 3) == EYECAST_WAITING, "it was stopped before its end");
  require(eyecast_start(engine, EYECAST_IMAGE_PROGRAM) == EYECAST_OK, "it starts again");
  require(eyecast_queue(engine, EYECAST_IMAGE_PROGRAM) == EYECAST_OK, "it is queued again");
  system[HOLD] = 0;
  require(eyecast_wait(engine, POLLS) == EYECAST_OK, "both runs end");
  require(change(ENTRY(limit), 9) == EYECAST_OK, "the limit is written");
  system[HOLD] = 1;
  require(eyecast_start(engine, EYECAST_IMAGE_PROGRAM) == EYECAST_OK, "it starts with a limit");
  require(eyecast_wait(engine, POLLS) == EYECAST_TIMED_OUT, "it reaches the limit");
  while (eyecast_culprit(engine, &node, &flags) == EYECAST_WAITING) {
  }
  require(node == 0 && flags == 0, "node 0 is late, without a flag");
  system[HOLD] = 0;
}

/* A program of which the last row is missing. */
static void fail(void) {
  unsigned node, flags;
  require(eyecast_load(engine, &eyecast_image) == EYECAST_OK, "it loads again");
  require(change(ENTRY(words), LAST_ROW) == EYECAST_OK, "it is cut");
  require(eyecast_start(engine, EYECAST_IMAGE_PROGRAM) == EYECAST_OK, "it starts without its end");
  require(eyecast_wait(engine, POLLS) == EYECAST_FAILED, "it fails");
  while (eyecast_culprit(engine, &node, &flags) == EYECAST_WAITING) {
  }
  require(node == CUT_NODE && flags == EYECAST_ENGINE__STATUS_F__FLAGS__BAD_ROW_bm, "who failed");
  require(eyecast_load(engine, &eyecast_image) == EYECAST_OK, "it is whole again");
}

static void interrupt(void) {
  eyecast_acknowledge(engine);
  eyecast_enable_interrupt(engine, 1);
  for (int run = 0; run < 2; run++) {
    require(!system[INTERRUPT], "no interrupt before the end");
    require(eyecast_start(engine, EYECAST_IMAGE_PROGRAM) == EYECAST_OK, "it starts");
    sleep();
    require(eyecast_wait(engine, 0) == EYECAST_OK, "the end interrupts");
    eyecast_acknowledge(engine);
  }
  eyecast_enable_interrupt(engine, 0);
  start_and_wait();
  require(!system[INTERRUPT], "no interrupt after it is disabled");
}

int main(void) {
  static uint32_t resets;
  system[PAUSES] = resets > 0;
  require(eyecast_wait(engine, 3) == EYECAST_WAITING, "nothing has run since the reset");
  if (resets++ < RESETS) {
    /* The system is reset during one of the accesses that follow. */
    system[RESET_IN] = 2 + resets * resets;
    for (;;) {
      require(eyecast_load(engine, &eyecast_image) == EYECAST_OK, "it loads");
      broadcast(resets);
    }
  }
  refuse();
  require(eyecast_clear(engine) == EYECAST_OK, "every word of every memory is there");
  require(eyecast_read(engine, 1, 0) == 0, "it is cleared");
  require(eyecast_load(engine, &eyecast_image) == EYECAST_OK, "it loads");
  start_and_wait();
  for (unsigned word = 0; word < WORDS; word++)
    require(eyecast_read(engine, 1, word) == eyecast_read(engine, 0, word), "the same words");
  broadcast(0x11111111);
  hold();
  fail();
  interrupt();
  print("PASS\n");
  return 0;
}
