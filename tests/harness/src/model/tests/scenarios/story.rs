//! A scenario on its way: what the model is told at each step.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::super::super::{
    Begin, Decision, Effect, Fence, Fingerprint, Granted, Id, Model, Operation, Resolution, Response, RowCall,
    Settlement,
};
use super::answer;

/// The wall clock at the start; scenarios tell instants from here.
pub(super) const START: u64 = 1_700_000_000_000;

/// The ledger, and the names that the scenario gives.
pub(super) struct Story {
    model: Model,
    operations: BTreeMap<String, Operation>,
    /// Claims, and fences that `inspect` showed.
    named: BTreeMap<String, (Id, Fence)>,
    held: BTreeSet<String>,
    fingerprints: Vec<String>,
}

impl Story {
    pub(super) fn new(declared: [&Value; 2]) -> Self {
        let declared = declared.into_iter().filter_map(Value::as_object).flatten();
        let operations = declared.map(|(alias, value)| (alias.clone(), operation(alias, value))).collect();
        let model = Model::new(START, 0);
        Self { model, operations, named: BTreeMap::new(), held: BTreeSet::new(), fingerprints: Vec::new() }
    }

    /// The model's answer; `None` if the model does not know such a step.
    pub(super) fn step(&mut self, step: &Value) -> Option<Value> {
        match step["do"].as_str()? {
            "advance" => self.model.advance(step["ms"].as_u64()?),
            "jump" => self.model.jump_wall(step["ms"].as_i64()?),
            "restart" => self.end(Model::close_and_open),
            "kill" => self.end(Model::kill_and_open),
            "suspend" | "reopen" => return Some(json!("ok")),
            "resume" => {
                self.model.suspend_and_resume();
                return Some(json!("ok"));
            }
            "drop" => self.drop_claim(step["claim"].as_str()?)?,
            _ => return self.call(step),
        }
        Some(Value::Null)
    }

    fn end(&mut self, how: fn(&mut Model)) {
        self.held.clear();
        how(&mut self.model);
    }

    fn drop_claim(&mut self, name: &str) -> Option<()> {
        let (id, fence) = self.named.get(name)?;
        if self.held.remove(name) {
            self.model.drop_claim(id, *fence);
        }
        Some(())
    }

    fn call(&mut self, step: &Value) -> Option<Value> {
        Some(match step["do"].as_str()? {
            "begin" => self.begin(step)?,
            _ if refused_at_the_door(step) => return None,
            "begin_many" => step["begins"].as_array()?.iter().map(|one| self.begin(one)).collect::<Option<Value>>()?,
            "complete" => self.settle(step, &Settlement::Complete(response(step)?))?,
            "fail" => self.settle(step, &Settlement::Fail(response(step)?))?,
            "release" => self.settle(step, &Settlement::Release)?,
            "park" => self.settle(step, &Settlement::Park(step["reason"].as_str()?.into()))?,
            "heartbeat" => self.heartbeat(step)?,
            "record_step" => self.record_step(step)?,
            "inspect" => self.inspect(step)?,
            "recover" => self.recover(step)?,
            "resolve" => self.resolve(step)?,
            "forget" => {
                let id = self.id(step)?;
                answer::forgotten(self.model.forget(&id, step["even_if_unknown"].as_bool()?))
            }
            "forget_scope" => {
                answer::forgotten(self.model.forget_scope(step["scope"].as_str()?, step["even_if_unknown"].as_bool()?))
            }
            "sweep" => answer::swept(self.model.sweep(usize::try_from(step["limit"].as_u64()?).ok()?)),
            "stats" => answer::counts(self.model.counts()),
            "get" => json!(
                self.model.row(step["table"].as_str()?, step["key"].as_str()?.as_bytes()).map(|value| string(&value))
            ),
            "transaction" | "complete_with" if step["end"] == "abort" => return None,
            "transaction" => self.transaction(step)?,
            "complete_with" => self.complete_with(step)?,
            _ => return None,
        })
    }

