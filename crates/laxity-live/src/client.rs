//! Asks what runs on this machine, by its control socket.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Method, Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::runtime;
use tokio::time::timeout;

use crate::reservations::{Answer, Order};
use crate::server::control;
use crate::status::Status;

/// What controls a process that looks after a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    socket: PathBuf,
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum ClientError {
    /// Nobody listens.
    #[error("nothing runs that is controlled at {}: {cause}", .socket.display())]
    Gone {
        /// Where it was asked.
        socket: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// What is there does not answer as Laxity does.
    #[error("what runs at {} does not answer: {why}", .socket.display())]
    Unanswered {
        /// Where it was asked.
        socket: PathBuf,
        /// Why not.
        why: String,
    },
}

/// So long a status may take, and a reload, for which plans are proved.
const STATUS: Duration = Duration::from_secs(10);
const RELOAD: Duration = Duration::from_secs(660);
/// So large an answer may be.
const LARGEST: usize = 1 << 28;

impl Client {
    /// By the socket at this path.
    pub fn at(socket: impl Into<PathBuf>) -> Self {
        Client { socket: socket.into() }
    }

    /// All that are found to run, of this user and of services as far as the user may control
    /// these.
    pub fn running() -> Vec<Client> {
        control::answering().into_iter().map(Client::at).collect()
    }

    /// Where it is asked.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// What the link is like.
    ///
    /// # Errors
    /// If nobody answers.
    pub fn status(&self) -> Result<Status, ClientError> {
        let (code, body) = self.ask(Method::GET, "/status", Bytes::new(), STATUS)?;
        match code {
            StatusCode::OK => {
                serde_json::from_slice(&body).map_err(|error| self.unanswered(error.to_string()))
            }
            _ => Err(self.refused(code, &body)),
        }
    }

    /// Has the plans read again and followed; the inner error says why they are not.
    ///
    /// # Errors
    /// If nobody answers.
    pub fn reload(&self) -> Result<Result<(), String>, ClientError> {
        let (code, body) = self.ask(Method::POST, "/reload", Bytes::new(), RELOAD)?;
        match code {
            StatusCode::OK => Ok(Ok(())),
            StatusCode::CONFLICT => Ok(Err(String::from_utf8_lossy(&body).into_owned())),
            _ => Err(self.refused(code, &body)),
        }
    }

    /// Has an order carried out.
    ///
    /// # Errors
    /// If nobody answers.
    pub fn order(&self, order: &Order) -> Result<Answer, ClientError> {
        let unanswered = |error: serde_json::Error| self.unanswered(error.to_string());
        let body = serde_json::to_vec(order).map_err(unanswered)?;
        let (code, body) = self.ask(Method::POST, "/reservations", body.into(), RELOAD)?;
        // What is not of an order, such as that the process ends, is told in words.
        serde_json::from_slice(&body).map_err(|_| self.refused(code, &body))
    }

    fn ask(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        patience: Duration,
    ) -> Result<(StatusCode, Bytes), ClientError> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| self.unanswered(error.to_string()))?;
        let asked = async {
            timeout(patience, self.exchange(method, path, body)).await.unwrap_or_else(|_| {
                Err(self.unanswered(format!("not within {} s", patience.as_secs())))
            })
        };
        runtime.block_on(asked)
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), ClientError> {
        let gone = |cause| ClientError::Gone { socket: self.socket.clone(), cause };
        let unanswered = |error: hyper::Error| self.unanswered(error.to_string());
        let stream = tokio::net::UnixStream::connect(&self.socket).await.map_err(gone)?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(unanswered)?;
        tokio::spawn(connection);
        let request = Request::builder().method(method).uri(path).header(header::HOST, "localhost");
        let request = request.body(Full::new(body));
        let request = request.map_err(|error| self.unanswered(error.to_string()))?;
        let answer = sender.send_request(request).await.map_err(unanswered)?;
        let code = answer.status();
        let body = Limited::new(answer.into_body(), LARGEST).collect().await;
        let body = body.map_err(|error| self.unanswered(error.to_string()))?;
        Ok((code, body.to_bytes()))
    }

    fn refused(&self, code: StatusCode, body: &[u8]) -> ClientError {
        self.unanswered(format!("{code}: {}", String::from_utf8_lossy(body).trim()))
    }

    fn unanswered(&self, why: String) -> ClientError {
        ClientError::Unanswered { socket: self.socket.clone(), why }
    }
}
