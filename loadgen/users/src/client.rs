//! One user's connection.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{handshake, SendRequest};
use hyper::header::{HeaderName, HeaderValue, HOST};
use hyper::{Method, Request, Uri};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use std::error::Error;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{lookup_host, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

/// The certificates that the image trusts.
const DEBIANS: &str = "/etc/ssl/certs/ca-certificates.crt";

/// A kind of request, as the load file has it; `body` names a file.
#[derive(Deserialize)]
pub struct Kind {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Option<String>,
}

/// A request with its body.
pub type Message = Request<Full<Bytes>>;

impl Kind {
    pub fn read(self, host: &str) -> Result<Message, Box<dyn Error>> {
        let body = self.body.map_or(Ok(Vec::new()), std::fs::read)?;
        let mut request = Request::new(Full::from(body));
        *request.method_mut() = Method::from_bytes(self.method.as_bytes())?;
        *request.uri_mut() = self.target.parse::<Uri>()?;
        request.headers_mut().insert(HOST, HeaderValue::from_str(host)?);
        for (name, value) in &self.headers {
            request.headers_mut().append(HeaderName::from_bytes(name.as_bytes())?, HeaderValue::from_str(&expanded(value))?);
        }
        Ok(request)
    }
}

/// Where all users connect.
pub struct Server {
    addresses: Vec<SocketAddr>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl Server {
    pub async fn at(origin: &str) -> Result<Server, Box<dyn Error>> {
        let address = address_of(origin);
        let tls = if origin.starts_with("https:") { Some(trusting(address)?) } else { None };
        Ok(Server { addresses: lookup_host(address).await?.collect(), tls })
    }
}

/// Host and port.
pub fn address_of(origin: &str) -> &str {
    origin.split_once("://").map_or(origin, |(_, address)| address)
}

/// By the certificates of SSL_CERT_FILE, or the image's.
fn trusting(address: &str) -> Result<(TlsConnector, ServerName<'static>), Box<dyn Error>> {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host).trim_matches(['[', ']']);
    let mut trusted = RootCertStore::empty();
    let file = std::env::var("SSL_CERT_FILE").unwrap_or_else(|_| DEBIANS.to_owned());
    trusted.add_parsable_certificates(CertificateDer::pem_file_iter(file)?.collect::<Result<Vec<_>, _>>()?);
    let config = ClientConfig::builder().with_root_certificates(trusted).with_no_client_auth();
    Ok((TlsConnector::from(Arc::new(config)), ServerName::try_from(host.to_owned())?))
}

/// What sends requests, and the task that moves their bytes.
type Connection = (SendRequest<Full<Bytes>>, JoinHandle<()>);

/// Opens its connection with the first request and again where it was closed; follows no redirect, sends nothing twice.
pub struct Client {
    server: Arc<Server>,
    timeout: Duration,
    connection: Option<Connection>,
}

impl Client {
    pub fn new(server: Arc<Server>, timeout: Duration) -> Client {
        Client { server, timeout, connection: None }
    }

    /// Status and length of the answer's body, or why there is none within the time-out.
    pub async fn ask(&mut self, message: &Message) -> Result<(u16, u64), String> {
        let answer = match tokio::time::timeout(self.timeout, self.answer(message)).await {
            Ok(answer) => answer.map_err(|error| reason(error.as_ref())),
            Err(_) => Err("time-out".to_owned()),
        };
        if answer.is_err() {
            self.close();
        }
        answer
    }

    pub fn close(&mut self) {
        if let Some((_, driver)) = self.connection.take() {
            driver.abort();
        }
    }

    async fn open(&self) -> Result<Connection, Box<dyn Error + Send + Sync>> {
        let stream = TcpStream::connect(&*self.server.addresses).await?;
        stream.set_nodelay(true)?;
        match &self.server.tls {
            Some((connector, name)) => speaking(connector.connect(name.clone(), stream).await?).await,
            None => speaking(stream).await,
        }
    }

    async fn answer(&mut self, message: &Message) -> Result<(u16, u64), Box<dyn Error + Send + Sync>> {
        let kept = match &mut self.connection {
            Some((sender, _)) => sender.ready().await.is_ok(),
            None => false,
        };
        if !kept {
            self.connection = Some(self.open().await?);
        }
        let (sender, _) = self.connection.as_mut().expect("just opened");
        let response = sender.send_request(message.clone()).await?;
        let (status, mut body, mut bytes) = (response.status().as_u16(), response.into_body(), 0);
        while let Some(frame) = body.frame().await {
            bytes += frame?.data_ref().map_or(0, |data| data.len() as u64);
        }
        Ok((status, bytes))
    }
}

async fn speaking<S>(stream: S) -> Result<Connection, Box<dyn Error + Send + Sync>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, driver) = handshake(TokioIo::new(stream)).await?;
    let driver = tokio::spawn(async { drop(driver.await) });
    sender.ready().await?;
    Ok((sender, driver))
}

/// In a word or two, the same for all errors of a kind, without a comma.
fn reason(error: &(dyn Error + 'static)) -> String {
    let mut cause = Some(error);
    while let Some(current) = cause {
        if let Some(io) = current.downcast_ref::<std::io::Error>() {
            return match io.kind() {
                ErrorKind::ConnectionRefused => "connection refused".to_owned(),
                ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => "connection reset".to_owned(),
                ErrorKind::UnexpectedEof => "answer cut short".to_owned(),
                _ => words(&io.to_string()),
            };
        }
        if let Some(http) = current.downcast_ref::<hyper::Error>() {
            if http.is_incomplete_message() || http.is_canceled() || http.is_closed() {
                return "connection closed".to_owned();
            }
            if http.is_parse() {
                return "no HTTP".to_owned();
            }
        }
        cause = current.source();
    }
    words(&error.to_string())
}

fn words(text: &str) -> String {
    text.replace([',', '"', '\n', '\r'], " ")
}

/// The value with a variable of the environment in place of each `${NAME}`, so that no file holds what is secret.
fn expanded(value: &str) -> String {
    let mut parts = value.split("${");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        match part.split_once('}') {
            Some((name, rest)) => {
                text.push_str(&std::env::var(name).unwrap_or_default());
                text.push_str(rest);
            }
            None => {
                text.push_str("${");
                text.push_str(part);
            }
        }
    }
    text
}
