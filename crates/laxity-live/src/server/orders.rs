//! Orders, and what is answered to them.

use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use rustls::pki_types::CertificateDer;
use tokio::time::timeout;

use super::answers::{Answer, JSON, TEXT, answer, other_method};
use super::sight::{NoAnswer, Sight};
use crate::reservations::{self, Client, Clients, Order, Why, openapi};

/// The largest order, in bytes.
const LARGEST: usize = 64 * 1024;
/// How long the rest of an order may take to come.
const PATIENCE: Duration = Duration::from_secs(10);

/// Has the order of the user carried out who runs the link.
pub(super) async fn by_owner(sight: &Sight, body: Incoming) -> Result<Answer, NoAnswer> {
    match read(body).await {
        Ok(order) => written(&sight.order(order).await?),
        Err(why) => written(&reservations::Answer::refused(Why::Senseless, why)),
    }
}

/// Who asks: by the token of the request or, if it has none, by the certificate of its connection.
pub(super) fn client<'a>(
    clients: &'a Clients,
    request: &Parts,
    certificate: Option<&CertificateDer<'_>>,
) -> Option<&'a Client> {
    match request.headers.get(header::AUTHORIZATION) {
        Some(value) => clients.by_token(value.to_str().ok()?.strip_prefix("Bearer ")?),
        None => clients.by_certificate(certificate?),
    }
}

/// Answers a client on the network, if it is one.
pub(super) async fn by_client(
    sight: &Sight,
    client: Option<&Client>,
    request: &Parts,
    body: Incoming,
) -> Result<Answer, NoAnswer> {
    match (request.uri.path(), &request.method) {
        ("/openapi.json", &Method::GET | &Method::HEAD) => {
            return Ok(answer(StatusCode::OK, JSON, openapi().to_string()));
        }
        ("/openapi.json", _) => return Ok(other_method("GET, HEAD")),
        ("/reservations", &Method::POST) => {}
        ("/reservations", _) => return Ok(other_method("POST")),
        _ => return Ok(answer(StatusCode::NOT_FOUND, TEXT, "There is no such thing.\n")),
    }
    let Some(client) = client else { return Ok(unauthorized()) };
    let _turn = match client.turn().await {
        Ok(turn) => turn,
        Err(wait) => return later(wait),
    };
    let order = match read(body).await {
        Ok(order) => client.order(order),
        Err(why) => return written(&reservations::Answer::refused(Why::Senseless, why)),
    };
    // What is changed leaves a class behind for a moment.
    let most = match order {
        Order::Reserve(_) => Some(client.most()),
        Order::Change { .. } => Some(client.most().saturating_add(1)),
        _ => None,
    };
    if let Some(most) = most
        && held(sight, client).await? >= most
    {
        let why = format!("you have {} reservations already", client.most());
        return written(&reservations::Answer::refused(Why::TooMany, why));
    }
    written(&client.answer(sight.order(order).await?))
}

/// How many reservations a client has.
async fn held(sight: &Sight, client: &Client) -> Result<usize, NoAnswer> {
    match client.answer(sight.order(Order::List).await?) {
        reservations::Answer::Listed { reservations } => Ok(reservations.len()),
        _ => Ok(0),
    }
}

/// Reads an order, or says why it is none.
async fn read(body: Incoming) -> Result<Order, String> {
    let body = timeout(PATIENCE, Limited::new(body, LARGEST).collect()).await;
    let Ok(Ok(body)) = body else {
        return Err(format!("an order has up to {LARGEST} bytes, and comes at once"));
    };
    serde_json::from_slice(&body.to_bytes()).map_err(|error| format!("this is no order: {error}"))
}

fn written(done: &reservations::Answer) -> Result<Answer, NoAnswer> {
    let status = match done {
        reservations::Answer::Refused(refused) => status(refused.reason),
        _ => StatusCode::OK,
    };
    Ok(answer(status, JSON, serde_json::to_vec(done).map_err(|_| NoAnswer)?))
}

fn status(why: Why) -> StatusCode {
    match why {
        Why::Senseless => StatusCode::BAD_REQUEST,
        Why::Unknown => StatusCode::NOT_FOUND,
        Why::Exists | Why::NoRoom => StatusCode::CONFLICT,
        Why::TooMany => StatusCode::TOO_MANY_REQUESTS,
        Why::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}

fn unauthorized() -> Answer {
    let why = "Give the token of a client, as Authorization: Bearer TOKEN, or, over TLS, come with \
               the certificate of one.\n";
    let mut answer = answer(StatusCode::UNAUTHORIZED, TEXT, why);
    answer.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    answer
}

fn later(wait: Duration) -> Result<Answer, NoAnswer> {
    let why = "you order more often than you may: ask again later";
    let mut answer = written(&reservations::Answer::refused(Why::TooMany, why))?;
    let seconds = wait.as_secs() + 1;
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    Ok(answer)
}