    fn id(&self, step: &Value) -> Option<Id> {
        let operation = self.operations.get(step["op"].as_str()?)?;
        Some(Id::new(part(&step["scope"], "tenant-1")?, &operation.name, part(&step["key"], "key-1")?))
    }

    fn begin(&mut self, step: &Value) -> Option<Value> {
        if step["expect"].get("error").is_some() || step["memo"].is_object() {
            return None;
        }
        let id = self.id(step)?;
        let call = Begin {
            operation: self.operations.get(step["op"].as_str()?)?.clone(),
            scope: id.scope,
            key: id.key,
            fingerprint: self.fingerprint(&step["fingerprint"])?,
            memo: step["memo"].as_str().unwrap_or_default().into(),
        };
        let decision = self.model.begin(&call);
        if let (Decision::Acquired(granted), Some(name)) = (&decision, step["as"].as_str()) {
            self.name_claim(name, granted);
        }
        Some(answer::decision(&decision))
    }

    fn name_claim(&mut self, name: &str, granted: &Granted) {
        self.named.insert(name.into(), (granted.id.clone(), granted.fence));
        self.held.insert(name.into());
    }

    fn fingerprint(&mut self, value: &Value) -> Option<Fingerprint> {
        if value.is_object() {
            return Some(Fingerprint::Unchecked);
        }
        let text = value.as_str().unwrap_or("request-1");
        let known = self.fingerprints.iter().position(|known| known == text).unwrap_or_else(|| {
            self.fingerprints.push(text.into());
            self.fingerprints.len() - 1
        });
        Some(Fingerprint::Value(u8::try_from(known).ok()?))
    }

    fn claim(&self, step: &Value) -> Option<(Id, Fence)> {
        let (id, fence) = self.named.get(step["claim"].as_str()?)?.clone();
        let id = if step["on"].is_object() { self.id(&step["on"])? } else { id };
        Some((id, fence))
    }

    fn settle(&mut self, step: &Value, call: &Settlement) -> Option<Value> {
        let (id, fence) = self.claim(step)?;
        let told = self.model.settle(&id, fence, call);
        if told.is_ok() {
            self.held.remove(step["claim"].as_str()?);
        }
        Some(answer::settled(told))
    }

    fn heartbeat(&mut self, step: &Value) -> Option<Value> {
        let (id, fence) = self.claim(step)?;
        let granted = self.operations.values().find(|operation| operation.name == id.operation)?.lease;
        let lease = if step["lease_ms"].is_null() { granted } else { step["lease_ms"].as_u64()? };
        Some(answer::settled(self.model.heartbeat(&id, fence, lease)))
    }

    fn record_step(&mut self, step: &Value) -> Option<Value> {
        let (id, fence) = self.claim(step)?;
        let value = step["value"].as_str()?.as_bytes();
        Some(answer::settled(self.model.record_step(&id, fence, step["name"].as_str()?, value)))
    }

    fn inspect(&mut self, step: &Value) -> Option<Value> {
        let id = self.id(step)?;
        let view = self.model.inspect(&id);
        if let (Some(view), Some(name)) = (&view, step["as"].as_str()) {
            self.named.insert(name.into(), (id, view.fence));
        }
        Some(view.map_or(Value::Null, |view| answer::view(&view)))
    }

    fn recover(&mut self, step: &Value) -> Option<Value> {
        let operation = self.operations.get(step["op"].as_str()?)?.clone();
        let limit = usize::try_from(step["limit"].as_u64()?).ok()?;
        let due = self.model.recoverable(&operation.name);
        if due.len() > 1 {
            return None;
        }
        let claims: Vec<Granted> =
            due.iter().take(limit).filter_map(|id| self.model.recover_one(&operation, id)).collect();
        for (name, granted) in step["as"].as_array().into_iter().flatten().zip(&claims) {
            self.name_claim(name.as_str()?, granted);
        }
        Some(json!({ "claims": claims.iter().map(answer::claim).collect::<Vec<_>>() }))
    }

