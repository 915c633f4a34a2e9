//! Typed reading of one part of the config: takes values out and collects what does not fit.

use std::cell::RefCell;

use serde_json::{Map, Value};

use crate::error::{KeyFault, KeyProblem};
use crate::key_path::KeyPath;

/// What did not fit, with keys and without lines.
#[derive(Default)]
pub(crate) struct Faults(RefCell<Vec<KeyFault>>);

impl Faults {
    pub(crate) fn add(&self, key: KeyPath, problem: KeyProblem) {
        self.0.borrow_mut().push(KeyFault {
            key,
            line: None,
            problem,
        });
    }

    pub(crate) fn into_vec(self) -> Vec<KeyFault> {
        self.0.into_inner()
    }
}

/// An object and where it stands. A missing object has no members.
pub(crate) struct Section<'v, 'f> {
    members: Option<&'v Map<String, Value>>,
    pub(crate) path: KeyPath,
    faults: &'f Faults,
}

impl<'v, 'f> Section<'v, 'f> {
    pub(crate) fn root(members: &'v Map<String, Value>, faults: &'f Faults) -> Self {
        Self {
            members: Some(members),
            path: KeyPath::default(),
            faults,
        }
    }

    /// Reads `value` as an object; another type is a fault.
    pub(crate) fn of(value: Option<&'v Value>, path: KeyPath, faults: &'f Faults) -> Self {
        let members = match value {
            None => None,
            Some(Value::Object(members)) => Some(members),
            Some(other) => {
                faults.add(path.clone(), wrong_type("an object", other));
                None
            }
        };
        Self {
            members,
            path,
            faults,
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'v Value> {
        self.members?.get(key)
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = (&'v String, &'v Value)> + use<'v> {
        self.members.into_iter().flatten()
    }

    pub(crate) fn section(&self, key: &str) -> Section<'v, 'f> {
        Section::of(self.get(key), self.path.child(key), self.faults)
    }

    /// Every key that is not in `known` becomes a fault.
    pub(crate) fn only(&self, known: &'static [&'static str]) {
        for (key, _) in self.members() {
            if !known.contains(&key.as_str()) {
                self.fault(key, KeyProblem::Unknown { known });
            }
        }
    }

    pub(crate) fn bool(&self, key: &str) -> Option<bool> {
        self.take(key, "true or false", Value::as_bool)
    }

    pub(crate) fn string(&self, key: &str) -> Option<String> {
        self.take(key, "a string", |value| value.as_str().map(str::to_owned))
    }

    pub(crate) fn object(&self, key: &str) -> Option<Map<String, Value>> {
        self.take(key, "an object", |value| value.as_object().cloned())
    }

    /// A whole number of at least 1. `1e5` and `100000.0` count as whole.
    pub(crate) fn count(&self, key: &str) -> Option<u64> {
        // The reader of the file turns what JSON cannot hold into null.
        if matches!(self.get(key), Some(Value::Null)) {
            let problem = KeyProblem::WrongType {
                wanted: "a finite number",
                found: "null, Infinity or NaN",
            };
            self.fault(key, problem);
            return None;
        }
        let number = self.take(key, "a number", |value| value.as_number().cloned())?;
        let whole = number.as_u64().or_else(|| {
            let float = number.as_f64()?;
            // Floats hold whole numbers exactly up to 2^53.
            (float.fract() == 0.0 && (1.0..=9_007_199_254_740_992.0).contains(&float))
                .then_some(float as u64)
        });
        let whole = whole.filter(|&count| count > 0);
        if whole.is_none() {
            let wanted = "a whole number of at least 1";
            self.fault(key, KeyProblem::OutOfRange { wanted });
        }
        whole
    }

    /// A list of strings; items of another type are faults and left out.
    pub(crate) fn strings(&self, key: &str) -> Vec<String> {
        self.list(key)
            .filter_map(|(path, item)| match item {
                Value::String(text) => Some(text.clone()),
                other => {
                    self.faults.add(path, wrong_type("a string", other));
                    None
                }
            })
            .collect()
    }

    /// The items of a list with their paths; another type is a fault.
    pub(crate) fn list(&self, key: &str) -> impl Iterator<Item = (KeyPath, &'v Value)> + use<'v> {
        let path = self.path.child(key);
        let items = match self.get(key) {
            None => None,
            Some(Value::Array(items)) => Some(items),
            Some(other) => {
                self.fault(key, wrong_type("a list", other));
                None
            }
        };
        items
            .into_iter()
            .flatten()
            .enumerate()
            .map(move |(index, item)| (path.child(index.to_string()), item))
    }

    pub(crate) fn fault(&self, key: &str, problem: KeyProblem) {
        self.faults.add(self.path.child(key), problem);
    }

    pub(crate) fn faults(&self) -> &'f Faults {
        self.faults
    }

    fn take<T>(
        &self,
        key: &str,
        wanted: &'static str,
        convert: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.get(key)?;
        let converted = convert(value);
        if converted.is_none() {
            self.fault(key, wrong_type(wanted, value));
        }
        converted
    }
}

pub(crate) fn wrong_type(wanted: &'static str, value: &Value) -> KeyProblem {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    KeyProblem::WrongType { wanted, found }
}
