/* assert(condition) is a call, unless NDEBUG is defined. This file may be included again. */
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#endif
#undef static_assert
#define static_assert _Static_assert
