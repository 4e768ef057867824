//! Writes plans that are drawn at random, to be asked of the command and of a browser's module:
//! `random_plans FOLDER COUNT SEED`. Of every five plans one is damaged, so that refusals are
//! compared, too.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use laxity_search::Generator;
use laxity_search::case::generator;
use laxity_search::discipline::Discipline;
use rand::RngExt;

/// One plan in as many is damaged.
const DAMAGED: u64 = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [folder, count, seed] = &arguments[..] else {
        return Err("usage: random_plans FOLDER COUNT SEED".into());
    };
    let (folder, count, seed) = (PathBuf::from(folder), count.parse()?, seed.parse()?);
    fs::create_dir_all(&folder)?;
    let drawn = Discipline::all().filter(|one| *one != Discipline::Reservations);
    for (number, discipline) in (0..count).zip(drawn.cycle()) {
        let mut draw = generator(discipline, seed, number);
        let Some(draft) = discipline.draw(&mut draw) else { continue };
        let text = draft.text();
        let text = if number % DAMAGED == 0 { damaged(&text, &mut draw) } else { text };
        fs::write(folder.join(format!("{number:04}-{}.toml", discipline.name())), text)?;
    }
    Ok(())
}

/// The text with a letter or digit in place of another.
fn damaged(text: &str, draw: &mut Generator) -> String {
    let places: Vec<usize> =
        text.char_indices().filter(|(_, c)| c.is_ascii_alphanumeric()).map(|(at, _)| at).collect();
    let at = places[draw.random_range(0..places.len())];
    let put = if draw.random_range(0..2u32) == 0 { "x" } else { "0" };
    [&text[..at], put, &text[at + 1..]].concat()
}
