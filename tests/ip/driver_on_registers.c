/* A register file in an engine's place, for a package's driver. The registers and what is refused
 * are written from docs/router.md, section 16: word n of the controller is at byte address n times
 * the bytes of a word. */
#include <stdio.h>
#include <stdlib.h>

#include "eyecast.h"
#include "eyecast_image.h"

enum { IDENTITY, IMAGE, COMMAND, RESULT, CYCLE, QUEUED, ENABLE, REFUSED };
enum { NO_SUCH_WORD = 1, NOT_NOW = 2, NONE = 1 };
enum { SIZE = sizeof(eyecast_word_t), END = 8 * SIZE, SENT = 2 * EYECAST_PIECES };

static uint64_t registers[8];
static unsigned writes;
/* The last words that were written, and their addresses. */
static uint32_t written_at[SENT];
static uint64_t written[SENT];
static uint32_t refuse_address = NONE;

uint64_t read_register(uint32_t address) {
  return address < END ? registers[address / SIZE] : address;
}

void write_register(uint32_t address, uint64_t word) {
  const uint64_t state = registers[RESULT] >> 8 & 7;
  const int running = state == 1 || state == 2;
  written_at[writes % SENT] = address;
  written[writes++ % SENT] = word;
  if (address == SIZE * IDENTITY) {
    writes--;
    registers[REFUSED] = address | NO_SUCH_WORD;
  } else if (address == refuse_address || (address >= END && running)) {
    registers[REFUSED] = address | NOT_NOW;
  } else if (address < END) {
    registers[address / SIZE] = word;
  }
}

static void require(int holds, const char *what) {
  if (!holds) {
    printf("FAIL: %s\n", what);
    exit(1);
  }
}

static eyecast_status_t load(void) {
  writes = 0;
  return eyecast_load(NULL, &eyecast_image);
}

/* Every word of every memory is written once, and nothing else is. */
static void clear_all(void) {
  const unsigned words = EYECAST_MESSAGE_WORDS * EYECAST_PIECES + EYECAST_TABLES * EYECAST_TABLE_WORDS;
  const uint64_t before = registers[IDENTITY];
  writes = 0;
  require(eyecast_clear(NULL) == EYECAST_OK, "memories are cleared");
  require(writes == EYECAST_NODES * words, "every word is cleared");
  require(registers[IDENTITY] == before, "no register is cleared");
  registers[RESULT] = 2 << 8;
  writes = 0;
  require(eyecast_clear(NULL) == EYECAST_BUSY && writes == 0, "nothing is cleared in a run");
  registers[RESULT] = 0;
}

/* Two words from address 1 of node 1: piece after piece, each word at its own address. */
static void move_words(void) {
  const uint32_t begin = (uint32_t)(offsetof(eyecast_engine_t, message) +
                                    sizeof(((eyecast_engine_t *)0)->message[0]));
  eyecast_word_t sent[SENT], found[SENT];
  uint32_t at;
  for (unsigned i = 0; i < SENT; i++) sent[i] = 7 + i;
  writes = 0;
  require(eyecast_write(NULL, 1, 1, sent, 2) == EYECAST_OK && writes == SENT, "words are written");
  require(eyecast_read_words(NULL, 1, 1, found, 2) == EYECAST_OK, "words are read");
  for (unsigned i = 0; i < SENT; i++) {
    at = begin + (EYECAST_PIECE_STRIDE * (1 + i / EYECAST_PIECES) + i % EYECAST_PIECES) * SIZE;
    require(written_at[i] == at && written[i] == sent[i], "a piece is written in its place");
    require(found[i] == at, "a piece is read from its place");
  }
}

int main(void) {
  registers[IDENTITY] = eyecast_image_words[0];
  clear_all();
  move_words();
  require(load() == EYECAST_OK && writes == EYECAST_IMAGE_WRITES, "an image is loaded");
  for (uint32_t state = 1; state < 3; state++) {
    registers[RESULT] = state << 8;
    require(load() == EYECAST_BUSY && writes == 0, "nothing is loaded in a run");
  }
  registers[RESULT] = 3 << 8;
  refuse_address = eyecast_image_parts[1].address;
  for (int time = 0; time < 2; time++) {
    uint32_t address;
    require(load() == EYECAST_REFUSED, "a write that is refused is told");
    require(eyecast_refused(NULL, &address) == NOT_NOW && address == refuse_address, "which one");
  }
  refuse_address = NONE;
  require(load() == EYECAST_OK, "an old refusal is not told again");
  registers[IDENTITY] ^= 1;
  require(load() == EYECAST_OTHER_NETWORK && writes == 1, "another network's memories are kept");
  eyecast_enable_interrupt(NULL, 5);
  require(registers[ENABLE] == 1, "the interrupt is enabled");
  eyecast_enable_interrupt(NULL, 0);
  require(registers[ENABLE] == 0, "the interrupt is disabled");
  eyecast_stop(NULL);
  require(registers[COMMAND] == 2, "a run is stopped");
  for (uint32_t known = 0; known < 2; known++) {
    unsigned node, flags;
    registers[RESULT] = 7u << 16 | known << 11 | 4 << 8 | known << 5;
    require(eyecast_culprit(NULL, &node, &flags) == (known ? EYECAST_OK : EYECAST_WAITING) &&
                node == 7 && flags == known << 5,
            "the flags of the culprit are known later");
  }
  eyecast_acknowledge(NULL);
  require(registers[COMMAND] == 3, "the end is acknowledged");
  printf("PASS\n");
  return 0;
}
