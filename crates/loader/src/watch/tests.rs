use super::*;
use std::fs;
use std::sync::mpsc::Receiver;

/// Long beside what the system needs to tell, short beside a test.
const QUIET: Duration = Duration::from_millis(150);
const LONG: Duration = Duration::from_secs(20);

struct Bench {
    home: tempfile::TempDir,
    reports: Receiver<(PathBuf, Option<String>)>,
    _watch: Watch,
}

/// A home, what `prepare` makes in it, and a watch of `name`; each report carries what `read` found at that moment.
fn bench(name: &str, read: &'static str, prepare: impl FnOnce(&Path)) -> Bench {
    let home = tempfile::tempdir().unwrap();
    prepare(home.path());
    let path = home.path().join(name);
    let (sender, reports) = channel();
    let watch = Watch::start(vec![path], QUIET, move |path| {
        let content = fs::read_to_string(path.join(read)).ok();
        let _ = sender.send((path.to_owned(), content));
    });
    Bench {
        home,
        reports,
        _watch: watch.unwrap(),
    }
}

impl Bench {
    fn write(&self, name: &str, text: &str) {
        fs::write(self.home.path().join(name), text).unwrap();
    }

    /// Content of the next report.
    fn next(&self) -> Option<String> {
        self.reports
            .recv_timeout(LONG)
            .expect("a change is reported")
            .1
    }

    /// Reports until `text` was read: a system may tell of one change in two parts.
    fn until(&self, text: &str) {
        while self.next().as_deref() != Some(text) {}
    }
}

fn library(home: &Path) {
    fs::create_dir(home.join("build")).unwrap();
    fs::write(home.join("build/lib"), "1").unwrap();
}

/// Case H-3: in place, by rename, deleted and made again.
#[test]
fn every_way_to_replace_a_file_is_reported() {
    let bench = bench("build", "lib", library);
    bench.write("build/lib", "2");
    bench.until("2");
    bench.write("new", "3");
    let path = bench.home.path().join("build/lib");
    fs::rename(bench.home.path().join("new"), &path).unwrap();
    bench.until("3");
    fs::remove_file(&path).unwrap();
    bench.write("build/lib", "4");
    bench.until("4");
}

/// Case H-3: the directory itself is another one afterwards.
#[test]
fn directory_that_was_replaced_stays_watched() {
    let bench = bench("build", "lib", library);
    for round in 2..5 {
        let home = bench.home.path();
        let fresh = home.join("fresh");
        fs::create_dir(&fresh).unwrap();
        fs::write(fresh.join("lib"), round.to_string()).unwrap();
        fs::remove_dir_all(home.join("build")).unwrap();
        fs::rename(&fresh, home.join("build")).unwrap();
        bench.until(&round.to_string());
    }
    bench.write("build/lib", "in the last one");
    bench.until("in the last one");
}

/// Case H-3.
#[test]
fn file_written_in_pieces_is_reported_when_it_rests() {
    use std::io::Write;
    let bench = bench("build", "lib", library);
    let mut file = fs::File::create(bench.home.path().join("build/lib")).unwrap();
    for _ in 0..10 {
        file.write_all(b"part ").unwrap();
        // The pause is what is tested: shorter than the quiet time.
        std::thread::sleep(QUIET / 5);
    }
    drop(file);
    assert_eq!(bench.next().as_deref(), Some("part ".repeat(10).as_str()));
}

/// Case H-12.
#[cfg(unix)]
#[test]
fn change_behind_a_link_and_of_the_link_are_reported() {
    use std::os::unix::fs::symlink;
    let bench = bench("current", "lib", |home| {
        for build in ["build-1", "build-2"] {
            fs::create_dir(home.join(build)).unwrap();
            fs::write(home.join(build).join("lib"), build).unwrap();
        }
        symlink("build-1", home.join("current")).unwrap();
    });
    bench.write("build-1/lib", "built again");
    bench.until("built again");
    let link = bench.home.path().join("current");
    symlink("build-2", bench.home.path().join("next")).unwrap();
    fs::rename(bench.home.path().join("next"), &link).unwrap();
    bench.until("build-2");
    bench.write("build-2/lib", "behind the new link");
    bench.until("behind the new link");
}

#[test]
fn path_that_is_made_later_is_reported() {
    let bench = bench("later/build", "lib", |_| {});
    fs::create_dir_all(bench.home.path().join("later/build")).unwrap();
    bench.write("later/build/lib", "1");
    bench.until("1");
}

/// Reading the file that is reported must not be reported again, and neighbours are of no interest.
#[test]
fn reading_and_neighbours_are_no_change() {
    let bench = bench("build", "lib", library);
    for _ in 0..5 {
        fs::read(bench.home.path().join("build/lib")).unwrap();
    }
    bench.write("neighbour", "x");
    bench.write("build/lib", "2");
    assert_eq!(bench.next().as_deref(), Some("2"));
    assert!(bench.reports.recv_timeout(QUIET * 3).is_err());
}