    fn resolve(&mut self, step: &Value) -> Option<Value> {
        let id = self.id(step)?;
        let (_, fence) = self.named.get(step["fence"].as_str()?)?;
        let resolution = match step["outcome"].as_str()? {
            "completed" => Resolution::Completed(response(step)?),
            "failed" => Resolution::Failed(response(step)?),
            _ => Resolution::NotDone,
        };
        Some(answer::settled(self.model.resolve(&id, *fence, &resolution)))
    }

    fn transaction(&mut self, step: &Value) -> Option<Value> {
        let calls = self.rows(step)?;
        Some(answer::settled(self.model.transaction(&calls).map(|_| ())))
    }

    fn complete_with(&mut self, step: &Value) -> Option<Value> {
        let ((id, fence), calls) = (self.claim(step)?, self.rows(step)?);
        let told = self.model.complete_with(&id, fence, &calls, &response(step)?).map(|_| ());
        Some(answer::settled(told))
    }

    fn rows(&self, step: &Value) -> Option<Vec<RowCall>> {
        step["calls"].as_array()?.iter().map(|call| self.row(call)).collect()
    }

    fn row(&self, call: &Value) -> Option<RowCall> {
        if call["call"] == "complete" {
            let (id, fence) = self.claim(call)?;
            return Some(RowCall::Complete(id, fence, response(call)?));
        }
        let bytes = |member: &str| call[member].as_str().map(|text| text.as_bytes().to_vec());
        let (table, key) = (call["table"].as_str()?.to_string(), bytes("key")?);
        Some(match call["call"].as_str()? {
            "get" => RowCall::Get(table, key),
            "put" => RowCall::Put(table, key, bytes("value")?),
            "delete" => RowCall::Delete(table, key),
            "insert_unique" => RowCall::InsertUnique(table, key, bytes("value")?),
            "compare_and_set" => RowCall::CompareAndSet(table, key, bytes("expected"), bytes("value")),
            _ => return None,
        })
    }
}

fn operation(alias: &str, value: &Value) -> Operation {
    let number = |member: &str, default: u64| match &value[member] {
        Value::String(_max) => u64::MAX,
        number => number.as_u64().unwrap_or(default),
    };
    Operation {
        name: value["name"].as_str().unwrap_or(alias).into(),
        effect: match value["effect"].as_str() {
            Some("in_ledger") => Effect::InLedger,
            Some("repeatable") => Effect::Repeatable,
            _ => Effect::AtMostOnce,
        },
        lease: number("lease_ms", 30_000),
        retention: number("retention_ms", 86_400_000),
        tombstone: number("tombstone_ms", 604_800_000),
        remembered_for: number("remembered_for_ms", 86_400_000),
        max_attempts: u32::try_from(number("max_attempts", 20)).unwrap_or(u32::MAX),
    }
}

/// What no record decides: bad input, a call on a handle that is closed or suspended, a refusal that the closure handles.
fn refused_at_the_door(step: &Value) -> bool {
    let code = step["expect"]["error"].as_str().unwrap_or_default();
    let handled = step["calls"].as_array().into_iter().flatten().any(|call| call["expect"].get("error").is_some());
    let bad_input = code == "invalid_argument" && step["do"] == "begin_many";
    handled || bad_input || ["invalid_key", "too_large", "closed", "suspended"].contains(&code)
}

/// A scope or key that is plain text, or left out.
fn part<'a>(value: &'a Value, default: &'a str) -> Option<&'a str> {
    if value.is_null() { Some(default) } else { value.as_str() }
}

fn response(step: &Value) -> Option<Response> {
    let response = &step["response"];
    let media_type = response["media_type"].as_str().unwrap_or("text/plain").into();
    Some(Response { media_type, body: response["text"].as_str()?.into() })
}

fn string(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
