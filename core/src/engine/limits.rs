//! Limits at the door (L4), and the form in which responses are stored (S4).

use super::Engine;
use crate::error::{Error, Result};
use crate::machine::record::Step;
use crate::machine::settle::{Resolution, Settlement};

impl Engine {
    /// The settlement as it is stored: a body over the limit is omitted.
    pub(crate) fn stored_form(&self, settlement: Settlement) -> Settlement {
        let max_bytes = self.options.max_response_bytes;
        match settlement {
            Settlement::Complete(response) => Settlement::Complete(response.within(max_bytes)),
            Settlement::Fail(response) => Settlement::Fail(response.within(max_bytes)),
            settlement @ (Settlement::Release | Settlement::Park(_)) => settlement,
        }
    }

    /// The resolution as it is stored: a body over the limit is omitted.
    pub(crate) fn stored_resolution(&self, resolution: Resolution) -> Resolution {
        let max_bytes = self.options.max_response_bytes;
        match resolution {
            Resolution::Completed(response) => Resolution::Completed(response.within(max_bytes)),
            Resolution::Failed(response) => Resolution::Failed(response.within(max_bytes)),
            Resolution::NotDone => Resolution::NotDone,
        }
    }

    pub(crate) fn check_row_value(&self, value: &[u8]) -> Result<()> {
        self.check_length("a row's value", value.len())
    }

    pub(crate) fn check_step(&self, step: &Step) -> Result<()> {
        if step.name.is_empty() {
            return Err(Error::InvalidArgument("a step needs a name".into()));
        }
        self.check_length("a step's name", step.name.len())?;
        self.check_length("a step's value", step.value.len())
    }

    fn check_length(&self, what: &'static str, bytes: usize) -> Result<()> {
        let max = self.options.max_response_bytes;
        if bytes > max {
            return Err(Error::TooLarge { what, bytes: bytes as u64, max: max as u64 });
        }
        Ok(())
    }
}
