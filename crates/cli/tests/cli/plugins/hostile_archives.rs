//! Archives made to do harm. Each is refused as a whole and leaves nothing.

use super::copies::{ACCEPTED, tgz};
use super::window;
use crate::home::Home;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::{self, File};
use std::io::Write;
use tar::{EntryType, Header};

/// A `.tgz` with a good plugin and one more entry, whose name is written as it is.
fn with_entry(home: &Home, name: &str, kind: EntryType) {
    let file = File::create(home.path("bad.tgz")).expect("a file can be made");
    let mut builder = tar::Builder::new(GzEncoder::new(file, Compression::fast()));
    builder
        .append_dir_all("p", window(home))
        .expect("a directory can be archived");
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(1);
    if matches!(kind, EntryType::Symlink | EntryType::Link) {
        header.set_size(0);
        header
            .set_link_name("openclaw.plugin.json")
            .expect("a name");
    }
    header.set_cksum();
    let content: &[u8] = if header.size().expect("a size") == 0 {
        b""
    } else {
        b"x"
    };
    builder.append(&header, content).expect("an entry");
    let gz = builder.into_inner().expect("the archive ends");
    gz.finish().expect("the stream ends");
}

fn is_refused(home: &Home, file: &str, said: &str) {
    let ran = home.run(&format!("{ACCEPTED} {file}")).fails();
    ran.shows(&[said, "nothing was installed"]);
    assert!(!home.state_dir().exists());
    assert!(!home.path("evil").exists());
}

#[test]
fn entries_that_lead_out_or_are_no_files_are_refused() {
    for (name, kind, said) in [
        ("../evil", EntryType::Regular, "leads out"),
        ("p/../../evil", EntryType::Regular, "leads out"),
        ("/evil", EntryType::Regular, "is absolute"),
        ("p\\evil", EntryType::Regular, "backslash"),
        ("p/l", EntryType::Symlink, "is a link"),
        ("p/l", EntryType::Link, "is a link"),
        ("p/d", EntryType::Char, "is a device"),
        ("p/d", EntryType::Block, "is a device"),
        ("p/f", EntryType::Fifo, "is a pipe"),
        ("p/OPENCLAW.plugin.json", EntryType::Regular, "twice"),
        ("q/a", EntryType::Regular, "not exactly one directory: p, q"),
    ] {
        let home = Home::new();
        with_entry(&home, name, kind);
        is_refused(&home, "bad.tgz", said);
    }
}

#[test]
fn archives_that_end_early_or_are_none_are_refused() {
    let home = Home::new();
    tgz(&window(&home), "p", &home.path("whole.tgz"));
    let whole = fs::read(home.path("whole.tgz")).expect("it was made");
    for length in [0, 5, whole.len() / 2, whole.len() - 4] {
        fs::write(home.path("cut.tgz"), &whole[..length]).expect("a file can be written");
        is_refused(&home, "cut.tgz", "cut.tgz cannot be installed");
    }
    for name in ["fake.tgz", "fake.zip", "fake.tar"] {
        fs::write(home.path(name), "this is no archive").expect("a file can be written");
        is_refused(&home, name, "cannot be installed");
    }
}

#[test]
fn file_that_unpacks_to_too_much_is_refused() {
    let home = Home::new();
    let file = File::create(home.path("bomb.tgz")).expect("a file can be made");
    let mut gz = GzEncoder::new(file, Compression::fast());
    let mut header = Header::new_gnu();
    header.set_path("p/big").expect("a name");
    header.set_mode(0o644);
    header.set_size((256 << 20) + 1);
    header.set_cksum();
    gz.write_all(header.as_bytes()).expect("it is written");
    for _ in 0..257 {
        gz.write_all(&vec![0; 1 << 20]).expect("it is written");
    }
    gz.finish().expect("the stream ends");
    is_refused(&home, "bomb.tgz", "larger than");
}
