//! Landlock: what this thread reaches from now on, and all that it starts.

use std::collections::HashMap;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, NetPort, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

/// What is left to it.
#[derive(Default)]
pub struct Rules {
    pub readable: Vec<String>,
    pub writable: Vec<String>,
    pub ports: Vec<u16>,
}

/// Why it was not kept to them.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Refused(#[from] RulesetError),
    #[error("{0}")]
    Failed(#[from] std::io::Error),
}

/// The first version that keeps signals and abstract sockets apart, so that nothing less is taken.
const ABI_WANTED: ABI = ABI::V6;

/// Keeps this thread to the rules, where the kernel keeps it to all of them.
pub fn restrict(rules: &Rules) -> Result<(), RulesetError> {
    let all = AccessFs::from_all(ABI_WANTED);
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(all)?
        .handle_access(AccessNet::ConnectTcp)?
        .scope(Scope::from_all(ABI_WANTED))?
        .create()?
        .add_rules(path_beneath_rules(&rules.readable, AccessFs::from_read(ABI_WANTED)))?
        .add_rules(path_beneath_rules(&rules.writable, all))?
        .add_rules(
            rules.ports.iter().map(|port| Ok::<_, RulesetError>(NetPort::new(*port, AccessNet::ConnectTcp))),
        )?;
    ruleset.restrict_self().map(|_| ())
}

/// Becomes the program, in that folder; gives why not.
pub fn become_program(
    rules: &Rules,
    program: &str,
    arguments: &[String],
    folder: &str,
    env: HashMap<String, String>,
) -> Error {
    if let Err(error) = restrict(rules) {
        return error.into();
    }
    // User 0 gets none back by starting a program, since Landlock has set no_new_privs (capabilities(7)).
    let none = CapabilitySet::empty();
    if let Err(error) =
        set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
    {
        return std::io::Error::from(error).into();
    }
    Command::new(program).args(arguments).current_dir(folder).env_clear().envs(env).exec().into()
}
