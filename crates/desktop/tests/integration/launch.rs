//! Launching, listing and ending applications on a private display, with real programs.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use desktop::{Desktop, LaunchOptions, Window, WindowId};
use test_support::{Folder, TestDisplay, wait_for};

fn managed() -> (TestDisplay, Arc<Desktop>) {
    let display = TestDisplay::managed().unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    wait_for(|| desktop.x11_window_manager().unwrap()).expect("openbox runs");
    (display, desktop)
}

/// A window of the person's, active and in front.
fn prior(display: &mut TestDisplay, desktop: &Desktop) -> Window {
    let pid = display.run("xterm", &["-T", "prior", "-e", "cat"]).unwrap();
    let window =
        wait_for(|| desktop.windows().unwrap().into_iter().find(|window| window.pid == pid)).unwrap();
    wait_for(|| (desktop.active_window().unwrap() == Some(window.window_id)).then_some(())).unwrap();
    window
}

fn named(name: &str, arguments: &[&str]) -> LaunchOptions {
    LaunchOptions {
        name: Some(name.into()),
        additional_arguments: arguments.iter().map(|argument| (*argument).into()).collect(),
        timeout: Some(Duration::from_secs(30)),
        ..LaunchOptions::default()
    }
}

/// The shells that wait for a file.
fn programs(file: &Path) -> Vec<u32> {
    let name = file.display().to_string();
    let waits = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).next().is_some_and(|program| program.ends_with(b"sh"))
            && String::from_utf8_lossy(&line).contains(&name)
    };
    let numbers = fs::read_dir("/proc").unwrap().flatten();
    numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(waits).collect()
}

fn is_alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

