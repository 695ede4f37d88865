//! Table 1 and figure 6 of Kuperstein, Vechev and Yahav (PLDI 2011). The headers in
//! `algorithms/paper` have the verdicts; here they hold with one instruction a step as well,
//! as the paper counts states.

use fencesmith::memory::{Model, Semantics};
use fencesmith::verify::{Inconclusive, Verdict, VerifyOptions};
use fencesmith_testing::programs;
use fencesmith_testing::programs::header::{Answer, Question};

#[test]
fn one_instruction_a_step_gives_the_same_verdicts() {
    for name in ["sense1", "pet2", "dek2", "lam2", "fast3", "clh2", "fig6"] {
        let source = programs::source(&format!("paper/{name}"));
        let program = programs::program(&source).fenced(&Default::default());
        let mut answers = 0;
        for fact in programs::header(&source).expected {
            let Question::Verify(model, abstraction, atomics) = fact.question else {
                continue;
            };
            let options = VerifyOptions::under(Semantics {
                atomics,
                fuse: false,
                ..Semantics::new(model, abstraction)
            });
            let answer = match programs::answer(&program, &options).verdict {
                Verdict::Correct => Answer::Correct,
                Verdict::Inconclusive(Inconclusive::Spurious) => Answer::Spurious,
                other => panic!("{name}: {other:?}"),
            };
            assert_eq!(answer, fact.answer, "{name} under {model}, {abstraction}");
            answers += usize::from(model == Model::Pso);
        }
        assert!(answers >= 2, "{name} has {answers} verdicts under PSO");
    }
}
