//! Starting and joining runs of several processes.

use super::args::{self, Common};
use super::find::find;
use super::interrupt::Interruptible;
use super::programs::ENDINGS;
use super::{Exit, Failure, free_memory, input, progress};
use crate::cluster::{
    self, CellHelpers, Checkpoints, Cluster, Health, Party, Place, Refusal, Roster, Secret, Terms,
};
use crate::report::text::Paint;
use crate::space::Explorer;
use clap::ValueEnum;
use sha2::{Digest, Sha256};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Where the secret of a run may be, beside the file with the hosts.
const SECRET: &str = "FENCESMITH_SECRET";

/// How this process takes part.
pub enum Part {
    /// There are no others.
    Alone,
    /// It asks the questions.
    Leader(Leader),
    /// It has taken part until the end.
    Done(Exit),
}

/// Process 0, and those that it has started.
pub struct Leader {
    cluster: Arc<Cluster>,
    children: Children,
    /// Bytes that this process may take.
    pub max_memory: Option<u64>,
    /// Workers of this process.
    pub threads: usize,
}

/// Another process to start.
struct Member {
    process: usize,
    addresses: Vec<String>,
    threads: u32,
    max_memory: Option<u64>,
    checkpoints: Option<Checkpoints>,
}

/// Processes that this one has started, and that end with it.
struct Children(Vec<Child>);

/// What is asked: programs and options, as digests that all processes have to agree on.
pub type Digests = ([u8; 32], [u8; 32]);

/// Digests of programs and of options.
pub fn digests<F: ValueEnum + Send + Sync>(
    paths: &[PathBuf],
    common: &Common<F>,
    options: &str,
) -> Result<Digests, Failure> {
    let mut programs = Sha256::new();
    for path in &find(paths, &ENDINGS).files {
        if path.as_os_str() == "-" {
            let help = "every process reads the programs from files of its own";
            let text = "--hosts does not go with a program on standard input";
            return Err(with_help(text.to_string(), help.to_string()));
        }
        let text = match input::program(path, common) {
            Ok(program) => program.source.text().to_string(),
            Err(failure) => failure.render(Paint { color: false }),
        };
        programs.update((text.len() as u64).to_le_bytes());
        programs.update(text);
    }
    let steps = format!(
        "{:?} {} {:?} {:?}",
        common.atomics(),
        common.no_fuse,
        common.integers,
        common.forbid
    );
    let options = Sha256::digest(format!("{options} {steps}"));
    Ok((programs.finalize().into(), options.into()))
}

/// What a process gives to a run.
pub struct Share<'a> {
    pub others: &'a args::Others,
    /// Bytes; otherwise its part of what is free.
    pub max_memory: Option<u64>,
    pub checkpoints: Option<Checkpoints>,
}

/// Comes together with the other processes that were asked for. `digests` are those of the
/// question.
pub fn assemble<F: ValueEnum + Send + Sync>(
    share: &Share,
    common: &Common<F>,
    searches: &Interruptible,
    digests: impl FnOnce() -> Result<Digests, Failure>,
) -> Result<Part, Failure> {
    match (share.others.processes, &share.others.hosts) {
        (Some(count), _) => start_here(share, common, searches, count as usize),
        (None, Some(hosts)) => meet_others(share, hosts, common, searches, digests()?),
        (None, None) if share.checkpoints.is_some() => start_here(share, common, searches, 1),
        (None, None) => Ok(Part::Alone),
    }
}

/// Starts all other processes on this machine.
fn start_here<F: ValueEnum + Send + Sync>(
    share: &Share,
    common: &Common<F>,
    searches: &Interruptible,
    count: usize,
) -> Result<Part, Failure> {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = common.threads.unwrap_or((all / count).max(1) as u64) as u32;
    let each = |most: u64| most / count as u64;
    let max_memory = share.max_memory;
    let max_memory = max_memory.or_else(|| free_memory::nearly_all().map(each));
    let cannot = |error: std::io::Error| Failure::message(format!("cannot listen: {error}"));
    let listeners = (0..count).map(|_| TcpListener::bind("127.0.0.1:0"));
    let mut listeners = listeners.collect::<Result<Vec<_>, _>>().map_err(cannot)?;
    let addresses = listeners.iter().map(|it| Ok(it.local_addr()?.to_string()));
    let roster = Roster {
        addresses: addresses.collect::<Result<_, _>>().map_err(cannot)?,
        secret: None,
    };
    let secret = Secret::random();
    let secret = secret.ok_or_else(|| Failure::message("the system has no random numbers"))?;
    let own = listeners.remove(0);
    let mut children = Children(Vec::new());
    for (listener, process) in listeners.into_iter().zip(1..) {
        let member = Member {
            process,
            addresses: roster.addresses.clone(),
            threads,
            max_memory,
            checkpoints: share.checkpoints.clone(),
        };
        let child = spawn(listener, &member, &secret);
        children.0.push(child.map_err(|error| {
            Failure::message(format!("cannot start process {process}: {error}"))
        })?);
    }
    let health = Health::new(searches.monitor.sharing());
    let terms = terms(count, threads, ([0; 32], [0; 32]));
    let party = Party {
        roster: &roster,
        secret: &secret,
        own: 0,
        terms: &terms,
        health: &health,
    };
    let place = Place {
        listener: &own,
        wait: share.others.wait,
        max_memory,
        checkpoints: share.checkpoints.as_ref(),
    };
    let led = children.while_they_last(&party, || cluster::lead(&party, &place));
    leading(led, &party, &place, children)
}

