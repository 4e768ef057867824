//! What a server knows of the link.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use super::FRESH;
use super::past::{EVERY, Past};
use crate::process::Request;
use crate::reservations::{Answer, Order};
use crate::status::{PastSpan, PastStatus, Status};

/// So often it is looked whether there is an answer.
const LOOK: Duration = Duration::from_millis(5);
/// So long a status may take.
const STATUS: Duration = Duration::from_secs(5);
/// So long a reload may take: to prove a plan can be work.
const RELOAD: Duration = Duration::from_secs(600);
/// The most points of a line of a chart.
const POINTS: u64 = 480;
/// So often it says that someone reads slowly.
const REMARKS: Duration = Duration::from_secs(60);

/// Sends [`Request`]s to the link's process and keeps what it answers.
pub(super) struct Sight {
    /// The colours in which it is shown, as a style sheet.
    pub(super) colours: Bytes,
    requests: Sender<Request>,
    /// Held by who asks while others wait for the same.
    last: Mutex<Option<(Instant, Arc<Status>)>>,
    /// What it was like before.
    past: std::sync::Mutex<Past>,
    say: Box<dyn Fn(&str) + Send + Sync>,
    /// When it said so last.
    remarked: std::sync::Mutex<Option<Instant>>,
}

/// Nobody answers: the link's process is at its end, or busy.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoAnswer;

impl Sight {
    pub(super) fn new(
        colours: String,
        requests: Sender<Request>,
        say: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let (last, remarked) = (Mutex::new(None), std::sync::Mutex::new(None));
        Sight {
            colours: colours.into(),
            requests,
            last,
            past: Default::default(),
            say: Box::new(say),
            remarked,
        }
    }

    /// What the link is like now, or was a moment ago.
    pub(super) async fn status(&self) -> Result<Arc<Status>, NoAnswer> {
        let mut last = self.last.lock().await;
        if let Some((at, status)) = &*last
            && at.elapsed() < FRESH
        {
            return Ok(status.clone());
        }
        let status = Arc::new(self.ask(Request::Status, STATUS).await?);
        *last = Some((Instant::now(), status.clone()));
        Ok(status)
    }

    /// Notes again and again what the link is like.
    pub(super) async fn remember(&self) {
        loop {
            // Of its own, so that nobody else is told what it was like then.
            if let Ok(status) = self.ask(Request::Status, STATUS).await
                && let Ok(mut past) = self.past.lock()
            {
                past.note(&status);
            }
            sleep(EVERY).await;
        }
    }

    /// What was noted of the last hour, as JSON.
    pub(super) fn history(&self) -> Result<Vec<u8>, NoAnswer> {
        let past = self.past.lock().map_err(|_| NoAnswer)?;
        serde_json::to_vec(&*past).map_err(|_| NoAnswer)
    }

    /// What there is of a history, in as many points as a chart can show; none where none is kept.
    pub(super) async fn past(&self, span: PastSpan) -> Result<Option<PastStatus>, NoAnswer> {
        self.ask(|answer| Request::Past { span, most: POINTS, answer }, STATUS).await
    }

    /// Has the plans read again.
    pub(super) async fn reload(&self) -> Result<Result<(), String>, NoAnswer> {
        let reloaded = self.ask(Request::Reload, RELOAD).await?;
        *self.last.lock().await = None;
        Ok(reloaded)
    }

    /// Has an order carried out.
    pub(super) async fn order(&self, order: Order) -> Result<Answer, NoAnswer> {
        let answer = self.ask(|answer| Request::Order(order, answer), RELOAD).await?;
        *self.last.lock().await = None;
        Ok(answer)
    }

    /// Says that someone does not take the answer, unless it has just said so.
    pub(super) fn slow_reader(&self, who: &str) {
        let Ok(mut remarked) = self.remarked.lock() else { return };
        if remarked.is_none_or(|at| at.elapsed() >= REMARKS) {
            *remarked = Some(Instant::now());
            (self.say)(&format!("{who} did not take its answer in time and was cut off"));
        }
    }

    async fn ask<T>(
        &self,
        request: impl FnOnce(Sender<T>) -> Request,
        patience: Duration,
    ) -> Result<T, NoAnswer> {
        let (answer, answered) = mpsc::channel();
        self.requests.send(request(answer)).map_err(|_| NoAnswer)?;
        timeout(patience, answer_to(answered)).await.map_err(|_| NoAnswer)?
    }
}

async fn answer_to<T>(answered: Receiver<T>) -> Result<T, NoAnswer> {
    loop {
        match answered.try_recv() {
            Ok(answer) => return Ok(answer),
            Err(TryRecvError::Empty) => sleep(LOOK).await,
            Err(TryRecvError::Disconnected) => return Err(NoAnswer),
        }
    }
}
