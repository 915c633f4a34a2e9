use openclaw_interface::export_engine;

struct NoEngine;

export_engine!(NoEngine);

fn main() {}
