//! Infers the fewest fences from the library: `cargo run --example infer [FILE]`.

use fencesmith::lang::insert_fences;
use fencesmith::program::FenceKind;
use fencesmith::{Conclusion, InferOptions, Model, Monitor, Source, VerifyOptions, compile, infer};
use std::error::Error;

const MESSAGE_PASSING: &str = "\
shared bool data, ready;
process writer {
    store data = true;
    store ready = true;
}
process reader {
    bool r, d;
    load r = ready;
    load d = data;
}
final !reader.r || reader.d;   // who sees the flag sees the data
";

fn main() -> Result<(), Box<dyn Error>> {
    let source = match std::env::args().nth(1) {
        Some(path) => Source::new(path.clone(), std::fs::read_to_string(path)?),
        None => Source::new("mp.fen", MESSAGE_PASSING),
    };
    print!("{}", fenced(&source, Model::Pso)?);
    Ok(())
}

/// The program with the fewest fences that make it correct.
fn fenced(source: &Source, model: Model) -> Result<String, Box<dyn Error>> {
    let program =
        compile(source).map_err(|errors| fencesmith::diagnostic::render(source, &errors, false))?;
    let costs = vec![Some(1); program.points.len()];
    let options = InferOptions::new(VerifyOptions::refining(model), costs);
    match infer(&program, &options, &Monitor::default()).conclusion {
        Conclusion::Correct(_) => Ok(source.text().to_string()),
        Conclusion::Placed(placed) => {
            let points = placed.best.fences.iter();
            let sites = points.map(|point| program.points[point.index()].sites[0]);
            let fences: Vec<_> = sites.map(|site| (site, FenceKind::Full)).collect();
            Ok(insert_fences(source, &fences))
        }
        Conclusion::IncorrectUnderSc(..) => Err("wrong even under SC".into()),
        Conclusion::Unfixable(_) => Err("no fence can mend it".into()),
        Conclusion::Inconclusive(obstacle) => Err(format!("not known: {obstacle:?}").into()),
    }
}

#[test]
fn message_passing_needs_one_fence_under_pso() {
    let source = Source::new("mp.fen", MESSAGE_PASSING);
    let fenced = |model| fenced(&source, model).expect("it can be mended");
    assert_eq!(fenced(Model::Tso), MESSAGE_PASSING);
    let expected = "store data = true;\n    fence;\n    store ready = true;";
    assert!(fenced(Model::Pso).contains(expected));
}
