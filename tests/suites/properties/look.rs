//! After every command: every key, every row and every counter, of the ledger and of the model.

use keyledger::{Filter, RecordView, StateName};
use keyledger_harness::model::{self, Counts, Fingerprint, View};

use super::driver::{Driver, Verdict};
use super::stage::{TABLE, ids};
use super::translate;

/// I2, I4, I7, I8: what is seen is what the model has.
pub(crate) fn same_everywhere(driver: &Driver) -> Verdict {
    same_records(driver)?;
    same_rows(driver)?;
    same_counts(driver)
}

fn same_records(driver: &Driver) -> Verdict {
    for id in ids() {
        let seen = driver.ledger.inspect(&translate::id(&id)).map_err(|error| format!("inspect: {error}"))?;
        let seen = seen.map(|record| comparable(view_back(driver, &record)));
        let expected = driver.model.inspect(&id).map(comparable);
        driver.same(&format!("inspect {} {} {}", id.operation, id.scope, id.key), &seen, &expected)?;
    }
    Ok(())
}

fn same_rows(driver: &Driver) -> Verdict {
    for key in ["a", "b"] {
        let seen = driver.ledger.get(TABLE, key.as_bytes()).map_err(|error| format!("get: {error}"))?;
        driver.same(&format!("row {key}"), &seen, &driver.model.row(TABLE, key.as_bytes()))?;
    }
    Ok(())
}

/// I7: counters by state as stored, and what a walk over the records counts, which is by state as it counts now.
fn same_counts(driver: &Driver) -> Verdict {
    let stats = driver.ledger.stats().map_err(|error| format!("stats: {error}"))?;
    let seen = Counts {
        in_progress: stats.in_progress,
        released: stats.released,
        completed: stats.completed,
        failed: stats.failed,
        parked: stats.parked,
        tombstones: stats.tombstones,
    };
    driver.same("stats", &seen, &driver.model.counts())?;
    let page = driver.ledger.list(&Filter::all()).map_err(|error| format!("list: {error}"))?;
    let mut listed = Counts::default();
    for record in &page.records {
        *match record.state() {
            StateName::InProgress => &mut listed.in_progress,
            StateName::Released => &mut listed.released,
            StateName::Completed => &mut listed.completed,
            StateName::Failed => &mut listed.failed,
            StateName::Parked => &mut listed.parked,
            StateName::Tombstone => &mut listed.tombstones,
        } += 1;
    }
    driver.same("list", &listed, &driver.model.counts_now())?;
    if driver.model.due().is_empty() { driver.same("I7: stats beside list", &seen, &listed) } else { Ok(()) }
}

/// Of a tombstone only its fence and its time count: what else it keeps is the ledger's business.
fn comparable(view: View) -> View {
    if view.state != "tombstone" {
        return view;
    }
    View {
        attempt: 0,
        effect: model::Effect::InLedger,
        fingerprint: Fingerprint::Unchecked,
        memo: Vec::new(),
        steps: Vec::new(),
        first_granted_at: 0,
        settled_at: None,
        retained_until: None,
        ..view
    }
}

fn view_back(driver: &Driver, record: &RecordView) -> View {
    View {
        state: record.state().as_str(),
        fence: driver.model_fence(record.fence()),
        attempt: record.attempt(),
        effect: translate::effect_back(record.effect()),
        fingerprint: translate::fingerprint_back(&record.fingerprint()),
        memo: record.memo().to_vec(),
        steps: translate::steps_back(record.steps()),
        first_granted_at: record.first_granted_at_ms(),
        lease_end: record.lease_end_ms(),
        settled_at: record.settled_at_ms(),
        retained_until: record.retained_until_ms(),
        gone_at: record.gone_at_ms(),
        response: record.response().map(translate::response_back),
        parked: record.parked().map(|(reason, since)| (reason.as_str().to_string(), since)),
    }
}
