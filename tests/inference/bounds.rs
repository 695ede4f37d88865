//! What is known of placements when a limit ends an inference.

use fencesmith::infer::{Conclusion, InferOptions, infer};
use fencesmith::limits::Monitor;
use fencesmith::memory::Model;
use fencesmith::verify::{SearchKind, Verdict, VerifyOptions};
use fencesmith_testing::programs;
use fencesmith_testing::programs::header::{Answer, Question};
use rayon::prelude::*;

/// On the suite, with few states: what is called verified is correct, no placement is cheaper than
/// the lower bound, and what is called optimal is.
#[test]
fn bounds_hold() {
    let names = programs::all();
    let asked = names.par_iter().flat_map_iter(|name| {
        let models = [Model::Tso, Model::Pso].into_iter();
        models.flat_map(move |model| [60, 200, 600, 2_000].map(|most| (name, model, most)))
    });
    let bounded: usize = asked
        .map(|(name, model, most)| {
            let source = programs::source(name);
            let program = programs::program(&source);
            let Answer::Cost(cost) = programs::header(&source)
                .fact(Question::Fences(model))
                .answer
            else {
                return 0;
            };
            let plain = VerifyOptions {
                search: SearchKind::Plain,
                ..VerifyOptions::refining(model)
            };
            let limited = programs::capped(plain.clone(), most);
            let options = InferOptions::new(limited, vec![Some(1); program.points.len()]);
            let found = infer(&program, &options, &Monitor::default());
            let what = format!("{name} under {model} with {most} states");
            let best = match (&found.conclusion, &found.bounds) {
                (Conclusion::Inconclusive(_), Some(bounds)) => {
                    assert!(bounds.lower <= cost && cost <= bounds.best.cost, "{what}");
                    &bounds.best
                }
                (Conclusion::Placed(placed), None) => {
                    assert_eq!(placed.best.cost, cost, "{what}");
                    &placed.best
                }
                (_, Some(_)) => panic!("an answer has no bounds: {what}"),
                (_, None) => return 0,
            };
            let fenced = program.fenced(&best.fences);
            let by = VerifyOptions::new(model, best.abstraction);
            let verdict = programs::answer(&fenced, &by).verdict;
            assert_eq!(verdict, Verdict::Correct, "{what}");
            usize::from(found.bounds.is_some())
        })
        .sum();
    println!("{bounded} with bounds");
    assert!(bounded > 40, "only {bounded}");
}
