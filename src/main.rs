use fencesmith::*;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let model = match std::env::args().nth(2).unwrap().as_str() { "sc" => verify::Model::Sc, "tso" => verify::Model::Tso, _ => verify::Model::Pso };
    let bound = std::env::args().nth(3).unwrap().parse().unwrap();
    let threads = std::env::args().nth(4).unwrap().parse().unwrap();
    let fuse = std::env::args().nth(5).is_none();
    let source = source::Source::new(path.clone(), std::fs::read_to_string(path).unwrap());
    let program = match lower::compile(&source) { Ok(p) => p, Err(d) => { print!("{}", diagnostic::render(&source, &d, false)); return } };
    let program = program.fenced(&Default::default());
    let t = std::time::Instant::now();
    let a = verify::verify(&program, &verify::Options { model, abstraction: verify::Abstraction::Exact { bound }, atomics: memory::Atomics::DrainPlace, fuse, reset_dead: true, full: false, deadlock: false, threads, limits: Default::default() }, &Default::default());
    let el = t.elapsed().as_secs_f64();
    println!("{:?} {} states {} trans depth {} configs {} bytes {} in {:.3}s: {:.2} M/s", a.outcome, a.exploration.states, a.exploration.transitions, a.exploration.depth, a.exploration.configs, a.exploration.bytes, el, a.exploration.states as f64 / el / 1e6);
    if let Some((v, Some(t))) = &a.exploration.violation { println!("{v:?} {} steps", t.steps.len()); for s in &t.steps { println!("  {} {:?} mem {:?}", s.process.0, s.step.effect, s.after.memory); } }
}
