//! QEMU's programs as witnesses.

use std::path::Path;
use std::process::{Command, Output};

use qcow2::CheckReport;

/// Runs a program of QEMU's; what it prints where it ends with one of these statuses.
pub fn qemu(program: &str, arguments: &[&str], accepted: &[i32]) -> String {
    let output: Output = Command::new(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{program} (package qemu-utils) does not start: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let status = output.status.code();
    assert!(
        status.is_some_and(|status| accepted.contains(&status)),
        "{program} {arguments:?} ended with {status:?}: {}{}",
        text(&output.stderr),
        text(&output.stdout)
    );
    text(&output.stdout)
}

/// `qemu-img` with these arguments succeeds; what it prints.
pub fn image(arguments: &[&str]) -> String {
    qemu("qemu-img", arguments, &[0])
}

/// The number after `"key":` of a flat part of JSON; 0 where there is none, as QEMU leaves zeros out.
pub fn number(json: &str, key: &str) -> u64 {
    let Some((_, rest)) = json.split_once(&format!("\"{key}\":")) else { return 0 };
    rest.trim_start().chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
}

/// What `qemu-img check` says, in our words; it tells no findings and no own clusters.
pub fn qemu_check(path: &Path) -> CheckReport {
    let json = qemu("qemu-img", &["check", "--output=json", text(path)], &[0, 2, 3]);
    CheckReport {
        corruptions: number(&json, "corruptions"),
        leaks: number(&json, "leaks"),
        total_clusters: number(&json, "total-clusters"),
        allocated_clusters: number(&json, "allocated-clusters"),
        own_clusters: 0,
        image_end_offset: number(&json, "image-end-offset"),
        findings: Vec::new(),
    }
}

/// A report without what QEMU does not tell.
pub fn comparable(report: CheckReport) -> CheckReport {
    CheckReport { findings: Vec::new(), own_clusters: 0, ..report }
}

/// A path as text.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("paths of tests are text")
}

/// The number that a variable of the environment holds, else `usual`.
pub fn asked(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().map_or(usual, |value| value.parse().expect("a number"))
}
