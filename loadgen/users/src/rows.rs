//! What is written of requests: a row each, and a report at the end.

use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

const COLUMNS: &str = "due_ns,start_ns,latency_ns,target,status,bytes,error\n";

/// One request: which of the load's, when it was due and when it started, how long it took to the last byte of its answer; status 0, and why,
/// when it got none.
pub struct Request {
    pub target: usize,
    pub due: Instant,
    pub start: Instant,
    pub end: Instant,
    pub answer: std::result::Result<(u16, u64), String>,
}

/// Counts of all requests. Times are ns of the epoch.
#[derive(Default, Serialize)]
pub struct Report {
    requests: u64,
    without_answer: u64,
    not_2xx: u64,
    bytes: u64,
    first_start_ns: Option<u64>,
    last_end_ns: u64,
}

pub struct Rows {
    file: BufWriter<File>,
    line: Vec<u8>,
    epoch_ns: u64,
    origin: Instant,
    report: Report,
}

impl Rows {
    pub fn create(path: &str) -> Result<Rows> {
        let mut file = BufWriter::with_capacity(1 << 18, File::create(path)?);
        file.write_all(COLUMNS.as_bytes())?;
        file.flush()?;
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (epoch_ns, origin) = (since_epoch.as_nanos() as u64, Instant::now());
        Ok(Rows { file, line: Vec::new(), epoch_ns, origin, report: Report::default() })
    }

    pub fn add(&mut self, request: &Request) -> Result<()> {
        let (due_ns, start_ns, end_ns) = (self.ns(request.due), self.ns(request.start), self.ns(request.end));
        let none = (0, 0);
        let (status, bytes) = request.answer.as_ref().unwrap_or(&none);
        let error = request.answer.as_ref().err().map_or("", String::as_str);
        let report = &mut self.report;
        report.requests += 1;
        report.without_answer += u64::from(*status == 0);
        report.not_2xx += u64::from(*status != 0 && !(200..300).contains(status));
        report.bytes += bytes;
        report.first_start_ns = Some(report.first_start_ns.map_or(start_ns, |first| first.min(start_ns)));
        report.last_end_ns = report.last_end_ns.max(end_ns);
        self.line.clear();
        writeln!(self.line, "{due_ns},{start_ns},{},{},{status},{bytes},{error}", end_ns - start_ns, request.target)?;
        self.file.write_all(&self.line)
    }

    pub fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }

    /// The report goes to `path` whole, or not at all.
    pub fn end(&mut self, path: &str) -> Result<()> {
        self.flush()?;
        let partial = format!("{path}.partial");
        std::fs::write(&partial, serde_json::to_vec(&self.report)?)?;
        std::fs::rename(partial, path)
    }

    fn ns(&self, moment: Instant) -> u64 {
        self.epoch_ns + moment.saturating_duration_since(self.origin).as_nanos() as u64
    }
}
