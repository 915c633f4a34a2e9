//! Which build serves.

use super::{ENGINE, home, plain, put, replaced, serving};
use openclaw_host::{
    Model, ModelError, ModelInfo, ModelReply, ModelRequest, Reloaded, Scope, read_health,
};
use std::fs;
use std::time::Duration;
use support::{Build, ScriptedModel, library, say, turn};

/// Case H-1: by rename, written in place, and through a link that is switched.
#[test]
fn every_reload_serves_the_new_build() {
    let home = home(plain());
    let host = home.host();
    assert_eq!(serving(&host), ("first".into(), 1));
    for round in 2..6 {
        let name = format!("build-{round}");
        put(&home, &Build::named(&name));
        assert_eq!(replaced(&host), round);
        assert_eq!(serving(&host), (name, round));
    }
    let file = home
        .plugin_dir(ENGINE)
        .join(library(ENGINE).file_name().unwrap());
    fs::write(&file, Build::named("in-place").bytes()).unwrap();
    assert_eq!(replaced(&host), 6);
    assert_eq!(serving(&host).0, "in-place");
}

/// Case H-1: a link to another build directory.
#[cfg(unix)]
#[test]
fn switched_link_is_followed() {
    let home = home(plain());
    let directory = home.plugin_dir(ENGINE);
    let (first, second) = (home.path().join("build-1"), home.path().join("build-2"));
    fs::rename(&directory, &first).unwrap();
    std::os::unix::fs::symlink(&first, &directory).unwrap();
    let host = home.host();
    assert_eq!(serving(&host).0, "first");
    fs::create_dir(&second).unwrap();
    for file in fs::read_dir(&first).unwrap().flatten() {
        fs::copy(file.path(), second.join(file.file_name())).unwrap();
    }
    Build::named("second").put(ENGINE, &second);
    fs::remove_file(&directory).unwrap();
    std::os::unix::fs::symlink(&second, &directory).unwrap();
    replaced(&host);
    assert_eq!(serving(&host).0, "second");
}

/// Case H-11: what is in the file counts, not when it was written.
#[test]
fn build_with_the_same_size_and_time_is_noticed_and_the_same_build_is_not() {
    let home = home(plain());
    let host = home.host();
    serving(&host);
    let file = home
        .plugin_dir(ENGINE)
        .join(library(ENGINE).file_name().unwrap());
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    for name in ["second", "third"] {
        fs::write(&file, Build::named(name).bytes()).unwrap();
        fs::File::options()
            .write(true)
            .open(&file)
            .and_then(|file| file.set_modified(time))
            .unwrap();
        replaced(&host);
        assert_eq!(serving(&host).0, name);
    }
    put(&home, &Build::named("third"));
    let opened = host.generations();
    assert_eq!(
        host.reload(ENGINE).unwrap(),
        Reloaded::Unchanged { generation: 3 }
    );
    assert_eq!(host.generations(), opened, "nothing was opened");
}

/// A reload is the first load as well.
#[test]
fn engine_may_be_reloaded_before_its_first_turn() {
    let home = home(plain());
    let host = home.host();
    assert_eq!(replaced(&host), 1);
    assert_eq!(host.generations().live, 1);
    assert_eq!(serving(&host).1, 1);
}

/// Calls the host while the turn runs.
struct Meanwhile<F>(ScriptedModel, Option<F>);

impl<F: FnOnce() + Send> Model for Meanwhile<F> {
    fn info(&self) -> &ModelInfo {
        self.0.info()
    }

    fn respond(
        &mut self,
        request: ModelRequest<'_>,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, ModelError> {
        if let Some(act) = self.1.take() {
            act();
        }
        self.0.respond(request, on_text)
    }
}

/// Cases H-7, H-9 and H-10: a turn ends on the build it started with, and the next one in its session has the new one.
#[test]
fn turn_in_flight_ends_on_the_old_build() {
    let home = home(plain());
    let host = home.host();
    serving(&host);
    put(&home, &Build::named("second"));
    let act = || {
        assert_eq!(replaced(&host), 2);
        let census = host.generations();
        assert_eq!((census.live, census.retired), (1, 1));
    };
    let mut model = Meanwhile(ScriptedModel::new(100_000, [Ok(say("late"))]), Some(act));
    let record = turn(&host, "hello", None, &mut model).unwrap().record;
    assert_eq!(record.served.generation, Some(1));
    assert_eq!(record.commit, openclaw_host::CommitOutcome::Committed);
    assert_eq!(
        host.generations().retired,
        0,
        "its library went with the turn"
    );
    assert_eq!(serving(&host), ("second".into(), 2));
}

/// Case H-5: an instance of the new build is not made beside one of the old; a turn that cannot wait uses the old one.
#[test]
fn builds_have_no_instances_at_the_same_time() {
    let home = home(plain()).reloading(Duration::ZERO, 32);
    let host = home.host();
    serving(&host);
    put(&home, &Build::named("second"));
    let mut model = Meanwhile(
        ScriptedModel::done(),
        Some(|| {
            replaced(&host);
            let mut other = ScriptedModel::done();
            let record = support::turn_in(&host, "agent:main:other", "hello", None, &mut other)
                .unwrap()
                .record;
            assert_eq!(record.served.generation, Some(1));
        }),
    );
    turn(&host, "hello", None, &mut model).unwrap();
    assert_eq!(serving(&host).1, 2);
}

/// The quarantine of a build ends with the build, and only with it.
#[test]
fn new_build_starts_without_the_quarantine_of_the_old() {
    let home = home(plain());
    put(&home, &Build::named("fails-assemble"));
    let host = home.host();
    let legacy = |host: &openclaw_host::Host| {
        let outcome = turn(host, "hello", None, &mut ScriptedModel::done()).unwrap();
        let substitution = outcome.record.substitution.unwrap();
        (outcome.record.served.engine_id, substitution.scope)
    };
    let set_aside = ("legacy".to_owned(), Scope::Quarantined);
    assert_eq!(legacy(&host), set_aside);
    assert_eq!(
        host.reload(ENGINE).unwrap(),
        Reloaded::Unchanged { generation: 1 }
    );
    assert_eq!(legacy(&host), set_aside, "the same build again is no cure");
    let health = || read_health(&openclaw_host::HostSettings::health_dir(&home.native_dir()));
    assert_eq!(health()[0].record.generation, Some(1));
    put(&home, &Build::named("mended"));
    replaced(&host);
    assert_eq!(health(), []);
    assert_eq!(serving(&host), ("mended".into(), 2));
    let census = host.generations();
    assert_eq!(
        (census.leaked, census.unloaded),
        (1, 0),
        "what failed stays mapped"
    );
}

/// The same for what could not be loaded at all.
#[test]
fn engine_that_could_not_be_loaded_is_loaded_by_a_reload() {
    let home = home(plain());
    let file = home
        .plugin_dir(ENGINE)
        .join(library(ENGINE).file_name().unwrap());
    fs::write(&file, "text").unwrap();
    let host = home.host();
    let outcome = turn(&host, "hello", None, &mut ScriptedModel::done()).unwrap();
    assert_eq!(outcome.record.substitution.unwrap().operation, "load");
    put(&home, &Build::named("good"));
    replaced(&host);
    assert_eq!(serving(&host), ("good".into(), 1));
}
