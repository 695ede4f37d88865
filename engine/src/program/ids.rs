//! Numbers that stand for the parts of a program.

use crate::ids::ids;

ids!(
    /// A shared place: a scalar or one cell of an array.
    PlaceId,
    ProcessId,
    PropertyId,
    /// A local variable of one process.
    LocalId,
    /// A control position of one process.
    Loc,
    /// An edge of one process's automaton.
    EdgeId,
    /// A fence point of the program.
    PointId,
    /// A store instruction of one process.
    Label
);
