//! What a fence is on real machines.

use crate::memory::Model;
use crate::names::named_enum;
use crate::program::FenceKind;

named_enum! {
    /// Where the program will run.
    pub enum Target: "target" {
        X86 = "x86",
        Sparc = "sparc",
        C11 = "c11",
    }
}

/// What must hold for an answer under a memory model to hold on a target.
pub fn assumption(target: Target, model: Model) -> Option<String> {
    match target {
        Target::X86 | Target::Sparc => None,
        Target::C11 => Some(format!(
            "c11: only on machines whose memory model is {} or stronger, with every shared access atomic and at least acquire or release; C11 itself allows more",
            model.upper()
        )),
    }
}

/// The instruction or call to use for a fence.
pub fn instruction(target: Target, kind: FenceKind) -> &'static str {
    match (target, kind) {
        (Target::X86, FenceKind::Full | FenceKind::StoreLoad) => {
            "mfence, or a locked instruction such as lock addl $0,(%rsp)"
        }
        (Target::X86, FenceKind::StoreStore) => "nothing: stores stay in order",
        (Target::Sparc, FenceKind::Full) => "membar #StoreStore | #StoreLoad",
        (Target::Sparc, FenceKind::StoreLoad) => "membar #StoreLoad",
        (Target::Sparc, FenceKind::StoreStore) => "membar #StoreStore",
        (Target::C11, FenceKind::Full | FenceKind::StoreLoad) => {
            "atomic_thread_fence(memory_order_seq_cst)"
        }
        (Target::C11, FenceKind::StoreStore) => "atomic_thread_fence(memory_order_release)",
    }
}
