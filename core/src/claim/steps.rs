//! The steps of a claim: calls whose results the next attempt finds.

use std::sync::Arc;

use super::Claim;
use crate::engine::EngineError;
use crate::error::{Error, Result};
use crate::limits::check_step;
use crate::machine::record::Step;
use crate::operation::Effect;

impl Claim {
    /// Runs `f` until its result is recorded under `name`; from then on, on any later attempt, returns that and does not run it.
    ///
    /// A kill between the two runs `f` again: give what it calls [`derive_key(name)`](Claim::derive_key). On return the result
    /// is on disk.
    ///
    /// # Errors
    /// Whatever `f` returns; `ClaimLost`; `InvalidArgument` for InLedger operations; `TooLarge`.
    pub fn step<E: From<Error>>(&mut self, name: &str, f: impl FnOnce() -> Result<Vec<u8>, E>) -> Result<Vec<u8>, E> {
        if let Some(value) = self.recorded_step(name)? {
            return Ok(value.to_vec());
        }
        let value = f()?;
        self.record_step(name, value.clone())?;
        Ok(value)
    }

    /// What this or an earlier attempt has recorded under `name`. Without that, whether a step of this name may run now: what
    /// [`record_step`](Claim::record_step) would refuse after it is refused before it.
    ///
    /// # Errors
    /// `ClaimSettled`; `InvalidArgument` for InLedger operations; `TooLarge`.
    pub fn recorded_step(&self, name: &str) -> Result<Option<&[u8]>> {
        if let Some(step) = self.record.steps.iter().find(|step| step.name == name) {
            return Ok(Some(&step.value));
        }
        self.check_not_ended()?;
        if self.effect() == Effect::InLedger {
            return Err(EngineError::StepRefused.into());
        }
        check_step(&Step { name: name.to_owned(), value: Vec::new() }, self.engine.options)?;
        Ok(None)
    }

    /// Records a step's result. On return it is on disk.
    ///
    /// # Errors
    /// `ClaimLost`; `InvalidArgument` for InLedger operations and for a name that has another value; `TooLarge`.
    #[tracing::instrument(level = "debug", name = "keyledger.record_step", skip_all, fields(operation = %self.address.id.operation(), fence = self.record.fence))]
    pub fn record_step(&mut self, name: &str, value: impl Into<Vec<u8>>) -> Result<()> {
        let step = Step { name: name.to_owned(), value: value.into() };
        check_step(&step, self.engine.options)?;
        self.engine.record_step(&self.address, self.fence(), step.clone())?;
        self.remember_step(step);
        Ok(())
    }

    /// From now on this object knows a step that is on disk: for whoever recorded it by
    /// [key id and fence](crate::Ledger::record_step), so that the claim was free meanwhile.
    pub fn remember_step(&mut self, step: Step) {
        if !self.record.steps.contains(&step) {
            Arc::make_mut(&mut self.record).steps.push(step);
        }
    }
}
