//! What `--help` says beside the names of the options.

use clap::CommandFactory;

use super::Arguments;
use crate::failure;

/// The heading of what every command takes.
pub(super) const GLOBAL: &str = "Global options";

/// For commands that answer nothing that could be JSON or coloured.
pub(super) const PLAIN: &str = "{about}\n\n{usage-heading} {usage}{after-help}";
pub(super) const OF_SHELL: &str = "{about}\n\n{usage-heading} {usage}\n\nArguments:\n{positionals}{after-help}";

const NEEDS_FILE: &str = "FILE is the ledger; it comes before the command, or stands in KEYLEDGER_FILE.";

/// Examples of a command, each a command line and what it is for.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "keyledger",
        &[
            ("keyledger payments.kl list", "what waits for a person comes first"),
            ("keyledger payments.kl show user-17 mail welcome", "all of one record"),
            ("KEYLEDGER_FILE=payments.kl keyledger stats", "the file by its variable"),
        ],
    ),
    (
        "stats",
        &[
            ("keyledger payments.kl stats", ""),
            ("keyledger payments.kl stats --json | jq .records.parked", "for an alarm"),
        ],
    ),
    (
        "list",
        &[
            ("keyledger payments.kl list --state parked --older-than 1h", "what has waited too long"),
            ("keyledger payments.kl list --key order-1034", "a key of which no more is known"),
            (
                "keyledger payments.kl list --state failed --newer-than 15m \\\n      --all --json",
                "every page, as JSON",
            ),
        ],
    ),
    (
        "show",
        &[
            ("keyledger payments.kl show user-17 \"POST /v1/charges\" order-1034", ""),
            ("keyledger payments.kl show -- user-17 mail -welcome", "a name that begins with a dash"),
        ],
    ),
    (
        "resolve",
        &[
            (
                "keyledger payments.kl resolve user-17 mail welcome --not-done \\\n      --who ann --note \"not in the log\"",
                "it did not happen",
            ),
            (
                "keyledger payments.kl resolve user-17 mail welcome --completed answer.json \\\n      --who ann --note \"it is in the log\"",
                "it happened",
            ),
            (
                "keyledger payments.kl resolve --all --operation mail --older-than 1h \\\n      --failed no.json --who ann --note \"the outage of Monday\"",
                "many at once",
            ),
        ],
    ),
    ("forget", &[("keyledger payments.kl forget user-17 mail welcome", "")]),
    ("forget-scope", &[("keyledger payments.kl forget-scope user-17 --yes", "")]),
    ("sweep", &[("keyledger payments.kl sweep", ""), ("keyledger payments.kl sweep --batch 100 --yes", "short waits")]),
    ("compact", &[("keyledger payments.kl compact", "")]),
    ("check", &[("keyledger payments.kl check && echo well", "")]),
    ("snapshot", &[("keyledger payments.kl snapshot monday.kl", "")]),
    ("restore", &[("keyledger payments.kl restore monday.kl", "")]),
    ("export", &[("keyledger payments.kl export | jq 'select(.needs_decision)'", "all that waits for a person")]),
    ("watch", &[("keyledger payments.kl watch --every 5s", ""), ("keyledger payments.kl watch --times 1 --json", "")]),
    ("bench", &[("keyledger bench --folder /var/lib/payments", "")]),
    (
        "completions",
        &[("keyledger completions bash \\\n      > ~/.local/share/bash-completion/completions/keyledger", "")],
    ),
    ("man", &[("keyledger man > ~/.local/share/man/man1/keyledger.1", "")]),
    (
        "outbox",
        &[
            ("keyledger payments.kl outbox list --state unknown", "what waits for a person"),
            ("keyledger payments.kl outbox show 17", "one entry, and what can be done about it"),
        ],
    ),
    (
        "outbox list",
        &[
            ("keyledger payments.kl outbox list --state dead", ""),
            ("keyledger payments.kl outbox list --lane bank --older-than 1h --all --json", "every page, as JSON"),
        ],
    ),
    ("outbox show", &[("keyledger payments.kl outbox show 17", "")]),
    (
        "outbox requeue",
        &[
            ("keyledger payments.kl outbox requeue 17", ""),
            ("keyledger payments.kl outbox requeue --all --lane bank", "after an outage"),
        ],
    ),
    (
        "outbox cancel",
        &[
            ("keyledger payments.kl outbox cancel 17", ""),
            ("keyledger payments.kl outbox cancel --all --scope user-17", "all that can still be taken back"),
        ],
    ),
    (
        "outbox resend",
        &[("keyledger payments.kl outbox resend 17 \\\n      --who ann --note \"the bank has no such charge\"", "")],
    ),
    (
        "outbox resume",
        &[
            ("keyledger payments.kl outbox resume --scope user-17", "after its credentials were mended"),
            ("keyledger payments.kl outbox resume 17", ""),
        ],
    ),
    (
        "outbox dismiss",
        &[
            ("keyledger payments.kl outbox dismiss 17 \\\n      --who ann --note \"the host is gone\"", ""),
            (
                "keyledger payments.kl outbox dismiss --all --lane bank \\\n      --who ann --note \"the account is closed\"",
                "many at once",
            ),
        ],
    ),
];

