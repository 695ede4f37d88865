//! Everything that is written down and read again: answers, traces, certificates, cells of
//! sweeps. One type serves both directions, so that what is written can be read. The names
//! are a contract; the types are built from those of the core by hand.

mod answer;
mod broken;
mod cell;
mod certificate;
mod check;
mod manifest;
mod occupancy;
mod stats;
mod trace;

pub use answer::{
    Answer, Fence, Formula, InferAnswer, InferConfig, Outcome, OwnFence, Placement, SCHEMA,
    Stopped, VerifyAnswer, VerifyConfig, Violation, schema,
};
pub use broken::{BrokenOutcome, BrokenProgram, Message};
pub use cell::{Cell, CellRecord, Measured, MeasuredRecord, Mode, TriedHeads};
pub use certificate::{
    CERTIFICATE_SCHEMA, CORRECTNESS_SCHEMA, Certificate, CertificateHead, CorrectnessCertificate,
    Execution, LowerBound, PointName, PricedPoint, Proof,
};
pub use check::{CheckAnswer, CheckOutcome, Claim, CorrectnessClaim, PriceList, ProofBasis};
pub use manifest::{ListedProgram, MANIFEST_SCHEMA, Manifest};
pub use occupancy::{
    BuffersAnswer, BuffersCommand, BuffersConfig, BuffersOutcome, BuffersStats, QueueRecord,
    RoundRecord, StatementRecord,
};
pub use stats::{Stats, Timing, Tried};
pub(crate) use trace::locals;
pub use trace::{Initial, Spin, Step, StepKind, TRACE_SCHEMA, TraceConfig, TraceFile};
