//! What is answered to whom.

use std::sync::Arc;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use rustls::pki_types::CertificateDer;

use super::guard::Names;
use super::orders;
use super::page;
use super::sight::{NoAnswer, Sight};
use crate::metrics::Format;
use crate::reservations::Clients;
use crate::status::PastSpan;

/// By which way a request came.
#[derive(Clone)]
pub(super) enum Door {
    /// From the user who runs it.
    Control,
    /// From anyone, who may ask by these names.
    Network(Arc<Names>),
    /// From anyone, who may give orders with a token of these clients, or with the certificate
    /// that the connection has shown.
    Clients(Arc<Clients>, Option<CertificateDer<'static>>),
}

/// What answers requests that came by a door.
#[derive(Clone)]
pub(super) struct Answering {
    pub(super) door: Door,
    pub(super) sight: Arc<Sight>,
}

pub(super) type Answer = Response<Full<Bytes>>;

pub(super) const JSON: &str = "application/json";
pub(super) const TEXT: &str = "text/plain; charset=utf-8";
/// What is asked for with these changes nothing.
const READING: &str = "GET, HEAD";

const NO_SPAN: &str = "Ask for past?hour, past?day or past?week.\n";
const NO_HISTORY: &str = "No history is kept: see laxity live --history.\n";

/// A page runs what is its own alone, and what is answered is no one else's to look into.
const GUARDS: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

impl Answering {
    pub(super) async fn answer(&self, request: &Parts, body: Incoming) -> Answer {
        let mut answer = match self.refusal(request) {
            Some(refusal) => refusal,
            None => self.found(request, body).await.unwrap_or_else(unanswered),
        };
        for (name, value) in GUARDS {
            answer.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        answer
    }

    fn refusal(&self, request: &Parts) -> Option<Answer> {
        let Door::Network(names) = &self.door else { return None };
        let host = request.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let why = "Ask by address, by localhost, or by this machine's name.\n";
        (!host.is_some_and(|host| names.allow(host)))
            .then(|| answer(StatusCode::MISDIRECTED_REQUEST, TEXT, why))
    }

    async fn found(&self, request: &Parts, body: Incoming) -> Result<Answer, NoAnswer> {
        let path = request.uri.path();
        if let Door::Clients(clients, certificate) = &self.door {
            let client = orders::client(clients, request, certificate.as_ref());
            return orders::by_client(&self.sight, client, request, body).await;
        }
        if path == "/reservations" && matches!(self.door, Door::Control) {
            return match request.method {
                Method::POST => orders::by_owner(&self.sight, body).await,
                _ => Ok(other_method("POST")),
            };
        }
        if path == "/reload" && matches!(self.door, Door::Control) {
            return match request.method {
                Method::POST => Ok(reloaded(self.sight.reload().await?)),
                _ => Ok(other_method("POST")),
            };
        }
        let (kind, body) = match path {
            "/status" => {
                let status = self.sight.status().await?;
                (JSON, serde_json::to_vec(&*status).map_err(|_| NoAnswer)?.into())
            }
            "/history" => (JSON, self.sight.history()?.into()),
            "/past" => {
                let Some(span) = span(request) else {
                    return Ok(answer(StatusCode::BAD_REQUEST, TEXT, NO_SPAN));
                };
                match self.sight.past(span).await? {
                    Some(past) => (JSON, serde_json::to_vec(&past).map_err(|_| NoAnswer)?.into()),
                    None => return Ok(answer(StatusCode::NOT_FOUND, TEXT, NO_HISTORY)),
                }
            }
            "/metrics" => {
                let format = Format::accepted(&accepts(request));
                (format.content_type(), format.write(&*self.sight.status().await?).into())
            }
            "/colours.css" => (page::CSS, self.sight.colours.clone()),
            _ => match page::file(path) {
                Some((kind, text)) => (kind, Bytes::from_static(text.as_bytes())),
                None => {
                    return Ok(answer(StatusCode::NOT_FOUND, TEXT, "There is no such thing.\n"));
                }
            },
        };
        Ok(match request.method {
            // Without the body, if that is asked for: hyper sees to it.
            Method::GET | Method::HEAD => answer(StatusCode::OK, kind, body),
            _ => other_method(READING),
        })
    }
}

/// How far back a request looks.
fn span(request: &Parts) -> Option<PastSpan> {
    let asked = request.uri.query()?;
    PastSpan::ALL.into_iter().find(|span| span.name() == asked)
}

/// All that a request accepts, in one line.
fn accepts(request: &Parts) -> String {
    let lines = request.headers.get_all(header::ACCEPT).iter();
    lines.filter_map(|line| line.to_str().ok()).collect::<Vec<_>>().join(",")
}

pub(super) fn answer(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

fn reloaded(reloaded: Result<(), String>) -> Answer {
    match reloaded {
        Ok(()) => answer(StatusCode::OK, TEXT, ""),
        Err(why) => answer(StatusCode::CONFLICT, TEXT, why),
    }
}

pub(super) fn other_method(allowed: &'static str) -> Answer {
    let mut answer = answer(StatusCode::METHOD_NOT_ALLOWED, TEXT, "This is not asked for so.\n");
    answer.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    answer
}

fn unanswered(_: NoAnswer) -> Answer {
    answer(StatusCode::SERVICE_UNAVAILABLE, TEXT, "The link's process is busy or at its end.\n")
}