/// Comes together with processes that others have started.
fn meet_others<F: ValueEnum + Send + Sync>(
    share: &Share,
    hosts: &Path,
    common: &Common<F>,
    searches: &Interruptible,
    digests: Digests,
) -> Result<Part, Failure> {
    let source = input::read(hosts)?;
    let roster = Roster::parse(&source);
    let roster = roster.map_err(|wrong| Failure::Program(source, wrong))?;
    let count = roster.addresses.len();
    let own = share.others.process.unwrap_or_default() as usize;
    let Some(address) = roster.addresses.get(own) else {
        let text = format!("there is no process {own} in '{}'", hosts.display());
        let help = format!("it lists processes 0 to {}", count - 1);
        return Err(with_help(text, help));
    };
    let given = std::env::var(SECRET).ok();
    let given = given.map(|text| Secret::new(&text).ok_or(text));
    let secret = match given {
        Some(Ok(secret)) => secret,
        Some(Err(_)) => return Err(with_help(format!("{SECRET} is too short"), AT_LEAST.into())),
        None => roster.secret.clone().ok_or_else(|| {
            let text = format!("'{}' has no secret", hosts.display());
            with_help(
                text,
                format!("a line `secret TOKEN`, or {SECRET}; {AT_LEAST}"),
            )
        })?,
    };
    let listener = TcpListener::bind(address)
        .map_err(|error| Failure::message(format!("cannot listen on {address}: {error}")))?;
    let health = Health::new(searches.monitor.sharing());
    let terms = terms(count, common.thread_count() as u32, digests);
    let party = Party {
        roster: &roster,
        secret: &secret,
        own,
        terms: &terms,
        health: &health,
    };
    let place = Place {
        listener: &listener,
        wait: share.others.wait,
        max_memory: share.max_memory.or_else(free_memory::nearly_all),
        checkpoints: share.checkpoints.as_ref(),
    };
    if own == 0 {
        let led = cluster::lead(&party, &place);
        return leading(led, &party, &place, Children(Vec::new()));
    }
    let what = format!("process {own}");
    let joined = progress::watched_by(common, searches, &health.monitor, &what, || {
        cluster::join(&party, &place)
    });
    Ok(Part::Done(match joined {
        Ok(Ok(code)) => Exit::of(code),
        Ok(Err(text)) => inconclusive(text),
        Err(refusal) => refused(refusal)?,
    }))
}

const AT_LEAST: &str = "a secret has at least 16 characters";

fn with_help(text: String, help: String) -> Failure {
    Failure::Message {
        text,
        help: Some(help),
    }
}

fn terms(count: usize, threads: u32, (programs, options): Digests) -> Terms {
    Terms {
        version: env!("CARGO_PKG_VERSION").to_string(),
        processes: count as u32,
        threads,
        programs,
        options,
    }
}

/// The part of process 0.
fn leading(
    led: Result<Cluster, Refusal>,
    party: &Party,
    place: &Place,
    children: Children,
) -> Result<Part, Failure> {
    Ok(match led {
        Ok(cluster) => Part::Leader(Leader {
            cluster: Arc::new(cluster),
            children,
            max_memory: place.max_memory,
            threads: party.terms.threads as usize,
        }),
        Err(refusal) => Part::Done(refused(refusal)?),
    })
}

/// The checkpoints that were asked for.
pub fn checkpoints(args: &args::Processes) -> Option<Checkpoints> {
    Some(Checkpoints {
        folder: args.checkpoint.clone()?,
        every: args.checkpoint_every,
        resume: args.resume,
    })
}

/// Says why the processes have not come together.
fn refused(refusal: Refusal) -> Result<Exit, Failure> {
    match refusal {
        Refusal::Unreachable(text) => Ok(inconclusive(text)),
        Refusal::Mismatch(text) => Err(with_help(
            text,
            "all processes are started with the same secret, programs and options".to_string(),
        )),
    }
}

