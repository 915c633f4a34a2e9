//! What becomes of the library of a replaced build.

use super::under_load::alone;
use super::{home, plain, put, replaced, serving};
use openclaw_host::Census;
use openclaw_interface::hosting::NoServices;
use openclaw_interface::model::{AssembleParams, CreateContext, SessionParams};
use openclaw_loader::{Libraries, Plugin, Trust, Vetted};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use support::{Build, Home, build_directory, library};

/// A build directory of `unloadable`, and loads of it that are counted.
struct Bench {
    home: tempfile::TempDir,
    libraries: Libraries,
}

impl Bench {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let _directory = build_directory("unloadable", home.path());
        let libraries = Libraries::below(&home.path().join("private"));
        Self { home, libraries }
    }

    fn load(&self, build: &Build) -> Plugin {
        let directory = self.home.path().join("unloadable");
        build.put("unloadable", &directory);
        Vetted::read(&directory, &Value::Null, &Trust::default())
            .and_then(|vetted| vetted.load(&self.libraries))
            .unwrap()
    }

    #[track_caller]
    fn counts(&self, live: u64, leaked: u64, unloaded: u64) {
        let Census {
            retired: 0,
            mapped_bytes,
            ..
        } = self.libraries.census()
        else {
            panic!("{:?}", self.libraries.census())
        };
        let census = self.libraries.census();
        assert_eq!(
            (census.live, census.leaked, census.unloaded),
            (live, leaked, unloaded)
        );
        assert_eq!(mapped_bytes, (live + leaked) * size());
    }
}

fn size() -> u64 {
    fs::metadata(library("unloadable")).unwrap().len()
}

fn context(settings: &Value) -> CreateContext {
    CreateContext {
        settings: settings.as_object().unwrap().clone(),
        ..CreateContext::default()
    }
}

fn use_once(plugin: &Plugin, settings: &Value) {
    let mut engine = plugin
        .factory
        .create(&context(settings), NoServices)
        .unwrap();
    engine.bootstrap(&SessionParams::default()).unwrap();
    engine
        .assemble(&[], Some(9), &AssembleParams::default())
        .unwrap();
    engine.dispose().unwrap();
}

/// Whether a library of this name is mapped from below `home`.
fn is_mapped(home: &Path) -> bool {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.contains(home.to_str().unwrap())
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn library_is_unmapped_when_its_last_instance_is_gone() {
    let bench = Bench::new();
    let plugin = bench.load(&Build::named("one"));
    let mut engine = plugin
        .factory
        .create(&context(&plain()), NoServices)
        .unwrap();
    let factory = plugin.factory.clone();
    drop(plugin);
    bench.counts(1, 0, 0);
    drop(factory);
    bench.counts(1, 0, 0);
    let answer = engine
        .assemble(&[], Some(9), &AssembleParams::default())
        .unwrap();
    assert!(is_mapped(bench.home.path()));
    drop(engine);
    assert!(!is_mapped(bench.home.path()));
    bench.counts(0, 0, 1);
    assert_eq!(
        answer.system_prompt_addition.as_deref(),
        Some("build=one instance=0")
    );
}

#[test]
fn library_that_does_not_promise_to_be_unloadable_stays_mapped() {
    let bench = Bench::new();
    let plugin = bench.load(&Build::named("one").not_unloadable());
    assert!(plugin.is_kept_mapped());
    use_once(&plugin, &plain());
    drop(plugin);
    bench.counts(0, 1, 0);
}

/// A failure leaves nobody knows what behind.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn library_of_a_failed_engine_stays_mapped() {
    let bench = Bench::new();
    drop(bench.load(&Build::named("one")));
    let failed = bench.load(&Build::named("two"));
    failed.keep_mapped();
    drop(failed);
    bench.counts(0, 1, 1);
}

