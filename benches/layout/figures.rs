//! Samples by layout and measure, their medians, and how they are shown.

use serde_json::{Value, json};
use std::collections::BTreeMap;

/// All that one run measured.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    layouts: Vec<String>,
    measures: Vec<String>,
    samples: BTreeMap<(String, String), Vec<f64>>,
}

impl Figures {
    /// Adds one sample.
    pub(crate) fn add(&mut self, layout: &str, measure: &str, sample: f64) {
        remember(&mut self.layouts, layout);
        remember(&mut self.measures, measure);
        self.samples.entry((layout.to_owned(), measure.to_owned())).or_default().push(sample);
    }

    /// The medians, an object for each layout.
    pub(crate) fn json(&self) -> Value {
        let layouts = self.layouts.iter().map(|layout| {
            let medians = self.measures.iter().filter_map(|measure| Some((measure, self.median(layout, measure)?)));
            let medians: serde_json::Map<_, _> = medians.map(|(name, value)| (name.clone(), json!(value))).collect();
            (layout.clone(), Value::Object(medians))
        });
        Value::Object(layouts.collect())
    }

    /// A table in Markdown: a line for each layout, a column for each measure.
    pub(crate) fn table(&self) -> String {
        let mut lines = vec![format!("| layout | {} |", self.measures.join(" | "))];
        lines.push(format!("|---|{}", "---:|".repeat(self.measures.len())));
        for layout in &self.layouts {
            let cells = self.measures.iter().map(|measure| self.median(layout, measure).map_or(String::new(), short));
            lines.push(format!("| {layout} | {} |", cells.collect::<Vec<_>>().join(" | ")));
        }
        lines.join("\n")
    }

    fn median(&self, layout: &str, measure: &str) -> Option<f64> {
        let mut samples = self.samples.get(&(layout.to_owned(), measure.to_owned()))?.clone();
        samples.sort_by(f64::total_cmp);
        samples.get(samples.len() / 2).copied()
    }
}

fn remember(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

fn short(value: f64) -> String {
    if value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
