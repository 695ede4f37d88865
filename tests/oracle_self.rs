mod oracle;

use oracle::generate::{Options, program};

#[test]
fn show() {
    for seed in 0..6 {
        println!("// {seed}\n{}", program(seed, &Options::default()));
    }
}