/// The whole command line, each command with its usage and examples.
pub(crate) fn command() -> clap::Command {
    let mut built = Arguments::command();
    built.build();
    let after = format!("{}\n\n{}", examples("keyledger"), failure::exits_in_words());
    let command = Arguments::command().override_usage("keyledger FILE COMMAND [OPTIONS]").after_help(after);
    with_help(command, &built, "")
}

/// `built` is the same command, by which clap knows how it is used.
fn with_help(command: clap::Command, built: &clap::Command, path: &str) -> clap::Command {
    built.get_subcommands().filter(|inner| inner.get_name() != "help").fold(command, |command, inner| {
        let name = format!("{path}{}{}", if path.is_empty() { "" } else { " " }, inner.get_name());
        let usage = inner.clone().render_usage().to_string();
        command.mut_subcommand(inner.get_name(), |command| {
            let command = command.override_usage(with_file(&name, &usage)).after_help(below(&name));
            with_help(command, inner, &name)
        })
    })
}

/// Commands about no ledger.
fn needs_none(name: &str) -> bool {
    ["bench", "completions", "man"].contains(&name)
}

fn with_file(name: &str, usage: &str) -> String {
    let usage = usage.trim_start_matches("Usage: ");
    if name == "bench" {
        usage.to_owned()
    } else if needs_none(name) {
        usage.replace(" [OPTIONS]", "")
    } else {
        usage.replace("keyledger ", "keyledger FILE ")
    }
}

fn below(name: &str) -> String {
    let examples = examples(name);
    if needs_none(name) { examples } else { format!("{examples}\n\n{NEEDS_FILE}") }
}

/// As `--help` shows them, below their heading.
pub(crate) fn examples(name: &str) -> String {
    let found = EXAMPLES.iter().find(|(command, _)| *command == name).map_or(&[][..], |(_, examples)| examples);
    let line = |(command, what): &(&str, &str)| match *what {
        "" => format!("  {command}"),
        what => format!("  # {what}\n  {command}"),
    };
    format!("Examples:\n{}", found.iter().map(line).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(command: &clap::Command, path: &str, all: &mut Vec<String>) {
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            let name = format!("{path}{}", inner.get_name());
            names(inner, &format!("{name} "), all);
            all.push(name);
        }
    }

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_command_has_examples_and_each_is_a_command_line() {
        let mut all = vec!["keyledger".to_owned()];
        names(&Arguments::command(), "", &mut all);
        for name in &all {
            let (_, examples) =
                EXAMPLES.iter().find(|(command, _)| command == name).unwrap_or_else(|| panic!("{name}"));
            for (line, _) in *examples {
                let line = line
                    .split([';', '|', '&', '>'])
                    .next()
                    .unwrap_or_default()
                    .replace("KEYLEDGER_FILE=payments.kl ", "");
                assert!(line.lines().all(|line| line.len() <= 78), "it fits a terminal: {line}");
                let line = line.replace("\\\n", "");
                let words = line.split('"').enumerate().flat_map(|(at, part)| match at % 2 {
                    0 => part.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
                    _ => vec![part.to_owned()],
                });
                command().try_get_matches_from(words).unwrap_or_else(|error| panic!("{line}: {error}"));
            }
        }
        assert_eq!(all.len(), EXAMPLES.len(), "no example is of a command that there is not");
    }
}
