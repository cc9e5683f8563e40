/* Figures as people read them. */
#ifndef REPORT_NUMBER_H
#define REPORT_NUMBER_H

#include <stdint.h>

struct number {
    char text[32];
};

/* About three significant digits, no exponent, thousands apart: "0.612", "49.8", "26,998"; "-" for
 * what is not finite. */
struct number number_short(double x);

/* A ratio: two decimals, three near 1, more where they would be all there is: "1.21", "1.004". */
struct number number_ratio(double x);

/* A whole number with its thousands apart. */
struct number number_whole(double x);

/* A time with its unit: "812 ns", "49.8 us", "27 ms", "1.5 s". */
struct number number_time(double ns);

/* A size with its unit: "4 KiB", "2 MiB", "12,288 bytes". */
struct number number_size(uint64_t bytes);

#endif