/// Says what has failed: nothing is known then.
pub fn inconclusive(text: String) -> Exit {
    Failure::message(text).report();
    Exit::Inconclusive
}

impl Leader {
    pub fn explorer(&self) -> Arc<dyn Explorer> {
        self.cluster.clone()
    }

    /// The other processes, as helpers with the cells of a sweep. A cell that all answer together
    /// may take so many bytes.
    pub fn help_with_cells(&self, memory: Option<u64>) -> CellHelpers {
        self.cluster.clone().help_with_cells(memory)
    }

    /// Ends the run with an exit code, unless something has failed.
    pub fn end(mut self, exit: Exit) -> Exit {
        if let Some(text) = self.cluster.failure() {
            return inconclusive(text);
        }
        self.cluster.end(exit.code());
        self.children.part();
        exit
    }
}

impl Children {
    /// Comes together with them; one that ends meanwhile ends the run.
    fn while_they_last<T>(&mut self, party: &Party, assemble: impl FnOnce() -> T) -> T {
        let assembled = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !assembled.load(Ordering::Relaxed) {
                    for (child, process) in self.0.iter_mut().zip(1..) {
                        if let Ok(Some(status)) = child.try_wait() {
                            let address = &party.roster.addresses[process];
                            let text = format!("process {process} ({address}) has ended: {status}");
                            party.health.fail(text);
                            return;
                        }
                    }
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
            let done = assemble();
            assembled.store(true, Ordering::Relaxed);
            done
        })
    }

    /// Lets them end by themselves, if they do so soon.
    fn part(&mut self) {
        for _ in 0..100 {
            self.0
                .retain_mut(|child| !matches!(child.try_wait(), Ok(Some(_))));
            if self.0.is_empty() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts another process of this program, which gets its socket as standard input.
#[cfg(unix)]
fn spawn(listener: TcpListener, member: &Member, secret: &Secret) -> std::io::Result<Child> {
    use std::os::fd::OwnedFd;
    use std::process::{Command, Stdio};
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("member")
        .arg("--process")
        .arg(member.process.to_string());
    command.arg("--addresses").arg(member.addresses.join(","));
    command.arg("--threads").arg(member.threads.to_string());
    if let Some(most) = member.max_memory {
        command.arg("--max-memory").arg(most.to_string());
    }
    if let Some(kept) = &member.checkpoints {
        let every = kept.every.as_secs_f64().to_string();
        command.arg("--checkpoint").arg(&kept.folder);
        command.arg("--checkpoint-every").arg(every);
        command.args(kept.resume.then_some("--resume"));
    }
    command.env(SECRET, secret.text());
    command
        .stdin(Stdio::from(OwnedFd::from(listener)))
        .stdout(Stdio::null());
    command.spawn()
}

#[cfg(not(unix))]
fn spawn(_: TcpListener, _: &args::Member, _: &Secret) -> std::io::Result<Child> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// The socket that the process was started with.
#[cfg(unix)]
fn inherited() -> std::io::Result<TcpListener> {
    use std::os::fd::AsFd;
    let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
    Ok(TcpListener::from(socket))
}

#[cfg(not(unix))]
fn inherited() -> std::io::Result<TcpListener> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Takes part in a run of the process that has started this one, which also says what fails.
pub fn run_member(args: &args::Member) -> Result<Exit, Failure> {
    let cannot = |what: &str| Failure::message(format!("a member of a run has no {what}"));
    let secret = std::env::var(SECRET).ok();
    let secret = secret
        .and_then(|text| Secret::new(&text))
        .ok_or_else(|| cannot("secret"))?;
    let listener = inherited().map_err(|_| cannot("socket"))?;
    let roster = Roster {
        addresses: args.addresses.clone(),
        secret: None,
    };
    if args.process >= roster.addresses.len() {
        return Err(cannot("address"));
    }
    let checkpoints = args.checkpoint.clone().map(|folder| Checkpoints {
        folder,
        every: args.checkpoint_every,
        resume: args.resume,
    });
    let searches = Interruptible::new();
    let health = Health::new(searches.monitor.sharing());
    let terms = terms(roster.addresses.len(), args.threads, ([0; 32], [0; 32]));
    let party = Party {
        roster: &roster,
        secret: &secret,
        own: args.process,
        terms: &terms,
        health: &health,
    };
    let place = Place {
        listener: &listener,
        wait: Duration::from_secs(30),
        max_memory: args.max_memory,
        checkpoints: checkpoints.as_ref(),
    };
    let joined = searches.run(|_| cluster::join(&party, &place));
    Ok(match joined {
        Ok(Ok(code)) => Exit::of(code),
        Ok(Err(_)) | Err(_) => Exit::Inconclusive,
    })
}
