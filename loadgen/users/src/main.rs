//! lab-users LOAD ROWS REPORT: users who come, ask, wait for the answer, think and go, each with a connection of its own.
//! LOAD is the file that tools/programs.py writes; ROWS gets a line a request, REPORT the counts once all have ended. Stopped
//! by a signal, it leaves rows up to the last second and no report.

mod client;
mod rows;
mod slices;
mod stays;

use async_io::Timer;
use client::{address_of, Client, Kind, Message, Server};
use rows::{Request, Rows};
use serde::Deserialize;
use stays::{stays, Stage, Stay};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Builder;

const START: Duration = Duration::from_millis(100);
const FLUSH: Duration = Duration::from_secs(1);

#[derive(Deserialize)]
struct Load {
    /// Scheme, host and port.
    origin: String,
    timeout_ms: u64,
    requests: Vec<Kind>,
    /// Each request is of the next kind; else each user is.
    dealt_to_requests: bool,
    stages: Vec<Stage>,
    think_seconds: (f64, f64),
    most_requests: u64,
    /// Requests are sent in slices that stdin asks for, each of which begins with the first stage.
    #[serde(default)]
    in_slices: bool,
}

/// What all users share: kinds of requests, how many may still be sent, and the rows.
struct Shared {
    kinds: Vec<Message>,
    dealt_to_requests: bool,
    think_seconds: (f64, f64),
    left: AtomicU64,
    sent: AtomicUsize,
    rows: Mutex<Rows>,
}

impl Shared {
    /// What that user sends next, and its place among the load's requests; None where no more may be sent.
    fn next(&self, user: usize) -> Option<(usize, &Message)> {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).ok()?;
        // Counted over all slices, so that each kind has its share, however few requests one slice has.
        let number = if self.dealt_to_requests { self.sent.fetch_add(1, Ordering::Relaxed) } else { user };
        let target = number % self.kinds.len();
        Some((target, &self.kinds[target]))
    }

    fn rows(&self) -> std::sync::MutexGuard<'_, Rows> {
        self.rows.lock().expect("no thread has panicked")
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, load, rows, report] = arguments.as_slice() else {
        eprintln!("lab-users: give three files: LOAD ROWS REPORT.");
        return ExitCode::from(2);
    };
    match run(load, rows, report) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lab-users: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(load: &str, rows: &str, report: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut load: Load = serde_json::from_slice(&std::fs::read(load)?)?;
    let shared = Arc::new(Shared {
        kinds: std::mem::take(&mut load.requests)
            .into_iter()
            .map(|kind| kind.read(address_of(&load.origin)))
            .collect::<Result<_, _>>()?,
        dealt_to_requests: load.dealt_to_requests,
        think_seconds: load.think_seconds,
        left: AtomicU64::new(load.most_requests),
        sent: AtomicUsize::new(0),
        rows: Mutex::new(Rows::create(rows)?),
    });
    // A thread for each CPU; on one CPU the runtime without threads costs less.
    let mut runtime = match std::thread::available_parallelism()?.get() {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    runtime.enable_all().build()?.block_on(serve(&load, &shared))?;
    shared.rows().end(report)?;
    Ok(())
}

async fn serve(load: &Load, shared: &Arc<Shared>) -> Result<(), Box<dyn std::error::Error>> {
    let server = Arc::new(Server::at(&load.origin).await?);
    let timeout = Duration::from_millis(load.timeout_ms);
    if load.in_slices {
        return slices::serve(&load.stages[0], &server, timeout, shared).await;
    }
    let begin = Instant::now() + START;
    let mut users = Vec::new();
    for (number, stays) in stays(&load.stages).into_iter().enumerate() {
        let client = Client::new(server.clone(), timeout);
        users.push(tokio::spawn(user(number, client, stays, begin, shared.clone())));
    }
    let flushing = shared.clone();
    tokio::spawn(async move {
        // What cannot be written fails the next row.
        while flushing.rows().flush().is_ok() {
            tokio::time::sleep(FLUSH).await;
        }
    });
    for user in users {
        user.await??;
    }
    Ok(())
}

async fn user(
    number: usize,
    mut client: Client,
    stays: Vec<Stay>,
    begin: Instant,
    shared: Arc<Shared>,
) -> std::io::Result<()> {
    let mut random = Random(number as u64 + 1);
    let (shortest, longest) = shared.think_seconds;
    for stay in stays {
        let leaves = begin + Duration::from_secs_f64(stay.to);
        let mut due = begin + Duration::from_secs_f64(stay.from);
        loop {
            if due > Instant::now() {
                // tokio's timers tick once a millisecond, and what starts late counts as latency.
                Timer::at(due.min(leaves)).await;
            }
            if due >= leaves {
                break;
            }
            let Some((target, message)) = shared.next(number) else { break };
            let start = Instant::now();
            let answer = client.ask(message).await;
            let end = Instant::now();
            shared.rows().add(&Request { target, due, start, end, answer })?;
            due = end + Duration::from_secs_f64(shortest + (longest - shortest) * random.next());
        }
        client.close();
    }
    Ok(())
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): the same think times for the same user in every run.
struct Random(u64);

impl Random {
    /// Evenly from 0 up to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_are_those_of_the_reference() {
        let mut random = Random(1_234_567);
        let reference = [6_457_827_717_110_365_317_u64, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        for number in reference {
            assert_eq!(random.next(), (number >> 11) as f64 / (1u64 << 53) as f64);
        }
    }
}
