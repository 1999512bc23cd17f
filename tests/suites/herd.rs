//! O6: what jitter is for. Ten thousand clients whose network comes back at once do not come at once.
//!
//! The picture of it, docs/backoff.svg, is drawn of the very numbers that are judged here: `cargo xtask plot` has this suite write
//! it, every other run compares.

use std::path::Path;

use keyledger_harness::{herd, settings};
use plotters::prelude::*;

const CLIENTS: usize = 10_000;
/// No second has more than so many times the mean of the first five minutes.
const PEAK_MAX: f64 = 3.0;
/// The seed that the picture is drawn with.
const SEED: u64 = 1;

#[test]
fn o6_with_jitter_no_second_has_more_than_three_times_the_mean_and_without_it_one_has() {
    let [with, without] = [true, false].map(|jitter| herd::arrivals(CLIENTS, jitter, settings::seed()));
    assert_eq!(with.iter().sum::<u32>() as usize, CLIENTS, "everybody has come within the longest backoff");
    let peak = herd::peak_over_mean(&with);
    assert!(peak <= PEAK_MAX, "{peak:.1} times the mean");
    let peak = herd::peak_over_mean(&without);
    assert!(peak > PEAK_MAX, "{peak:.1} times the mean: then jitter is for nothing");
    if settings::seed() == SEED {
        the_picture_is_of(&with, &without);
    }
}

fn the_picture_is_of(with: &[u32], without: &[u32]) {
    let drawn = draw(with, without).expect("an SVG is text");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/backoff.svg");
    if settings::number::<u8>("KEYLEDGER_PLOT").is_some() {
        std::fs::write(&path, &drawn).expect("docs can be written to");
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == drawn, "docs/backoff.svg is another one: cargo xtask plot draws it anew");
}

/// Two panels, one above the other: each has a scale of its own.
fn draw(with: &[u32], without: &[u32]) -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (800, 520)).into_drawing_area();
        root.fill(&WHITE)?;
        let panels = root.split_evenly((2, 1));
        panel(&panels[0], "with full jitter", with)?;
        panel(&panels[1], "without jitter", without)?;
        root.present()?;
    }
    text.push('\n');
    Ok(text)
}

fn panel<DB: DrawingBackend>(
    area: &DrawingArea<DB, plotters::coord::Shift>,
    title: &str,
    seconds: &[u32],
) -> Result<(), Box<dyn std::error::Error>>
where
    DB::ErrorType: 'static,
{
    let peak = seconds.iter().max().copied().unwrap_or_default();
    let mean = f64::from(peak) / herd::peak_over_mean(seconds);
    let caption = format!("{title}: {CLIENTS} clients back online at once, mean {mean:.0} a second, peak {peak}");
    let mut chart = ChartBuilder::on(area)
        .caption(caption, ("sans-serif", 16))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(56)
        .build_cartesian_2d(0..seconds.len(), 0..peak + peak / 10 + 1)?;
    chart.configure_mesh().x_desc("seconds since the network came back").y_desc("arrivals a second").draw()?;
    chart.draw_series(
        seconds.iter().enumerate().map(|(at, count)| Rectangle::new([(at, 0), (at + 1, *count)], BLUE.filled())),
    )?;
    Ok(())
}
