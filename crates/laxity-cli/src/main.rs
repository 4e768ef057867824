//! The `laxity` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Scripts that `import tc --run` runs find this program under the names of their tools.
    #[cfg(target_os = "linux")]
    if let Some(code) = laxity_linux::jail::role() {
        return code.into();
    }
    laxity_cli::run(std::env::args_os()).into()
}
