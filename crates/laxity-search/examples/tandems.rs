//! Bounds of random FIFO tandems beside the longest delays that a search finds there: see
//! [`tandems`](laxity_search::tandems).
//!
//! `cargo run --release -p laxity-search --example tandems [-- TANDEMS [PACKETS [SEED]]]`

use std::thread;

use laxity_search::tandems::{Compared, Tandem};

type Error = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Error> {
    let numbers: Result<Vec<u64>, _> = std::env::args().skip(1).map(|arg| arg.parse()).collect();
    let numbers = numbers?;
    let given = |at: usize, default: u64| numbers.get(at).copied().unwrap_or(default);
    let (tandems, packets, seed) = (given(0, 100).max(1), given(1, 300_000), given(2, 1));
    let threads = thread::available_parallelism()?.get() as u64;
    let row = |number| {
        let tandem = Tandem::draw(seed, number);
        let compared = tandem.compared(packets, seed)?;
        Ok((number, tandem, compared))
    };
    let part = |first: u64| {
        (first..tandems).step_by(threads as usize).map(row).collect::<Result<Vec<_>, Error>>()
    };
    let parts = thread::scope(|scope| {
        let parts: Vec<_> = (0..threads).map(|first| scope.spawn(move || part(first))).collect();
        let joined = parts.into_iter().map(|part| part.join().expect("no thread panics"));
        joined.collect::<Result<Vec<_>, Error>>()
    })?;
    let mut rows: Vec<_> = parts.into_iter().flatten().collect();
    rows.sort_by_key(|(number, ..)| *number);
    println!("| tandem | links | others | load | bound, ms | by | found, ms | ratio |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    rows.iter().for_each(|(number, tandem, compared)| print(*number, tandem, compared));
    let mut ratios: Vec<f64> = rows.iter().map(|(.., compared)| compared.ratio()).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |tenths: usize| ratios[(ratios.len() - 1) * tenths / 10];
    let [least, median, nine, most] = [0, 5, 9, 10].map(at);
    println!("\nleast {least:.3}, median {median:.3}, nine of ten {nine:.3}, most {most:.3}");
    Ok(())
}

fn print(number: u64, tandem: &Tandem, compared: &Compared) {
    let Compared { bound, found } = compared;
    println!(
        "| {number} | {} | {} | {} % | {:.1} | {} | {:.1} | {:.3} |",
        tandem.rates.len(),
        tandem.flows.len() - 1,
        tandem.load,
        bound.delay.0 as f64 / 1e6,
        bound.method.name(),
        found.0 as f64 / 1e6,
        compared.ratio()
    );
}
