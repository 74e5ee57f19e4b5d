//! Loads that stdin asks for, one after another, over connections that are kept between them.

use crate::client::{Client, Server};
use crate::rows::Request;
use crate::stays::Stage;
use crate::Shared;
use std::error::Error;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::{mpsc, watch};

/// For each line of stdin, so many requests by all users, who begin evenly within the stage; when the last has ended, the line
/// is given back.
pub async fn serve(
    stage: &Stage,
    server: &Arc<Server>,
    timeout: Duration,
    shared: &Arc<Shared>,
) -> Result<(), Box<dyn Error>> {
    let users = stage.users;
    let (begin, _) = watch::channel(());
    let (ended, mut ends) = mpsc::channel(users);
    for number in 0..users {
        let client = Client::new(server.clone(), timeout);
        let wait = Duration::from_secs_f64(stage.seconds * number as f64 / users as f64);
        tokio::spawn(user(number, wait, client, begin.subscribe(), ended.clone(), shared.clone()));
    }
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        shared.left.store(line.trim().parse()?, Ordering::Relaxed);
        begin.send_replace(());
        for _ in 0..users {
            ends.recv().await.expect("a user stays until the end")?;
        }
        shared.rows().flush()?;
        println!("{line}");
    }
    Ok(())
}

async fn user(
    number: usize,
    wait: Duration,
    mut client: Client,
    mut begin: watch::Receiver<()>,
    ended: mpsc::Sender<std::io::Result<()>>,
    shared: Arc<Shared>,
) {
    while begin.changed().await.is_ok() {
        tokio::time::sleep(wait).await;
        let mut written = Ok(());
        while let Some((target, message)) = shared.next(number) {
            let start = Instant::now();
            let answer = client.ask(message).await;
            let end = Instant::now();
            written = written.and(shared.rows().add(&Request { target, due: start, start, end, answer }));
        }
        if ended.send(written).await.is_err() {
            break;
        }
    }
}
