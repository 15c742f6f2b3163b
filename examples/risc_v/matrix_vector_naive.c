/* The same with its collectives in software. */
#define NAIVE
#include "matrix_vector.c"
