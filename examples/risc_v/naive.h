/* Collectives of the applications. With NAIVE defined they are software: tile 0 gets a message from
   each of the 16 tiles, and sends a message to each. Count and type are numbers and names,
   and an exchange has 2^n words. */
#ifdef NAIVE
#define BCAST(words, count, type)                                                            \
    do {                                                                                     \
        static type each_[16 * count];                                                       \
        for (int i = 0; ey_rank() == 0 && i < 16 * count; i++) each_[i] = words[i % count];  \
        ey_scatter(each_, count, type, words, 0);                                            \
    } while (0)
#define SUM(words, count, type)                                                              \
    do {                                                                                     \
        static type all_[16 * count];                                                        \
        ey_gather(words, count, type, all_, 0);                                              \
        for (int i = count; ey_rank() == 0 && i < 16 * count; i++) words[i % count] += all_[i];\
        BCAST(words, count, type);                                                           \
    } while (0)
#define ALLGATHER(own, count, type, all, total)                                              \
    do {                                                                                     \
        ey_gather(own, count, type, all, 0);                                                 \
        BCAST(all, total, type);                                                             \
    } while (0)
#define EXCHANGE(own, count, type, other, bits)                                              \
    do {                                                                                     \
        static type all_[16 * count], each_[16 * count];                                     \
        ey_gather(own, count, type, all_, 0);                                                \
        for (int i = 0; ey_rank() == 0 && i < 16 * count; i++)                               \
            each_[i] = all_[i ^ count * bits];                                               \
        ey_scatter(each_, count, type, other, 0);                                            \
    } while (0)
#else
#define BCAST(words, count, type) ey_bcast(words, count, type, 0)
#define SUM(words, count, type) ey_allreduce(EY_IN_PLACE, words, count, type, EY_SUM)
#define ALLGATHER(own, count, type, all, total) ey_allgather(own, count, type, all)
#define EXCHANGE(own, count, type, other, bits) ey_exchange(own, count, type, other, bits)
#endif