/// Case H-2: the system keeps a library for the sake of a destructor or thread of it, and nothing crashes when they end.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn thread_local_or_thread_of_the_engine_keeps_its_library() {
    let bench = Bench::new();
    for (index, hold) in ["thread-local", "thread"].into_iter().enumerate() {
        let plugin = bench.load(&Build::named(hold));
        let settings = json!({ "hold": hold });
        std::thread::scope(|scope| {
            scope.spawn(|| {
                use_once(&plugin, &settings);
                let leaked = bench.libraries.census().leaked;
                drop(plugin);
                assert_eq!(bench.libraries.census().leaked, leaked + 1, "{hold}");
                // The thread's own values are dropped now.
            });
        });
        bench.counts(0, index as u64 + 1, 0);
    }
    let plugin = bench.load(&Build::named("after"));
    use_once(&plugin, &plain());
    drop(plugin);
    bench.counts(0, 2, 1);
}

/// The checker of layouts remembers nothing of a library that is gone.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn layouts_are_checked_after_an_unload() {
    let bench = Bench::new();
    for round in 0..20 {
        let plugin = bench.load(&Build::named(&format!("build-{round}")));
        let other = support::load(&build_directory("unruly", bench.home.path())).unwrap();
        use_once(&plugin, &plain());
        other
            .factory
            .create(&context(&plain()), NoServices)
            .unwrap();
    }
    bench.counts(0, 0, 20);
}

/// Case A-5: any number of files of one root-module type at once, each with its own statics, and one file twice.
#[test]
fn a_hundred_libraries_of_one_type_live_side_by_side() {
    let bench = Bench::new();
    let mut plugins: Vec<Plugin> = (0..99)
        .map(|number| bench.load(&Build::named(&format!("build-{number}"))))
        .collect();
    plugins.push(bench.load(&Build::named("build-98")));
    for round in 0..2 {
        for (number, plugin) in plugins.iter().enumerate() {
            let mut engine = plugin
                .factory
                .create(&context(&plain()), NoServices)
                .unwrap();
            let answer = engine
                .assemble(&[], Some(9), &AssembleParams::default())
                .unwrap();
            let expected = format!("build=build-{} instance={round}", number.min(98));
            assert_eq!(answer.system_prompt_addition, Some(expected));
        }
    }
    assert_eq!(bench.libraries.census().live, 100);
}

/// Two copies of the window engine, each with its own SQLite, beside the host's: turns of both are stored.
#[test]
fn builds_that_bring_their_own_sqlite_do_not_clash() {
    let home = Home::new().with_engine("window", Value::Null);
    let host = home.host();
    for round in 0..4 {
        let mut model = support::ScriptedModel::done();
        let record = support::turn(&host, "hello", None, &mut model)
            .unwrap()
            .record;
        assert_eq!(record.substitution, None);
        assert_eq!(record.commit, openclaw_host::CommitOutcome::Committed);
        assert_eq!(record.served.generation, Some(round + 1));
        Build::of("window")
            .variant(round as u32)
            .put("window", &home.plugin_dir("window"));
        host.reload("window").unwrap();
    }
    // The last build has what the others stored.
    let stored = host.recommit("agent:main:main").unwrap();
    assert_eq!((stored.duplicates, stored.committed), (4, 0));
}

/// Resident memory of this process, in kB.
fn resident_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Memory that a reload costs, in kB, once everything has its size.
fn growth_kb(build: impl Fn(u64) -> Build, reloads: u64) -> u64 {
    let home = home(plain()).reloading(std::time::Duration::ZERO, 10_000);
    let host = home.host();
    let round = |number| {
        put(&home, &build(number));
        replaced(&host);
        serving(&host);
    };
    (0..10).for_each(round);
    let before = resident_kb();
    (10..10 + reloads).for_each(round);
    resident_kb().saturating_sub(before) / reloads
}

/// Replaced libraries cost their size while they stay mapped, and next to nothing when they go.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn memory_grows_by_little_with_each_reload() {
    let Some(figures) = alone("reload::unload::memory_grows_by_little_with_each_reload") else {
        let unloaded = growth_kb(|number| Build::named(&format!("build-{number}")), 100);
        let leaked = growth_kb(
            |number| Build::named(&format!("build-{number}")).not_unloadable(),
            50,
        );
        println!("growth per reload: {unloaded} kB unloaded, {leaked} kB leaked");
        assert!(unloaded < 200, "{unloaded} kB a reload when unloaded");
        assert!(leaked < 4096, "{leaked} kB a reload when leaked");
        return;
    };
    assert!(figures.contains("growth per reload"), "{figures}");
}
