//! A bridge in the place of a forwarder.

use laxity_linux::bypass::{confine, forget, is_bypass, lower, prepare, raise};
use laxity_linux::interface::Interface;
use laxity_linux::namespace::Namespace;

#[test]
fn two_interfaces_are_bridged_and_no_longer() {
    let namespace = match Namespace::new() {
        Ok(namespace) => namespace,
        Err(error) if error.is_permission() => return eprintln!("SKIPPED: {error}"),
        Err(error) => panic!("{error}"),
    };
    for name in ["a", "b", "c"] {
        namespace.veth(name, &namespace, &format!("far-{name}")).unwrap();
    }
    let bridged = || {
        let all = Interface::all().unwrap();
        let of =
            |it: &Interface| all.iter().find(|other| Some(other.index) == it.controller).cloned();
        let ports = all.iter().filter_map(|it| Some((it.name.clone(), of(it)?.name)));
        ports.collect::<Vec<_>>()
    };
    let test = || {
        lower(["a", "b"]).unwrap();
        for _ in 0..2 {
            raise(["a", "b"]).unwrap();
            let ports = bridged();
            let mut names: Vec<&str> = ports.iter().map(|(port, _)| port.as_str()).collect();
            names.sort_unstable();
            assert_eq!(names, ["a", "b"], "{ports:?}");
            assert!(ports.iter().all(|(_, bridge)| is_bypass(bridge)), "{ports:?}");
        }
        // One that was left half made is made whole.
        let bridge = || Interface::named(&bridged()[0].1).unwrap();
        Interface::switch(bridge().index, false).unwrap();
        assert!(!bridge().up);
        raise(["a", "b"]).unwrap();
        assert!(bridge().up);
        // Others' interfaces and bridges stay.
        lower(["c", "far-c"]).unwrap();
        assert_eq!(bridged().len(), 2);
        lower(["b", "a"]).unwrap();
        assert_eq!(bridged(), []);
        let refused = raise(["a", "nowhere"]).unwrap_err().to_string();
        assert!(refused.contains("nowhere"), "{refused}");
        // Without interfaces it stays until it is not wanted.
        let bridges = || {
            let all = Interface::all().unwrap().into_iter();
            all.filter(|it| is_bypass(&it.name)).count()
        };
        assert_eq!(bridges(), 0, "that of the other order went");
        assert!(prepare(["a", "b"]).unwrap());
        assert!(!prepare(["a", "b"]).unwrap());
        raise(["a", "b"]).unwrap();
        lower(["a", "b"]).unwrap();
        assert_eq!((bridges(), bridged()), (1, vec![]));
        forget(["a", "b"]).unwrap();
        assert_eq!(bridges(), 0);
        raise(["a", "b"]).unwrap();
        forget(["a", "b"]).unwrap();
        assert_eq!(bridged().len(), 2, "it is in use");
        // That of another pair goes as a whole.
        lower(["b", "c"]).unwrap();
        assert_eq!((bridges(), bridged()), (0, vec![]));
        // So does one of interfaces that are gone.
        prepare(["c", "b"]).unwrap();
        namespace.remove("c").unwrap();
        prepare(["a", "b"]).unwrap();
        assert_eq!(bridges(), 1);
        // What it may still do is enough.
        confine().unwrap();
        raise(["a", "b"]).unwrap();
        lower(["a", "b"]).unwrap();
        assert!(!is_bypass("laxity-bypass") && !is_bypass("br0"));
    };
    namespace.run(test).unwrap();
}
