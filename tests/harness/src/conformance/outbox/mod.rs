//! The outbox of a scenario: entries and deliveries that have names, and what was on the wire.

pub(super) mod settings;
pub(super) mod shown;

use std::collections::{BTreeMap, BTreeSet};

use keyledger::{Delivery, EntryId, Error, Ledger, Outbox};
use serde_json::{Value, json};

use super::values::shown_bytes;

/// What a scenario knows of its outbox.
#[derive(Default)]
pub(super) struct Mail {
    /// None where the scenario has no settings for one.
    outbox: Option<Outbox>,
    settings: Option<Value>,
    deliveries: BTreeMap<String, Handed>,
    /// Deliveries that no step names: kept, because dropping one ends its lease (O6).
    unnamed: Vec<Delivery>,
    /// Every delivery that was handed out: key, media type and request.
    wire: Vec<(String, String, Vec<u8>)>,
    /// Where `changes` goes on.
    pub(super) last_change: u64,
}

/// What a scenario knows by the name of a delivery. The object is used up by settling, and ends with its process.
pub(super) struct Handed {
    pub(super) id: EntryId,
    pub(super) fence: u64,
    pub(super) delivery: Option<Delivery>,
}

impl Mail {
    pub(super) fn new(ledger: &Ledger, settings: Option<&Value>) -> Result<Self, Error> {
        let outbox = settings.map(|settings| settings::open(ledger, settings)).transpose()?;
        Ok(Self { outbox, settings: settings.cloned(), ..Self::default() })
    }

    /// Another process has the ledger: objects of the old one are gone, names are not.
    pub(super) fn open_anew(&mut self, ledger: &Ledger) -> Result<(), Error> {
        self.unnamed.clear();
        self.deliveries.values_mut().for_each(|handed| handed.delivery = None);
        self.outbox = self.settings.as_ref().map(|settings| settings::open(ledger, settings)).transpose()?;
        Ok(())
    }

    /// Another handle on the same outbox, with these settings in addition.
    pub(super) fn open_with(&mut self, ledger: &Ledger, own: &Value) -> Result<(), Error> {
        let mut settings = self.settings.clone().unwrap_or_else(|| json!({}));
        for (name, setting) in own.as_object().into_iter().flatten() {
            settings[name.as_str()] = setting.clone();
        }
        self.outbox = Some(settings::open(ledger, &settings)?);
        self.settings = Some(settings);
        Ok(())
    }

    pub(super) fn outbox(&self) -> Outbox {
        self.outbox.clone().expect("the scenario has settings for an outbox")
    }

    /// Keeps a delivery: with it, its request is on the wire.
    pub(super) fn keep(&mut self, name: Option<&str>, delivery: Delivery) {
        let sent = (delivery.key().as_str().to_owned(), delivery.media_type().to_owned(), delivery.request().to_vec());
        self.wire.push(sent);
        match name {
            Some(name) => {
                let (id, fence) = (delivery.id(), delivery.fence());
                self.deliveries.insert(name.to_owned(), Handed { id, fence, delivery: Some(delivery) });
            }
            None => self.unnamed.push(delivery),
        }
    }

    pub(super) fn handed(&mut self, name: &str) -> &mut Handed {
        self.deliveries.get_mut(name).unwrap_or_else(|| panic!("no delivery has been named {name}"))
    }

    /// All that was sent so far: how often, under how many keys, and how many different requests.
    pub(super) fn shown_wire(&self) -> Value {
        let keys: BTreeSet<_> = self.wire.iter().map(|(key, ..)| key).collect();
        let requests: BTreeSet<_> = self.wire.iter().map(|(_, media_type, bytes)| (media_type, bytes)).collect();
        let bodies: Vec<Value> = requests.iter().map(|(_, bytes)| shown_bytes(bytes)).collect();
        json!({ "sends": self.wire.len(), "keys": keys.len(), "requests": bodies })
    }
}
