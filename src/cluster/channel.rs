//! A connection between two processes: frames with keyed digests.
//!
//! A frame has a length, a kind, a digest and a payload. The digest covers the number of the frame
//! in its direction, so that none can be left out, repeated or made up by whoever does not have
//! the key. Every process sends a frame at least every few seconds; a silent peer is a lost one.
//! To timely dataflow, a channel is a stream of bytes that neither fails nor ends early: where it
//! does, [`Health`](super::health::Health) knows, and the thread rests.

use super::health::{SharedHealth, rest};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use timely::communication::allocator::zero_copy::stream::Stream;

/// A frame is sent at least this often.
pub const BEAT: Duration = Duration::from_secs(2);

/// A peer that sends nothing for so long is lost.
const SILENCE: Duration = Duration::from_secs(12);

/// The longest payload.
const LONGEST: usize = 1 << 18;

const DIGEST: usize = 16;
const HEADER: usize = 5 + DIGEST;

/// What a frame holds.
const DATA: u8 = 0;
/// Nothing: the sender is alive.
const ALIVE: u8 = 1;
/// Nothing more will follow.
const END: u8 = 2;
/// Why the run has failed.
const FAILURE: u8 = 3;

/// The key of one direction.
pub type Key = Hmac<Sha256>;

/// A key of these bytes.
pub fn key(bytes: &[u8]) -> Key {
    Key::new_from_slice(bytes).expect("a key may have any length")
}

/// Another process.
#[derive(Debug, Clone)]
pub struct Peer {
    pub process: usize,
    pub address: String,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({})", self.process, self.address)
    }
}

/// The way to another process.
#[derive(Clone)]
pub struct Link {
    pub peer: Peer,
    sender: Arc<Mutex<Sender>>,
}

struct Sender {
    socket: TcpStream,
    key: Key,
    sent: u64,
}

/// A connection to another process.
pub struct Channel {
    pub link: Link,
    socket: TcpStream,
    key: Key,
    received: u64,
    /// What was received and not yet read.
    payload: Vec<u8>,
    read: usize,
    ended: bool,
    health: SharedHealth,
}

impl Channel {
    /// A channel over a connection whose peer is known.
    pub fn new(
        socket: TcpStream,
        peer: Peer,
        (outgoing, incoming): (Key, Key),
        health: SharedHealth,
    ) -> io::Result<Channel> {
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(SILENCE))?;
        socket.set_write_timeout(None)?;
        let sender = Sender {
            socket: socket.try_clone()?,
            key: outgoing,
            sent: 0,
        };
        let link = Link {
            peer,
            sender: Arc::new(Mutex::new(sender)),
        };
        Ok(Channel {
            link,
            socket,
            key: incoming,
            received: 0,
            payload: Vec::new(),
            read: 0,
            ended: false,
            health,
        })
    }

    /// The payload of the next frame with data; `None` at the end.
    fn receive(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        loop {
            let mut header = [0; HEADER];
            self.socket.read_exact(&mut header)?;
            let length = u32::from_le_bytes(*header.first_chunk().expect("it is long enough"));
            let (kind, digest) = (header[4], &header[5..]);
            if length as usize > LONGEST {
                return Err(Trouble::Malformed);
            }
            let mut payload = vec![0; length as usize];
            self.socket.read_exact(&mut payload)?;
            let expected = digest_of(&self.key, self.received, kind, &payload);
            if expected.verify_truncated_left(digest).is_err() {
                return Err(Trouble::Malformed);
            }
            self.received += 1;
            match kind {
                DATA => return Ok(Some(payload)),
                ALIVE => {}
                END => return Ok(None),
                FAILURE => {
                    let text = String::from_utf8_lossy(&payload).into_owned();
                    return Err(Trouble::Told(text));
                }
                _ => return Err(Trouble::Malformed),
            }
        }
    }

    /// Sends one message and receives one, as both sides do before anything else.
    pub fn swap(&mut self, message: &[u8]) -> io::Result<Vec<u8>> {
        self.link.send(DATA, message)?;
        let malformed = || io::Error::from(ErrorKind::InvalidData);
        match self.receive() {
            Ok(Some(answer)) => Ok(answer),
            Err(Trouble::Gone(error)) => Err(error),
            Ok(None) | Err(Trouble::Malformed | Trouble::Told(_)) => Err(malformed()),
        }
    }

    fn fail(&self, trouble: Trouble) -> ! {
        let peer = &self.link.peer;
        self.health.fail(match trouble {
            Trouble::Told(text) => text,
            Trouble::Malformed => format!("{peer} sent a malformed message"),
            Trouble::Gone(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                    format!(
                        "lost {peer}: it has been silent for {} s",
                        SILENCE.as_secs()
                    )
                }
                ErrorKind::UnexpectedEof => format!("lost {peer}: it has closed the connection"),
                _ => format!("lost {peer}: {error}"),
            },
        });
        rest()
    }
}

/// Why nothing more comes from a peer.
enum Trouble {
    Gone(io::Error),
    Malformed,
    /// The peer says why.
    Told(String),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Gone(error)
    }
}

