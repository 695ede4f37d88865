/* The filter lock for three processes, each of which enters once, under PSO with store
   buffers of length 1. It is written for the comparison with filter3.fen: the two have the
   same states and transitions.

   Every process has one slot per place it stores to: 0 if it is empty, otherwise the
   value plus one. A store waits until its slot is empty; a load takes the value from
   the own slot if there is one; a flush moves a slot to memory, at any time. A d_step
   is one transition of the program: it tests, does one thing, and resets the locals
   that are not read any more. */

byte level[3];
byte victim[3];

byte slot_level[3];      /* of process i, for level[i] */
byte slot_victim1[3];    /* of process i, for victim[1] */
byte slot_victim2[3];    /* of process i, for victim[2] */

#define i       _pid
#define LEFT    ((i + 1) % 3)
#define RIGHT   ((i + 2) % 3)

#define STORE(slot, value)      if :: d_step { slot == 0; slot = (value) + 1 } fi
#define LOAD(slot, memory)      (slot -> slot - 1 : memory)
#define FLUSH(slot, memory)     d_step { slot != 0; memory = slot - 1; slot = 0 }
#define TEST(condition)         d_step { condition; a = 0; b = 0 }

#define ENTER(n, slot_victim)                                       \
        STORE(slot_level[i], n);                                    \
        STORE(slot_victim[i], i);                                   \
        do                                                          \
        ::  a = level[LEFT];                                        \
            b = level[RIGHT];                                       \
            if                                                      \
            ::  TEST(a < n && b < n) -> break                       \
            ::  TEST(!(a < n && b < n))                             \
            fi;                                                     \
            a = LOAD(slot_victim[i], victim[n]);                    \
            if                                                      \
            ::  TEST(a == i)                                        \
            ::  TEST(a != i) -> break                               \
            fi                                                      \
        od

active [3] proctype p()
{
        byte a, b;
        ENTER(1, slot_victim1);
        ENTER(2, slot_victim2);
        skip;
        STORE(slot_level[i], 0);
end:    false
}

active proctype buffers()
{
end:    do
        ::  FLUSH(slot_level[0], level[0])
        ::  FLUSH(slot_level[1], level[1])
        ::  FLUSH(slot_level[2], level[2])
        ::  FLUSH(slot_victim1[0], victim[1])
        ::  FLUSH(slot_victim1[1], victim[1])
        ::  FLUSH(slot_victim1[2], victim[1])
        ::  FLUSH(slot_victim2[0], victim[2])
        ::  FLUSH(slot_victim2[1], victim[2])
        ::  FLUSH(slot_victim2[2], victim[2])
        od
}
