//! The states of a search, and which of them cover others.

use super::known::Zones;

/// States by number.
#[derive(Default)]
pub struct States {
    all: Vec<State>,
    /// By state of the frame: where its list is.
    lists: Vec<List>,
    /// The lists of all states of the frame. One that outgrows its room moves to the end.
    listed: Vec<Listed>,
}

/// A state of the frame with a zone.
#[derive(Clone, Copy)]
pub struct State {
    pub frame: u32,
    pub zone: u32,
    /// Where it comes from, and by which step.
    pub parent: u32,
    pub via: u32,
    pub covered: bool,
}

/// The states of one state of the frame that nothing covers.
#[derive(Clone, Copy, Default)]
struct List {
    start: u32,
    len: u32,
    room: u32,
}

#[derive(Clone, Copy)]
struct Listed {
    zone: u32,
    state: u32,
}

impl States {
    pub fn len(&self) -> u64 {
        self.all.len() as u64
    }

    pub fn get(&self, state: u32) -> State {
        self.all[state as usize]
    }

    /// The frame and the zone of a state.
    pub fn parts(&self, state: u32) -> (u32, u32) {
        let State { frame, zone, .. } = self.all[state as usize];
        (frame, zone)
    }

    pub fn bytes(&self) -> u64 {
        let (all, listed) = (size_of_val(&self.all[..]), size_of_val(&self.listed[..]));
        (all + listed + size_of_val(&self.lists[..])) as u64
    }

    fn of(&self, frame: u32) -> &[Listed] {
        match self.lists.get(frame as usize) {
            Some(list) => &self.listed[list.start as usize..][..list.len as usize],
            None => &[],
        }
    }

    /// The zone of the first state of a state of the frame, if there is one.
    pub fn zone_of(&self, frame: u32) -> Option<u32> {
        self.of(frame).first().map(|listed| listed.zone)
    }

    /// Whether a state is known that covers one with this frame and zone.
    pub fn cover(&self, zones: &Zones, frame: u32, zone: u32) -> bool {
        let known = self.of(frame);
        known.iter().any(|known| known.zone == zone)
            || known.iter().any(|known| zones.covers(known.zone, zone))
    }

    /// Adds a state. Those that it covers are not to be expanded any more.
    pub fn add(&mut self, zones: &Zones, state: State) -> u32 {
        let number = self.all.len() as u32;
        let at = state.frame as usize;
        if self.lists.len() <= at {
            self.lists.resize(at + 1, List::default());
        }
        let List { start, len, room } = self.lists[at];
        let start = start as usize;
        let mut kept = start;
        for index in start..start + len as usize {
            let listed = self.listed[index];
            match zones.covers(state.zone, listed.zone) {
                true => self.all[listed.state as usize].covered = true,
                false => {
                    self.listed[kept] = listed;
                    kept += 1;
                }
            }
        }
        let len = (kept - start) as u32;
        let new = Listed {
            zone: state.zone,
            state: number,
        };
        self.lists[at] = match len < room {
            true => {
                self.listed[kept] = new;
                List {
                    len: len + 1,
                    ..self.lists[at]
                }
            }
            false => {
                let moved = self.listed.len();
                let room = (2 * room).max(1);
                self.listed.extend_from_within(start..kept);
                self.listed.resize(moved + room as usize, new);
                List {
                    start: moved as u32,
                    len: len + 1,
                    room,
                }
            }
        };
        self.all.push(state);
        number
    }
}
