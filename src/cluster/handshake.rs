//! How processes find one another, and find out whom they have found.
//!
//! Of two processes, the one with the greater number connects. It sends a random challenge; the
//! other answers with a challenge of its own and a digest of both under the secret; the first
//! sends its own digest. Each knows then that the other has the secret, which never travels, and
//! both have keys for the connection that follow from secret and challenges. The first message
//! under these keys says what was asked ([`Terms`]), and has to be the same on both sides.
//!
//! A connection without such proof is dropped, and the right one is waited for: whoever reaches
//! the port can neither take part nor end the run.

use super::channel::{Channel, Key, Peer, key};
use super::health::SharedHealth;
use super::roster::{Roster, Secret};
use hmac::Mac;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// What all processes have to agree on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The version of this program.
    pub version: String,
    pub processes: u32,
    /// Workers of each process.
    pub threads: u32,
    /// A digest of the programs that are asked about.
    pub programs: [u8; 32],
    /// A digest of what is asked, and how.
    pub options: [u8; 32],
}

impl Terms {
    /// What differs, in words.
    fn difference(&self, other: &Terms) -> Option<String> {
        let differs = |what: &str, own: &dyn ToString, theirs: &dyn ToString| {
            format!(
                "has {what} {}, and this one {}",
                theirs.to_string(),
                own.to_string()
            )
        };
        Some(match () {
            () if self == other => return None,
            () if self.version != other.version => {
                differs("version", &self.version, &other.version)
            }
            () if self.processes != other.processes => {
                differs("--processes", &self.processes, &other.processes)
            }
            () if self.threads != other.threads => {
                differs("--threads", &self.threads, &other.threads)
            }
            () if self.programs != other.programs => "has another program".to_string(),
            () => "was started with other options".to_string(),
        })
    }
}

/// Why the processes do not come together.
#[derive(Debug)]
pub enum Refusal {
    /// A process does not come or cannot be reached.
    Unreachable(String),
    /// They do not belong together.
    Mismatch(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Unreachable(text) | Refusal::Mismatch(text) => f.write_str(text),
        }
    }
}

/// How long a new connection may take to prove itself.
const PATIENCE: Duration = Duration::from_secs(5);

/// The pause between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(50);

const GREETING: &[u8; 16] = b"fencesmith run 1";
const CHALLENGE: usize = 32;
const PROOF: usize = 32;

/// Who greets whom, with what challenge.
struct Hello {
    from: u32,
    to: u32,
    challenge: [u8; CHALLENGE],
}

/// What a process needs to come together with the others.
#[derive(Clone)]
pub struct Party<'a> {
    pub roster: &'a Roster,
    pub secret: &'a Secret,
    pub own: usize,
    pub terms: &'a Terms,
    pub health: &'a SharedHealth,
}

enum Arrival {
    Connected(usize, Box<Channel>),
    /// Somebody without the secret, or who says nothing of sense.
    Dropped,
    Refused(Refusal),
}

