//! Random programs in which all processes are instances of one template, as text. Values are
//! mostly numbers of processes: stored, compared and used as indices.

use crate::random::Random;

/// What keeps the instances of a template interchangeable.
const SYMMETRIC: [&str; 24] = [
    "store x = i;",
    "store x = r;",
    "store y = s;",
    "store a[i] = r;",
    "store a[r] = i;",
    "store f[i] = true;",
    "store f[r] = false;",
    "load r = x;",
    "load s = y;",
    "load s = a[r];",
    "load r = a[i];",
    "load b = f[i];",
    "load b = f[r];",
    "swap r = x, i;",
    "swap s = a[i], n;",
    "cas b = x, r, i;",
    "cas b = x, n, i;",
    "r = s;",
    "s = i;",
    "fence;",
    "fence ss;",
    "assume (r != s);",
    "do { load r = x; } while (r == n);",
    "atomic { load r = x; store y = i; }",
];

/// What may tell them apart.
const OTHERS: [&str; 6] = [
    "store x = 0;",
    "store a[0] = i;",
    "r = (r + 1) % n;",
    "load s = a[1];",
    "if (r < i) { store y = i; }",
    "havoc r in 0..=n;",
];

/// The last two tell them apart.
const PROPERTIES: [&str; 10] = [
    "mutex here;",
    "forbid p[0].r == 1 && p[1].r == 0;",
    "forbid a[0] == 1 && a[1] == 0;",
    "invariant p[0].r != p[1].r || x == n;",
    "final x == n || p[0].s == p[1].s;",
    "final p[0].b || p[1].b;",
    "forbid p[0] at here && p[0].b; forbid p[1] at here && p[1].b;",
    "forbid x == n && p at here;",
    "forbid a[0] == 0 && p[0] at here;",
    "forbid p[0] at here && p[1].s == n;",
];

/// A program that is well-formed.
pub fn program(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let n = random.between(2, 3);
    let most = if n == 2 { 6 } else { 3 };
    let odd = if random.chance(25) { 20 } else { 0 };
    let mut body = String::new();
    let here = random.below(most);
    for at in 0..most {
        let statement = |random: &mut Random| match random.chance(odd) {
            true => random.pick(&OTHERS),
            false => random.pick(&SYMMETRIC),
        };
        let first = statement(&mut random);
        let conditions = ["r == i", "r != s", "b", "s == n"];
        let label = if at == here { "here: " } else { "" };
        body += &match random.chance(20) {
            true => {
                let condition = random.pick(&conditions);
                format!("    {label}if ({condition}) {{ {first} }}\n")
            }
            false => format!("    {label}{first}\n"),
        };
    }
    if random.chance(40) {
        body = format!("    while (true) {{\n{body}    }}\n");
    }
    let start = |random: &mut Random| if random.chance(odd) { "1" } else { "n" };
    let [x, s] = [(); 2].map(|()| start(&mut random));
    let r = if random.chance(40) { "i" } else { "n" };
    let known = PROPERTIES.len() - if random.chance(80) { 2 } else { 0 };
    let properties = [(); 2].map(|()| random.pick(&PROPERTIES[..known]));
    format!(
        "const n = {n};\n\
         shared int[0..=n] x = {x}, y = n;\n\
         shared int[0..=n] a[n + 1] = n;\n\
         shared bool f[n + 1];\n\
         process p[i in 0..=n - 1] {{\n    int[0..=n] r = {r}, s = {s};\n    bool b;\n{body}}}\n\
         {}\n{}\n",
        properties[0], properties[1]
    )
}
