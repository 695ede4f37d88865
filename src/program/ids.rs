//! Numbers that stand for the parts of a program.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids!(
    /// A shared place: a scalar or one cell of an array.
    PlaceId,
    ProcessId,
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
