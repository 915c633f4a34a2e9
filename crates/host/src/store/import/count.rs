//! Counts tokens of rows on other threads while this one reads and writes.

use crate::store::entries::tokens_of;
use openclaw_transcript::Row;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::mpsc;
use std::thread;

/// Raw text one thread counts at a time.
const BATCH_BYTES: usize = 256 * 1024;
/// Raw text read ahead of what is stored. A longer row goes alone.
const AHEAD_BYTES: usize = 4 * 1024 * 1024;
const MAX_THREADS: usize = 8;

/// Rows in order, each with the tokens of its message.
#[derive(Default)]
pub(super) struct Counted {
    pub(super) rows: Vec<(Row, u64)>,
    pub(super) bytes: usize,
}

struct Job {
    rows: Vec<Row>,
    bytes: usize,
    done: mpsc::Sender<Counted>,
}

impl Job {
    fn run(self) {
        let rows = self.rows.into_iter();
        let counted = Counted {
            rows: rows
                .map(|row| {
                    let tokens = tokens_of(&row);
                    (row, tokens)
                })
                .collect(),
            bytes: self.bytes,
        };
        // Nobody waits for it any more after an error.
        let _ = self.done.send(counted);
    }
}

/// Hands every row that `next` gives to `take`, in order, with its tokens. Ends with the first error of either.
pub(super) fn count_each<E>(
    mut next: impl FnMut() -> Result<Option<Row>, E>,
    mut take: impl FnMut(Counted) -> Result<(), E>,
) -> Result<(), E> {
    let (work, jobs) = mpsc::channel::<Job>();
    let jobs = Mutex::new(jobs);
    let threads = thread::available_parallelism().map_or(1, |count| count.get().min(MAX_THREADS));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let job = jobs.lock().recv();
                    let Ok(job) = job else { break };
                    job.run();
                }
            });
        }
        let mut pending: VecDeque<(usize, mpsc::Receiver<Counted>)> = VecDeque::new();
        let mut ahead_bytes = 0;
        // Moved in here, so that it is dropped on every way out and the threads end.
        let work = work;
        loop {
            let (rows, bytes) = batch(&mut next)?;
            let is_last = rows.is_empty();
            if !is_last {
                let (done, result) = mpsc::channel();
                ahead_bytes += bytes;
                pending.push_back((bytes, result));
                work.send(Job { rows, bytes, done })
                    .expect("the receiver outlives the scope");
            }
            while (is_last || ahead_bytes > AHEAD_BYTES)
                && let Some((bytes, result)) = pending.pop_front()
            {
                ahead_bytes -= bytes;
                take(result.recv().expect("a job that was sent is run"))?;
            }
            if is_last {
                return Ok(());
            }
        }
    })
}

fn batch<E>(next: &mut impl FnMut() -> Result<Option<Row>, E>) -> Result<(Vec<Row>, usize), E> {
    let (mut rows, mut bytes) = (Vec::new(), 0);
    while bytes < BATCH_BYTES
        && let Some(row) = next()?
    {
        bytes += row.raw().len();
        rows.push(row);
    }
    Ok((rows, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use openclaw_transcript::parse_row;

    fn row(number: usize) -> Row {
        let text = "word ".repeat(number % 400);
        let raw = format!(
            r#"{{"type":"message","id":"{number}","message":{{"role":"user","content":"{text}"}}}}"#
        );
        parse_row(number, &raw).unwrap()
    }

    #[test]
    fn rows_come_in_order_with_the_tokens_of_each() {
        let (mut made, mut taken) = (0, 0);
        let next = || {
            made += 1;
            Ok::<_, ()>((made <= 6_000).then(|| row(made)))
        };
        let counted = count_each(next, |counted| {
            for (found, tokens) in counted.rows {
                taken += 1;
                let expected = row(taken);
                assert_eq!((tokens, &found), (tokens_of(&expected), &expected));
            }
            Ok(())
        });
        assert_eq!((counted, taken), (Ok(()), 6_000));
    }

    #[test]
    fn error_on_either_side_ends_it() {
        let mut made = 0;
        let mut next = || {
            made += 1;
            if made == 3_000 {
                Err("source")
            } else {
                Ok(Some(row(made)))
            }
        };
        assert_eq!(count_each(&mut next, |_| Ok(())), Err("source"));
        assert_eq!(
            count_each(|| Ok(Some(row(1))), |_| Err("sink")),
            Err("sink")
        );
    }
}