impl Party<'_> {
    /// Connections to all other processes, by process; `None` for this one.
    pub fn assemble(
        &self,
        listener: &TcpListener,
        wait: Duration,
    ) -> Result<Vec<Option<Channel>>, Refusal> {
        let deadline = Instant::now() + wait;
        let count = self.roster.addresses.len();
        let (tell, arrivals) = mpsc::channel();
        std::thread::scope(|scope| {
            for process in 0..self.own {
                let tell = tell.clone();
                scope.spawn(move || {
                    let _ = tell.send(self.reach(process, deadline));
                });
            }
            let mut channels: Vec<Option<Channel>> = (0..count).map(|_| None).collect();
            let missing = |channels: &[Option<Channel>]| {
                (0..count).find(|&process| process != self.own && channels[process].is_none())
            };
            let _ = listener.set_nonblocking(true);
            while let Some(absent) = missing(&channels) {
                if let Some(text) = self.health.failure() {
                    return Err(Refusal::Unreachable(text));
                }
                if self.own + 1 < count
                    && let Ok((socket, _)) = listener.accept()
                {
                    let tell = tell.clone();
                    scope.spawn(move || {
                        let _ = tell.send(self.admit(socket).unwrap_or(Arrival::Dropped));
                    });
                }
                match next(&arrivals) {
                    Some(Arrival::Connected(process, channel)) => {
                        channels[process].get_or_insert(*channel);
                    }
                    Some(Arrival::Refused(refusal)) => {
                        self.health.fail(refusal.to_string());
                        return Err(refusal);
                    }
                    // Who is connected to from here says itself why it is not reached.
                    Some(Arrival::Dropped) | None
                        if absent < self.own || Instant::now() < deadline => {}
                    Some(Arrival::Dropped) | None => {
                        let peer = self.peer(absent);
                        let text = format!("{peer} did not come within {} s", wait.as_secs_f64());
                        self.health.fail(text.clone());
                        return Err(Refusal::Unreachable(text));
                    }
                }
            }
            Ok(channels)
        })
    }

    fn peer(&self, process: usize) -> Peer {
        Peer {
            process,
            address: self.roster.addresses[process].clone(),
        }
    }

    /// Connects to a process with a smaller number, as soon as it is there.
    fn reach(&self, process: usize, deadline: Instant) -> Arrival {
        let peer = self.peer(process);
        loop {
            let why = match dial(&peer.address) {
                Ok(socket) => match self.introduce(socket, &peer) {
                    Ok(arrival) => return arrival,
                    Err(error) => error,
                },
                Err(error) => error,
            };
            if Instant::now() >= deadline || self.health.has_failed() {
                let text = format!("cannot reach {peer}: {why}");
                return Arrival::Refused(Refusal::Unreachable(text));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// The side of the one who connects.
    fn introduce(&self, mut socket: TcpStream, peer: &Peer) -> io::Result<Arrival> {
        hurry(&socket)?;
        let hello = Hello {
            from: self.own as u32,
            to: peer.process as u32,
            challenge: random()?,
        };
        socket.write_all(GREETING)?;
        socket.write_all(&hello.from.to_le_bytes())?;
        socket.write_all(&hello.to.to_le_bytes())?;
        socket.write_all(&hello.challenge)?;
        let theirs = read_array(&mut socket)?;
        let proof: [u8; PROOF] = read_array(&mut socket)?;
        let seal = |what: &str| self.seal(what, &hello, &theirs);
        if seal("answer").verify_slice(&proof).is_err() {
            let text = format!("{peer} does not have the secret of this run");
            return Ok(Arrival::Refused(Refusal::Mismatch(text)));
        }
        socket.write_all(&seal("proof").finalize().into_bytes())?;
        let keys = (derived(seal("there")), derived(seal("back")));
        self.agree(Channel::new(
            socket,
            peer.clone(),
            keys,
            self.health.clone(),
        )?)
    }

    /// The side of the one who is connected to.
    fn admit(&self, mut socket: TcpStream) -> io::Result<Arrival> {
        socket.set_nonblocking(false)?;
        hurry(&socket)?;
        let greeting: [u8; GREETING.len()] = read_array(&mut socket)?;
        let hello = Hello {
            from: u32::from_le_bytes(read_array(&mut socket)?),
            to: u32::from_le_bytes(read_array(&mut socket)?),
            challenge: read_array(&mut socket)?,
        };
        let from = hello.from as usize;
        let expected = from > self.own && from < self.roster.addresses.len();
        if greeting != *GREETING || hello.to as usize != self.own || !expected {
            return Ok(Arrival::Dropped);
        }
        let own = random()?;
        let seal = |what: &str| self.seal(what, &hello, &own);
        socket.write_all(&own)?;
        socket.write_all(&seal("answer").finalize().into_bytes())?;
        let proof: [u8; PROOF] = read_array(&mut socket)?;
        if seal("proof").verify_slice(&proof).is_err() {
            return Ok(Arrival::Dropped);
        }
        let keys = (derived(seal("back")), derived(seal("there")));
        let peer = self.peer(from);
        self.agree(Channel::new(socket, peer, keys, self.health.clone())?)
    }

    /// Compares what was asked.
    fn agree(&self, mut channel: Channel) -> io::Result<Arrival> {
        let own = postcard::to_stdvec(self.terms).expect("terms have known lengths");
        let theirs = channel.swap(&own)?;
        let difference = match postcard::from_bytes::<Terms>(&theirs) {
            Ok(theirs) => self.terms.difference(&theirs),
            Err(_) => Some("has another version".to_string()),
        };
        let peer = &channel.link.peer;
        Ok(match difference {
            None => {
                self.health.add(channel.link.clone());
                Arrival::Connected(peer.process, Box::new(channel))
            }
            Some(text) => Arrival::Refused(Refusal::Mismatch(format!("{peer} {text}"))),
        })
    }

    fn seal(&self, what: &str, hello: &Hello, answer: &[u8; CHALLENGE]) -> Key {
        let mut seal = key(self.secret.text().as_bytes());
        seal.update(what.as_bytes());
        seal.update(&hello.from.to_le_bytes());
        seal.update(&hello.to.to_le_bytes());
        seal.update(&hello.challenge);
        seal.update(answer);
        seal
    }
}

/// The next process that has come, if one does soon.
fn next(arrivals: &Receiver<Arrival>) -> Option<Arrival> {
    arrivals.recv_timeout(Duration::from_millis(5)).ok()
}

fn dial(address: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn hurry(socket: &TcpStream) -> io::Result<()> {
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))
}

fn read_array<const L: usize>(socket: &mut TcpStream) -> io::Result<[u8; L]> {
    let mut bytes = [0; L];
    socket.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn random() -> io::Result<[u8; CHALLENGE]> {
    let mut bytes = [0; CHALLENGE];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

fn derived(seal: Key) -> Key {
    key(&seal.finalize().into_bytes())
}
