//! Patterns that random programs are written around.

/// A pattern on `x` and `y` whose property tells the memory models apart, unless what is
/// written around it gets in the way.
#[derive(Clone, Copy)]
pub struct Theme {
    /// The lines of `p` and `q`.
    pub lines: [&'static [&'static str]; 2],
    pub property: &'static str,
    pub straight_line: bool,
}

pub const THEMES: [Theme; 7] = [
    Theme {
        lines: [
            &["store x = 1;", "load r = y;"],
            &["store y = 1;", "load r = x;"],
        ],
        property: "final !(p.r == 0 && q.r == 0);",
        straight_line: true,
    },
    Theme {
        lines: [
            &["store x = 1;", "store y = 1;"],
            &["load r = y;", "load s = x;"],
        ],
        property: "final !(q.r == 1 && q.s == 0);",
        straight_line: true,
    },
    Theme {
        lines: [
            &["store x = 1;", "store y = 1;"],
            &["store y = 0;", "load r = x;"],
        ],
        property: "final !(y == 0 && q.r == 0);",
        straight_line: true,
    },
    Theme {
        lines: [
            &["store x = 0;", "store y = 1;"],
            &["load r = y;", "store x = 1;"],
        ],
        property: "final !(x == 0 && q.r == 1);",
        straight_line: true,
    },
    Theme {
        lines: [
            &["store x = 1;", "load r = y;", "if (!r) { cs: skip; }"],
            &["store y = 1;", "load r = x;", "if (!r) { cs: skip; }"],
        ],
        property: "mutex cs;",
        straight_line: false,
    },
    Theme {
        lines: [
            &[
                "store x = 1;",
                "do { load r = y; } while (r);",
                "cs: skip;",
                "store x = 0;",
            ],
            &[
                "store y = 1;",
                "load r = x;",
                "if (!r) { cs: skip; }",
                "store y = 0;",
            ],
        ],
        property: "mutex cs;",
        straight_line: false,
    },
    Theme {
        lines: [
            &["store x = 1;", "store y = 1;"],
            &["load r = y;", "if (r) { load s = x; assert (s); }"],
        ],
        property: "",
        straight_line: false,
    },
];
