//! What has gone wrong with the run, if anything has.

use super::channel::{BEAT, Link};
use crate::limits::Monitor;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The state of the run as one process sees it.
pub struct Health {
    failed: AtomicBool,
    /// The run is at its end, and others may close their connections.
    ending: AtomicBool,
    first: Mutex<Option<String>>,
    links: Mutex<Vec<Link>>,
    /// Searches of this process end when something fails.
    pub monitor: Monitor,
}

impl Health {
    /// A run whose searches are watched and interrupted by this monitor.
    pub fn new(monitor: Monitor) -> SharedHealth {
        Arc::new(Health {
            failed: AtomicBool::new(false),
            ending: AtomicBool::new(false),
            first: Mutex::new(None),
            links: Mutex::new(Vec::new()),
            monitor,
        })
    }

    /// Another process has come, and will be told of failures.
    pub fn add(&self, link: Link) {
        self.links.lock().expect("no thread panics here").push(link);
    }

    /// A process as messages name it.
    pub fn name_of(&self, process: usize) -> String {
        let links = self.links.lock().expect("no thread panics here");
        let known = links.iter().find(|link| link.peer.process == process);
        known.map_or(format!("process {process}"), |link| link.peer.to_string())
    }

    /// Tells all others that this process is alive, for as long as it is.
    pub fn beat(&self) -> ! {
        loop {
            let links = self.links.lock().expect("no thread panics here").clone();
            links.iter().for_each(Link::beat);
            std::thread::sleep(BEAT);
        }
    }

    /// Ends the run. The first message stays, and is passed on.
    pub fn fail(&self, message: String) {
        {
            let mut first = self.first.lock().expect("no thread panics here");
            if first.is_some() || self.is_ending() {
                return;
            }
            *first = Some(message.clone());
        }
        self.monitor.lose();
        let links = std::mem::take(&mut *self.links.lock().expect("no thread panics here"));
        // Nobody waits for a process that does not read.
        std::thread::spawn(move || links.iter().for_each(|link| link.tell_failure(&message)));
        self.failed.store(true, Ordering::Release);
    }

    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// What has failed first.
    pub fn failure(&self) -> Option<String> {
        self.first.lock().expect("no thread panics here").clone()
    }

    /// From now on connections may end.
    pub fn end(&self) {
        self.ending.store(true, Ordering::Release);
    }

    pub fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }
}

/// Stays here until the process ends: a thread that can do nothing more must neither return nor
/// panic, which would be taken for an end of the search.
pub fn rest() -> ! {
    loop {
        std::thread::park();
    }
}

/// The health that all threads of a process share.
pub type SharedHealth = Arc<Health>;
