/* Bitonic sort: every tile has COUNT sorted numbers; partners exchange theirs, and one keeps the
   smaller half, the other the larger half. */
#include <ey.h>

#include "drawn.h"
#include "naive.h"

enum { COUNT = 16, TILES = 16 };
static int own[COUNT], other[COUNT];

static void sort(void) {
    for (int i = 1; i < COUNT; i++)
        for (int j = i; j && own[j - 1] > own[j]; j--) {
            int kept = own[j];
            own[j] = own[j - 1], own[j - 1] = kept;
        }
}

static void keep(int larger) {
    int merged[COUNT], a = larger ? COUNT - 1 : 0, b = a, step = larger ? -1 : 1;
    for (int i = 0; i < COUNT; i++) {
        int mine = larger ? own[a] > other[b] : own[a] < other[b];
        merged[larger ? COUNT - 1 - i : i] = mine ? own[a] : other[b];
        if (mine) a += step; else b += step;
    }
    for (int i = 0; i < COUNT; i++) own[i] = merged[i];
}

static void exchange(int bits) {
    switch (bits) {
        case 1: EXCHANGE(own, 16, EY_INT, other, 1); break;
        case 2: EXCHANGE(own, 16, EY_INT, other, 2); break;
        case 4: EXCHANGE(own, 16, EY_INT, other, 4); break;
        case 8: EXCHANGE(own, 16, EY_INT, other, 8); break;
    }
}

int main(void) {
    int rank = ey_rank();
    for (int run = 0; run < RUNS; run++) {
        seed(run);
        for (int i = 0; i < COUNT; i++) own[i] = drawn(1 << 16);
        sort();
        for (int size = 2; size <= TILES; size *= 2)
            for (int bits = size / 2; bits; bits /= 2) {
                exchange(bits);
                int up = (rank & size) == 0 || size == TILES;
                keep(((rank & bits) != 0) == up);
            }
        ey_print("%d ... %d, digest %x\n", own[0], own[COUNT - 1], digest(own, COUNT));
    }
    return 0;
}
