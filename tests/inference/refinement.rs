//! What k = 1 cannot decide is asked again with a larger k: not only whether a placement
//! verifies, but also whether fences of the text are needed, which kinds of fences do, and
//! what happens without a fence.

use fencesmith::infer::{Conclusion, InferOptions, Inference, Placement, Prices, infer};
use fencesmith::limits::Monitor;
use fencesmith::lower::compile;
use fencesmith::memory::{Abstraction, Model};
use fencesmith::program::FenceKind;
use fencesmith::source::Source;
use fencesmith::verify::{Verdict, VerifyOptions};

/// Infers under TSO with everything that can be asked, with some k or with one that may
/// grow.
fn inferred(text: &str, k: Option<usize>) -> Inference {
    let program = compile(&Source::new("program.fen", text)).expect("it compiles");
    let verify = match k {
        Some(k) => VerifyOptions::new(Model::Tso, Abstraction::Fd { k }),
        None => VerifyOptions::refining(Model::Tso),
    };
    let options = InferOptions {
        why: true,
        prune: true,
        kinds: Some(Prices::default()),
        ..InferOptions::new(verify, vec![Some(1); program.points.len()])
    };
    infer(&program, &options, &Monitor::default())
}

fn best(found: &Inference) -> &Placement {
    match &found.conclusion {
        Conclusion::Placed(placed) => &placed.best,
        other => panic!("{other:?}"),
    }
}

/// Peterson's algorithm with the fences that PSO needs: TSO needs only the second one, but
/// without the first FD(k=1) has a counterexample that is not real.
const PETERSON: &str = "
shared int[0..=1] turn = *;
shared bool ent[2];
process p[i in 0..=1] {
    bool e;
    int[0..=1] t;
    while (true) {
        store ent[i] = true;
        fence;
        store turn = 1 - i;
        fence;
        do { load e = ent[1 - i]; load t = turn; } while (e && t == 1 - i);
    critical: skip;
        store ent[i] = false;
    }
}
mutex critical;
";

#[test]
fn fences_that_only_a_larger_k_removes() {
    let first = PETERSON.find("fence;").expect("it has fences") as u32;
    for (k, removed, is_most, rests_on) in [
        (Some(1), vec![], false, 1),
        (Some(2), vec![first], true, 2),
        (None, vec![first], true, 2),
    ] {
        let found = inferred(PETERSON, k);
        assert!(matches!(found.conclusion, Conclusion::Correct(_)));
        let removable = found.removable.expect("asked for");
        let starts: Vec<u32> = removable.fences.keys().map(|span| span.start).collect();
        assert_eq!((starts, removable.is_most), (removed, is_most), "{k:?}");
        assert_eq!(found.abstraction, Abstraction::Fd { k: rests_on }, "{k:?}");
        let tried = if k.is_none() { vec![1] } else { vec![] };
        assert_eq!(found.tried, tried, "{k:?}");
    }
}

/// Behind a store-load fence of the placement, two more of them are pending together, and
/// FD(k=1) forgets the order of the stores to x.
#[test]
fn kinds_that_only_a_larger_k_proves() {
    let text = "
shared bool z, y;
shared int[0..=2] x;
process p {
    bool r = true;
    store z = true;
    nofence { if (*) { load r = y; } past: skip; store x = 1; fence sl; store x = 2; fence sl; }
}
process q {
    bool s = true;
    int[0..=2] a, b;
    store y = true; fence; load s = z; past: skip; load a = x; load b = x;
    assert(!(a == 2 && b == 1));
}
forbid p at past && q at past && !p.r && !q.s;
";
    for (k, kind) in [
        (Some(1), FenceKind::Full),
        (Some(2), FenceKind::StoreLoad),
        (None, FenceKind::StoreLoad),
    ] {
        let found = inferred(text, k);
        let best = best(&found);
        assert_eq!(best.kinds, [kind], "{k:?}");
        // What a certificate is about: the proof with full fences.
        let verified = Abstraction::Fd { k: k.unwrap_or(1) };
        assert_eq!(best.abstraction, verified, "{k:?}");
    }
}

/// Without the second fence, the shortest counterexample of FD(k=1) is not real.
#[test]
fn reasons_that_only_a_larger_k_shows() {
    let text = "
shared bool u, v, w, t;
shared int[0..=2] x;
process p {
    bool r = true, r2 = true;
    store u = true;
    store x = 1;
    nofence { load r = v; one: skip; store w = true; }
    nofence { if (*) { load r2 = t; } store x = 2; two: skip; }
}
process q {
    bool s = true, s2 = true;
    nofence {
        store v = true; fence; load s = u; one: skip;
        store t = true; fence; load s2 = w; skip; skip; skip; two: skip;
    }
}
process o {
    int[0..=2] a;
    bool b;
    nofence { load a = x; load b = w; assert(!(a == 2 && !b)); }
}
forbid p at one && q at one && !p.r && !q.s;
forbid p at two && q at two && !p.r2 && !q.s2;
";
    let real = |k| -> Vec<bool> {
        let found = inferred(text, k);
        let reasons = best(&found).why.iter();
        reasons
            .map(|why| why.verdict == Verdict::Violated)
            .collect()
    };
    assert_eq!(real(Some(1)), [true, false]);
    assert_eq!(real(Some(2)), [true, true]);
    assert_eq!(real(None), [true, true]);
}
