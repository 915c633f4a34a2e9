//! A compaction's own work grows with the session and not faster, counted in units of text and requests.

use super::*;

/// Units sent to the summariser, units counted, and messages weighed.
fn work(turns: usize) -> [usize; 3] {
    let talk = Talk::default().turns(turns);
    let weighed = Cell::new(0);
    let rows = talk.rows();
    let input = CompactionInput::of_path(&rows, &|_, json| {
        weighed.set(weighed.get() + 1);
        estimate(json)
    });
    assert_eq!(input.tokens(), talk.input().tokens());
    let world = World::default();
    let mut summariser = Scripted::good();
    summariser.window_tokens = 16_000;
    done(world.compact(&talk, &mut summariser, &keeping(1_000), &REQUEST));
    let sent = summariser
        .asked
        .iter()
        .map(|(messages, prompt)| prompt.len() + messages.iter().map(String::len).sum::<usize>());
    [sent.sum(), world.counted_units.get(), weighed.get()]
}

#[test]
fn twice_the_messages_cost_at_most_twice_the_work() {
    let works = [500, 1_000, 2_000].map(work);
    for pair in works.windows(2) {
        for (less, more) in pair[0].iter().zip(pair[1]) {
            assert!(more <= less * 21 / 10, "{works:?}");
        }
    }
    assert_eq!(works[2][2], 4_000, "each message is weighed once");
}
