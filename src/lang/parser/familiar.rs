//! Words of other languages, and what to write instead.

/// What a familiar word is called here, with an example; none if it is not known.
pub fn instead_of(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    let word = word.strip_prefix("atomic_").unwrap_or(&word);
    let word = word.strip_suffix("_explicit").unwrap_or(word);
    Some(match word {
        "fetch_add" | "xadd" | "faa" | "inc" | "add_return" => {
            "`add r = x, 1;` adds to a shared variable and leaves its old value in r"
        }
        "fetch_sub" | "dec" | "sub_return" => {
            "`add r = x, -1;` subtracts from a shared variable and leaves its old value in r"
        }
        "xchg" | "exchange" | "swp" | "test_and_set" | "tas" | "flag_test_and_set" => {
            "`swap r = x, 1;` stores 1 and leaves the old value in r"
        }
        "cmpxchg"
        | "compare_exchange"
        | "compare_exchange_strong"
        | "compare_exchange_weak"
        | "compare_and_swap"
        | "compare_and_set" => "`cas ok = x, old, new;` leaves in ok whether it succeeded",
        "smp_mb" | "mb" | "mfence" | "membar" | "barrier" | "thread_fence" | "dmb"
        | "__sync_synchronize" => "`fence;` waits until nothing is pending",
        "smp_wmb" | "wmb" | "sfence" => "`fence ss;` keeps later stores behind earlier ones",
        "read" | "read_once" | "load" => "`load r = x;` reads a shared variable",
        "write" | "write_once" | "store" => "`store x = 1;` writes to a shared variable",
        "for" | "loop" | "repeat" | "forever" => {
            "loops are `while (c) { … }`, `for (i in 0..=3) { … }` and `repeat (3) { … }`"
        }
        "await" | "wait" | "wait_until" | "spin" => "`await (x != 0);` waits for a shared variable",
        "return" | "exit" | "halt" => "`stop;` ends the process",
        "choose" | "random" | "nondet" | "any" => "`havoc r in 0..=3;` chooses a value",
        "switch" | "case" => "`if (c) … else if (d) … else …` tells cases apart",
        _ => return None,
    })
}
