//! Reads what can be read of a damaged database, row by row.

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Row, params_from_iter};
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// A damaged database that can be opened.
pub(super) struct Old {
    connection: Connection,
}

impl Old {
    /// Opens a private copy; `None` when not even its list of tables can be read.
    pub(super) fn open(copy: &Path) -> Option<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(copy, flags).ok()?;
        // Reads a file that is shorter than it says, and goes on behind a table that is gone.
        connection
            .execute_batch("PRAGMA writable_schema = 1")
            .ok()?;
        let tables: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
            .ok()?;
        (tables > 0).then_some(Self { connection })
    }

    /// Hands every row of a table that can be read to `each`; how many cannot, as far as is known. Where pages are
    /// broken, the rows behind them are looked for in steps that grow, so a few at the border may be lost too.
    pub(super) fn each(
        &self,
        table: &str,
        columns: &str,
        mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> usize {
        const LAST: i64 = 1 << 48;
        let sql = format!(
            "SELECT {columns}, rowid FROM {table} NOT INDEXED WHERE rowid > ?1 ORDER BY rowid"
        );
        let Ok(mut statement) = self.connection.prepare(&sql) else {
            return 0;
        };
        let place = statement.column_count() - 1;
        let (mut after, mut step, mut unreadable) = (0, 1, 0);
        while after < LAST {
            let Ok(mut rows) = statement.query([after]) else {
                break;
            };
            loop {
                match rows.next() {
                    Ok(Some(row)) => {
                        let Ok(rowid) = row.get(place) else { break };
                        (after, step) = (rowid, 1);
                        unreadable += usize::from(each(row).is_err());
                    }
                    Ok(None) => return unreadable,
                    Err(_) => break,
                }
            }
            after += step;
            step *= 2;
        }
        unreadable
    }

    /// Copies the rows of a table whose columns both have and which the new one takes; how many.
    pub(super) fn copy_rows(&self, new: &Connection, table: &str) -> usize {
        let both = |connection: &Connection| -> rusqlite::Result<Vec<String>> {
            let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
            statement.query_map([table], |row| row.get(0))?.collect()
        };
        let (Ok(old), Ok(mut columns)) = (both(&self.connection), both(new)) else {
            return 0;
        };
        columns.retain(|column| old.contains(column));
        if columns.is_empty() {
            return 0;
        }
        let names = columns.join(", ");
        let places = vec!["?"; columns.len()].join(", ");
        let sql = format!("INSERT INTO {table} ({names}) VALUES ({places})");
        let mut copied = 0;
        self.each(table, &names, |row| {
            let values: Vec<Value> = (0..columns.len())
                .map(|column| row.get(column))
                .collect::<Result<_, _>>()?;
            copied += new
                .prepare_cached(&sql)?
                .execute(params_from_iter(values))?;
            Ok(())
        });
        copied
    }
}

/// Gives a copy whose first bytes are broken the first bytes of a sound store; what they say of its size is put right.
pub(super) fn patch_header(copy: &Path, sound: &Path) -> io::Result<()> {
    const HEADER_BYTES: usize = 100;
    const PAGE_BYTES: u64 = 4096;
    let pages = u32::try_from(fs::metadata(copy)?.len() / PAGE_BYTES).unwrap_or(u32::MAX);
    let mut header = [0; HEADER_BYTES];
    fs::File::open(sound)?.read_exact(&mut header)?;
    header[28..32].copy_from_slice(&pages.to_be_bytes());
    // No list of free pages.
    header[32..40].fill(0);
    let mut file = OpenOptions::new().write(true).open(copy)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&header)
}