impl Link {
    fn send(&self, kind: u8, payload: &[u8]) -> io::Result<()> {
        let mut sender = self.sender.lock().expect("no thread panics here");
        sender.send(kind, payload)
    }

    /// Says that this process is alive.
    pub fn beat(&self) {
        // A peer that is gone is noticed where it is read from.
        let _ = self.send(ALIVE, &[]);
    }

    /// Tells why the run has failed.
    pub fn tell_failure(&self, message: &str) {
        let _ = self.send(FAILURE, message.as_bytes());
    }
}

impl Sender {
    fn send(&mut self, kind: u8, payload: &[u8]) -> io::Result<()> {
        let digest = digest_of(&self.key, self.sent, kind, payload).finalize();
        self.sent += 1;
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        header[4] = kind;
        header[5..].copy_from_slice(&digest.into_bytes()[..DIGEST]);
        self.socket.write_all(&header)?;
        self.socket.write_all(payload)
    }
}

fn digest_of(key: &Key, number: u64, kind: u8, payload: &[u8]) -> Key {
    let mut digest = key.clone();
    digest.update(&number.to_le_bytes());
    digest.update(&[kind]);
    digest.update(payload);
    digest
}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.payload.len() && !self.ended {
            match self.receive() {
                Ok(Some(payload)) => (self.payload, self.read) = (payload, 0),
                Ok(None) => self.ended = true,
                Err(_) if self.health.is_ending() => rest(),
                Err(trouble) => self.fail(trouble),
            }
        }
        let left = &self.payload[self.read..];
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.read += count;
        Ok(count)
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(LONGEST);
        match self.link.send(DATA, &bytes[..count]) {
            Ok(()) => Ok(count),
            Err(_) if self.health.is_ending() => rest(),
            Err(error) => self.fail(Trouble::Gone(error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Channel {
    fn try_clone(&self) -> io::Result<Channel> {
        Ok(Channel {
            link: self.link.clone(),
            socket: self.socket.try_clone()?,
            key: self.key.clone(),
            received: self.received,
            payload: self.payload.clone(),
            read: self.read,
            ended: self.ended,
            health: self.health.clone(),
        })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.socket.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        // Who has had the end of everything may be gone by now.
        let _ = self.link.send(END, &[]);
        let _ = self.socket.shutdown(how);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Health;
    use crate::limits::Monitor;
    use std::net::TcpListener;

    /// One end as a channel, and the other as a socket with its key.
    fn connection() -> (Channel, TcpStream, Key, SharedHealth) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let address = listener.local_addr().expect("it is bound");
        let socket = TcpStream::connect(address).expect("it listens");
        let (other, _) = listener.accept().expect("somebody connects");
        let health = Health::new(Monitor::default());
        let peer = Peer {
            process: 1,
            address: address.to_string(),
        };
        let keys = (key(b"there"), key(b"back"));
        let channel = Channel::new(socket, peer, keys, health.clone()).expect("a channel");
        (channel, other, key(b"back"), health)
    }

    /// What has failed when the channel has been read from.
    fn failure(mut channel: Channel, health: &SharedHealth) -> String {
        std::thread::spawn(move || channel.read_to_end(&mut Vec::new()));
        loop {
            if let Some(failure) = health.failure() {
                return failure;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn sender(socket: &TcpStream, key: &Key) -> Sender {
        Sender {
            socket: socket.try_clone().expect("it is open"),
            key: key.clone(),
            sent: 0,
        }
    }

    #[test]
    fn frames_arrive_in_order() {
        let (mut channel, other, key, health) = connection();
        let mut sender = sender(&other, &key);
        let frames: [(u8, &[u8]); 4] = [(DATA, b"ab"), (ALIVE, b""), (DATA, b"c"), (END, b"")];
        for (kind, payload) in frames {
            sender.send(kind, payload).expect("it is sent");
        }
        let mut text = String::new();
        channel.read_to_string(&mut text).expect("it ends");
        assert_eq!((&*text, health.failure()), ("abc", None));
    }

    #[test]
    fn what_has_no_digest_ends_the_run() {
        let (channel, mut other, _, health) = connection();
        other.write_all(&[0; 100]).expect("it is sent");
        assert!(failure(channel, &health).ends_with("sent a malformed message"));
        let (channel, mut other, _, health) = connection();
        other.write_all(&[255; 100]).expect("it is sent");
        assert!(failure(channel, &health).ends_with("sent a malformed message"));
    }

    /// A frame of another connection, or the same one twice.
    #[test]
    fn frames_cannot_be_repeated() {
        let (channel, other, key, health) = connection();
        let mut sender = sender(&other, &key);
        sender.send(DATA, b"ab").expect("it is sent");
        sender.sent = 0;
        sender.send(DATA, b"ab").expect("it is sent");
        assert!(failure(channel, &health).ends_with("sent a malformed message"));
    }

    #[test]
    fn a_closed_connection_ends_the_run() {
        let (channel, other, _, health) = connection();
        drop(other);
        let failure = failure(channel, &health);
        assert!(
            failure.starts_with("lost process 1 (127.0.0.1:"),
            "{failure}"
        );
        assert!(health.monitor.interrupted());
    }
}
