// One of each statement and operator, in a thread and in main.
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CHECK(condition)                                \
    do {                                                \
        if (!(condition))                               \
            abort();                                    \
    } while (0)

typedef enum { RED, GREEN = 3, BLUE } color_t;

struct point {
    int x, y;
    struct {
        uint8_t small;
        int64_t large;
    } inner[2];
};

static const int table[] = { 1, 2, [3] = 4 };
static struct point points[2] = { { 1, 2, { { 3, 4 }, { 5, 6 } } }, { .y = 7 } };
static _Thread_local int own = 5;
static volatile int flag;

static inline int max(int a, int b) { return a > b ? a : b; }

static int classify(color_t color)
{
    static int calls;
    calls++;
    switch (color) {
    case RED:
        return 1;
    case GREEN:
    case BLUE: {
        int result = calls & 1;
        return result ? 2 : 2;
    }
    default:
        break;
    }
    return -1;
}

static void *thread(void *argument)
{
    struct point *point = argument;
    int sum = 0;
    for (int i = 0, j = 3; i < 4 && j >= 0; i++, --j) {
        if (i == 2)
            continue;
        sum += table[i] << 1;
    }
    while (true) {
        if (sum-- <= 10)
            break;
    }
    do
        sum ^= 0x5;
    while (sum > 1000);
again:
    point->inner[1].large = max(sum, (int)point->x);
    if (point->inner[1].large < 0)
        goto again;
    else if (own == 5 && !flag)
        own = ~own;
    point[0].inner[0].small = (uint8_t)(sum % 7);
    flag = 1, sum = COUNT(table);
    printf("%d\n", sum);
    CHECK(classify(GREEN) == 2);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t id;
    int *cells = calloc(3, sizeof *cells);
    int grid[2][3] = { { 1 }, { 2, 3 } };
    assert(grid[1][1] == 3 && grid[0][2] == 0);
    pthread_create(&id, NULL, thread, &points[1]);
    cells[1] = INT_MAX;
    int *last = &cells[2];
    *last = *(cells + 1) / 2;
    assert(last - cells == 2);
    pthread_join(id, NULL);
    free(cells);
    assert(points[1].y == 7 && flag);
    assert(points[1].inner[0].small <= 6);
    return 0;
}
