//! Programs in C, C++, Go and Python against the header and the library as a user gets them.

mod c {
    #[cfg(target_os = "linux")]
    pub(crate) mod gstreamer;
    pub(crate) mod languages;
    pub(crate) mod ns3;
    pub(crate) mod program;
    pub(crate) mod replay;
    pub(crate) mod replay_datagrams;
    #[cfg(target_os = "linux")]
    pub(crate) mod rtp;
}

use c::program::{Program, Tools};

/// Each by itself; under valgrind with fewer packets, which it looks at one by one.
const PROGRAMS: [(&str, &[&str]); 7] = [
    ("plans.c", &[]),
    ("schedulers.c", &[]),
    ("entrance.c", &[]),
    ("engine.c", &["-DPACKETS=300"]),
    ("deadline_queue.c", &[]),
    ("udp.c", &["-DPACKETS=100"]),
    ("book.c", &[]),
];

#[test]
fn programs_in_c_pass_with_sanitizers() {
    for (source, _) in PROGRAMS {
        Program::compile(source, Tools::Sanitizers, &[]).run(&[], "");
    }
}

#[test]
fn programs_in_c_pass_under_valgrind() {
    if !c::program::is_there("valgrind", "--version") {
        return;
    }
    for (source, flags) in PROGRAMS {
        Program::compile(source, Tools::Valgrind, flags).run(&[], "");
    }
}

#[test]
fn a_program_in_cpp_passes_with_sanitizers() {
    Program::compile("wrapper.cpp", Tools::Sanitizers, &[]).run(&[], "");
}

#[test]
fn the_shared_library_is_the_same() {
    Program::compile("schedulers.c", Tools::Shared, &[]).run(&[], "");
}

/// As C99 and as C++ of any standard since 2011.
#[test]
fn the_header_compiles_without_a_warning() {
    for language in ["c99", "c11", "c++11", "c++17", "c++20"] {
        c::program::compiles("#include \"laxity.h\"\n", language);
    }
    for language in ["c++17", "c++20"] {
        c::program::compiles("#include \"laxity.hpp\"\n", language);
    }
}
