//! What `assay` and `assay help advanced` print: all commands, those that most people need first.

/// What `assay` alone prints: the commands that most people need, in the order of the questions.
pub const FIRST_SCREEN: &str = "\
Test whether storage is fast enough for a database.

Usage: assay COMMAND [OPTIONS]

Start here
  check STORAGE            Is this storage fast enough? About 2 minutes
  check STORAGE --for DB   Is it fast enough for that database?
  profile DB               What does a database demand of its storage?

Measure
  inspect PATH             Show what lies between a path and the hardware
  calibrate STORAGE        Find maximum IOPS and throughput at a latency limit
  run WORKLOAD STORAGE     Run a preset, a file, a fio, Vdbench or ORION job
  soak STORAGE             Run for hours: does performance hold and recover?
  bench LOAD STORAGE|DB    Run a database benchmark: slob, oltp, dss, brokerage
  verify STORAGE           Test whether acknowledged writes survive power cuts

Decide
  compare RUN RUN          Show what changed, and whether it is significant
  predict DB --on RUN      Estimate a database's speed on other storage
  size DB                  List devices, arrays and volumes that suffice

Results
  report [RUN]             Write HTML page, text, JSON or CSV; judge by criteria
  runs                     List, name, import and remove runs

STORAGE is a directory, file or device; DB a report, an address or a run
More: assay help advanced (study, locality, watch, hosts)
      assay help TOPIC (a command, or a word such as p99) · assay list
Exit codes: 0 PASS or done, 1 FAIL, 2 usage, 3 INCONCLUSIVE, 4 refused
";

/// The commands that are not on the first screen.
pub const ADVANCED: &str = "\
Advanced commands
  study FILE STORAGE       Run every combination of the factors in a study file
  locality STORAGE         Find sizes and latencies of caches and tiers
  watch [STORAGE]          Watch CPUs, disks and network under any load
  hosts                    Manage the hosts of a shared measurement

Everywhere
  list                     List or print built-in items
  help TOPIC               Explain a command, a term such as p99, or a finding
  completion SHELL         Print a completion script for a shell
";
