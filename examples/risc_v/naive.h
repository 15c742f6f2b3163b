/* Collectives in software, of one message for each tile: tile 0 gets the words of all, adds them, and
   sends the sum to each. With NAIVE defined they take the place of those of the network. */
#ifdef NAIVE
#define SUM(words, count, type)                                                              \
    do {                                                                                     \
        static type all_[16 * count];                                                        \
        ey_gather(words, count, type, all_, 0);                                              \
        for (int i = 0; ey_rank() == 0 && i < count; i++) {                                  \
            for (int tile = 1; tile < 16; tile++) all_[i] += all_[tile * count + i];         \
            for (int tile = 1; tile < 16; tile++) all_[tile * count + i] = all_[i];          \
        }                                                                                    \
        ey_scatter(all_, count, type, words, 0);                                             \
    } while (0)
#else
#define SUM(words, count, type) ey_allreduce(EY_IN_PLACE, words, count, type, EY_SUM)
#endif
