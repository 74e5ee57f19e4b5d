//! lab-users LOAD ROWS REPORT: users who come, ask, wait for the answer, think and go, each with a connection of its own.
//! LOAD is the file that tools/users.py writes; ROWS gets a line a request, REPORT the counts once all have ended. Stopped
//! by a signal, it leaves rows up to the last second and no report.

mod client;
mod rows;
mod stays;

use client::{Client, Kind};
use rows::{Request, Rows};
use serde::Deserialize;
use stays::{stays, Stage, Stay};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::time::sleep_until;

const START: Duration = Duration::from_millis(100);
const FLUSH: Duration = Duration::from_secs(1);

#[derive(Deserialize)]
struct Load {
    address: String,
    timeout_ms: u64,
    requests: Vec<Kind>,
    stages: Vec<Stage>,
    think_seconds: (f64, f64),
    most_requests: u64,
}

/// What all users share: requests that may still be sent, and the rows.
struct Shared {
    think_seconds: (f64, f64),
    left: AtomicU64,
    rows: Mutex<Rows>,
}

impl Shared {
    /// Whether one more request may be sent.
    fn take(&self) -> bool {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    fn rows(&self) -> std::sync::MutexGuard<'_, Rows> {
        self.rows.lock().expect("no other thread")
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
    let load: Load = serde_json::from_slice(&std::fs::read(load)?)?;
    let shared = Arc::new(Shared {
        think_seconds: load.think_seconds,
        left: AtomicU64::new(load.most_requests),
        rows: Mutex::new(Rows::create(rows)?),
    });
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(serve(load, &shared))?;
    shared.rows().end(report)?;
    Ok(())
}

async fn serve(load: Load, shared: &Arc<Shared>) -> Result<(), Box<dyn std::error::Error>> {
    let all = tokio::net::lookup_host(&load.address).await?.next();
    let address = all.ok_or_else(|| format!("{} has no address", load.address))?;
    let timeout = Duration::from_millis(load.timeout_ms);
    let kinds = load.requests.into_iter().map(|kind| kind.read(&load.address).map(Arc::new));
    let kinds = kinds.collect::<Result<Vec<_>, _>>()?;
    let begin = Instant::now() + START;
    let mut users = Vec::new();
    for (number, stays) in stays(&load.stages).into_iter().enumerate() {
        let client = Client::new(address, kinds[number % kinds.len()].clone(), timeout);
        users.push(tokio::spawn(user(number as u64, client, stays, begin, shared.clone())));
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
    number: u64,
    mut client: Client,
    stays: Vec<Stay>,
    begin: Instant,
    shared: Arc<Shared>,
) -> std::io::Result<()> {
    let mut random = Random(number + 1);
    let (shortest, longest) = shared.think_seconds;
    for stay in stays {
        let leaves = begin + Duration::from_secs_f64(stay.to);
        let mut due = begin + Duration::from_secs_f64(stay.from);
        loop {
            // A timer takes a millisecond, even for what is due at once.
            if due > Instant::now() {
                sleep_until(due.min(leaves).into()).await;
            }
            if due >= leaves || !shared.take() {
                break;
            }
            let start = Instant::now();
            let answer = client.ask().await;
            let end = Instant::now();
            shared.rows().add(&Request { due, start, end, answer })?;
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