fn variables(pid: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/environ")).unwrap();
    bytes.split(|byte| *byte == 0).map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

#[test]
fn a_gtk_application_starts_in_the_background() {
    let (mut display, desktop) = managed();
    let prior = prior(&mut display, &desktop);
    let file = std::env::temp_dir().join(format!("backlot launch {}.txt", std::process::id()));
    fs::write(&file, "hello").unwrap();
    let options = LaunchOptions {
        bundle_id: Some("org.xfce.mousepad".into()),
        name: Some("ignored".into()),
        urls: vec![format!("file://{}", file.display()).replace(' ', "%20")],
        webkit_inspector_port: Some(4321),
        creates_new_application_instance: true,
        timeout: Some(Duration::from_secs(30)),
        ..LaunchOptions::default()
    };
    let launched = desktop.launch(&options).unwrap();
    assert_eq!((launched.bundle_id.as_str(), launched.name.as_str()), ("org.xfce.mousepad", "Mousepad"));
    assert_eq!(launched.self_activation_suppressed, Some(true));
    assert!(!launched.prior_window_restored);
    assert_eq!(desktop.active_window().unwrap(), Some(prior.window_id));
    let window = wait_for(|| {
        let windows = desktop.windows().unwrap();
        windows
            .into_iter()
            .find(|window| window.pid == launched.pid && window.title.contains("backlot launch"))
    });
    assert_eq!(window.unwrap().app_name, "Mousepad");
    let variables = variables(launched.pid);
    for expected in [
        "QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1",
        "WEBKIT_INSPECTOR_SERVER=127.0.0.1:4321",
        "TAURI_WEBVIEW_AUTOMATION=1",
    ] {
        assert!(variables.iter().any(|variable| variable == expected), "{expected}");
    }
    desktop.kill(launched.pid).unwrap();
    // The reaper leaves no zombie.
    wait_for(|| (!is_alive(launched.pid)).then_some(())).unwrap();
    fs::remove_file(file).unwrap();
}

#[test]
fn a_program_that_takes_the_focus_gives_it_back() {
    let (mut display, desktop) = managed();
    let prior = prior(&mut display, &desktop);
    let launched = desktop.launch(&named("xterm", &["-T", "new", "-e", "cat"])).unwrap();
    assert_eq!(launched.windows.len(), 1);
    assert_eq!(launched.windows[0].title, "new");
    assert_eq!(desktop.active_window().unwrap(), Some(prior.window_id));
    let front = desktop.windows().unwrap().pop().unwrap();
    assert_eq!(front.window_id, prior.window_id);
    assert_eq!(launched.self_activation_suppressed, Some(!launched.prior_window_restored));
    desktop.kill(launched.pid).unwrap();
}

/// A program that shows its window when this file is there.
fn waiting(file: &Path, title: &str) -> LaunchOptions {
    let wait = format!("until [ -e {} ]; do sleep 0.05; done; exec xterm -T {title} -e cat", file.display());
    named("sh", &["-c", &wait])
}

/// A window of the person's that is started during a launch, as soon as it is active.
fn started_meanwhile(display: &mut TestDisplay, desktop: &Desktop) -> Window {
    let pid = display.run("xterm", &["-T", "meanwhile", "-e", "cat"]).unwrap();
    wait_for(|| {
        let active = desktop.active_window().unwrap()?;
        desktop.window(active).unwrap().filter(|window| window.pid == pid)
    })
    .expect("what the person starts during a launch is active")
}

#[test]
fn what_the_person_starts_and_turns_to_during_a_launch_keeps_the_focus() {
    let (mut display, desktop) = managed();
    let prior = prior(&mut display, &desktop);
    let folder = Folder::new().unwrap();
    let file = folder.path().join("go");
    std::thread::scope(|scope| {
        let launch = scope.spawn(|| desktop.launch(&waiting(&file, "new")).unwrap());
        // The launch has begun when its program runs.
        wait_for(|| programs(&file).first().copied()).expect("the program runs");
        let mine = started_meanwhile(&mut display, &desktop);
        fs::write(&file, "").unwrap();
        let launched = launch.join().unwrap();
        assert_eq!(launched.windows[0].title, "new");
        assert_eq!(desktop.active_window().unwrap(), Some(mine.window_id));
        assert_eq!(launched.self_activation_suppressed, Some(!launched.prior_window_restored));
        let order: Vec<WindowId> = desktop.windows().unwrap().iter().map(|window| window.window_id).collect();
        let place = |id: WindowId| order.iter().position(|window| *window == id);
        assert!(place(launched.windows[0].window_id) < place(mine.window_id), "{order:?}");
        assert_ne!(mine.window_id, prior.window_id);
        desktop.kill(launched.pid).unwrap();
    });
}

#[test]
fn a_person_who_turns_to_another_window_during_a_launch_stays_there() {
    let (mut display, desktop) = managed();
    let first = prior(&mut display, &desktop);
    let second = prior(&mut display, &desktop);
    let folder = Folder::new().unwrap();
    let file = folder.path().join("go");
    std::thread::scope(|scope| {
        let launch = scope.spawn(|| desktop.launch(&waiting(&file, "new")).unwrap());
        wait_for(|| programs(&file).first().copied()).expect("the program runs");
        display.run("xdotool", &["windowactivate", &first.window_id.to_string()]).unwrap();
        wait_for(|| (desktop.active_window().unwrap() == Some(first.window_id)).then_some(())).unwrap();
        fs::write(&file, "").unwrap();
        let launched = launch.join().unwrap();
        assert_eq!(desktop.active_window().unwrap(), Some(first.window_id), "not {}", second.window_id);
        desktop.kill(launched.pid).unwrap();
    });
}

#[test]
fn without_a_prior_window_nothing_is_measured_or_suppressed() {
    let (_display, desktop) = managed();
    let launched = desktop.launch(&named("xterm", &["-e", "cat"])).unwrap();
    assert_eq!((launched.self_activation_suppressed, launched.prior_window_restored), (None, false));
    assert_eq!(desktop.active_window().unwrap(), Some(launched.windows[0].window_id));
    desktop.kill(launched.pid).unwrap();
}

#[test]
fn a_program_that_fails_says_how() {
    let (_display, desktop) = managed();
    let code = |options: &LaunchOptions| desktop.launch(options).unwrap_err();
    let failed = code(&named("sh", &["-c", "exit 3"]));
    assert_eq!(failed.code(), "launch_failed");
    assert!(failed.to_string().contains("exit status: 3"), "{failed}");
    assert_eq!(code(&named("no such program", &[])).code(), "app_not_found");
    assert_eq!(code(&LaunchOptions::default()).code(), "app_not_named");
    let id = LaunchOptions { bundle_id: Some("absent".into()), ..LaunchOptions::default() };
    assert_eq!(code(&id).code(), "app_not_found");
}

#[test]
fn a_program_without_windows_is_started_and_can_be_ended() {
    let (_display, desktop) = managed();
    let options = LaunchOptions { timeout: Some(Duration::from_millis(300)), ..named("sleep", &["600"]) };
    let launched = desktop.launch(&options).unwrap();
    assert!(launched.windows.is_empty() && is_alive(launched.pid));
    desktop.kill(launched.pid).unwrap();
    wait_for(|| (!is_alive(launched.pid)).then_some(())).unwrap();
    assert_eq!(desktop.kill(launched.pid).unwrap_err().code(), "process_not_found");
}

#[test]
fn what_the_desktop_lives_on_is_not_ended() {
    let (mut display, desktop) = managed();
    let manager = display.programs()[0];
    let kept = [0, 1, std::process::id(), std::os::unix::process::parent_id(), display.server_pid(), manager];
    for pid in kept {
        assert_eq!(desktop.kill(pid).unwrap_err().code(), "protected_process", "{pid}");
    }
    assert!(desktop.x11_window_manager().unwrap().is_some());
    let pid = display.run("sleep", &["600"]).unwrap();
    desktop.kill(pid).unwrap();
}

#[test]
fn running_applications_come_before_installed_ones() {
    let (mut display, desktop) = managed();
    let prior = prior(&mut display, &desktop);
    let apps = desktop.apps().unwrap();
    let xterm = &apps[0];
    assert_eq!((xterm.bundle_id.as_str(), xterm.name.as_str()), ("debian-xterm", "XTerm"));
    assert!(xterm.running && xterm.active && xterm.pid == prior.pid);
    assert!(xterm.launch_path.as_deref().unwrap().ends_with("/debian-xterm.desktop"));
    assert_eq!(xterm.last_used.as_deref().unwrap().len(), "2026-01-01T00:00:00Z".len());
    assert_eq!(apps.iter().filter(|app| app.running).count(), 1);
    let mousepad = apps.iter().find(|app| app.bundle_id == "org.xfce.mousepad").unwrap();
    assert_eq!((mousepad.running, mousepad.active, mousepad.pid), (false, false, 0));
}

#[test]
fn a_browser_starts_with_its_tree_its_port_and_its_own_profile() {
    let (mut display, desktop) = managed();
    let prior = prior(&mut display, &desktop);
    let options = LaunchOptions {
        electron_debugging_port: Some(0),
        creates_new_application_instance: true,
        // The test may run as root.
        ..named("chromium", &["--no-sandbox", "about:blank"])
    };
    let launched = desktop.launch(&options).unwrap();
    assert_eq!(launched.bundle_id, "chromium");
    assert!(!launched.windows.is_empty());
    assert_eq!(desktop.active_window().unwrap(), Some(prior.window_id));
    let line = fs::read(format!("/proc/{}/cmdline", launched.pid)).unwrap();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    assert!(line.contains("--force-renderer-accessibility") && line.contains("--remote-debugging-port=0"));
    let profile = line.split("--user-data-dir=").nth(1).unwrap().split(' ').next().unwrap();
    assert!(Path::new(profile).is_dir());
    // A browser that is killed leaves the folder of its socket.
    let socket = wait_for(|| fs::read_link(Path::new(profile).join("SingletonSocket")).ok()).unwrap();
    desktop.kill(launched.pid).unwrap();
    // A helper that still runs may make the folder again.
    let is_gone = || {
        let mut processes = fs::read_dir("/proc").unwrap().flatten();
        let names = |line: Vec<u8>| String::from_utf8_lossy(&line).contains(profile);
        !processes.any(|process| fs::read(process.path().join("cmdline")).is_ok_and(names))
            && !Path::new(profile).exists()
    };
    wait_for(|| is_gone().then_some(())).unwrap();
    fs::remove_dir_all(socket.parent().unwrap()).unwrap();
}
