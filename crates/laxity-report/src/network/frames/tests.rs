use laxity_plan::tdp::Framing;

use super::*;

fn proof(text: &str) -> FramesProof {
    let plan = Plan::parse(&format!("version = 1\n{text}"), "plan.toml", "".as_ref()).unwrap();
    FramesProof::new(&Framing::new(plan.framed_network().unwrap()))
}

/// Three flows of 400 bytes a frame over one link that carries 1000.
const CROWDED: &str = r#"
    link = { rate = "8mbit", max-packet = "400b" }
    network = { one = { between = ["a", "b"] }, two = { between = ["b", "c"] } }
    class.x = { gap = "1ms", end-to-end = "20ms" }
    class.y = { gap = "1ms", end-to-end = "20ms" }
    class.z = { gap = "1ms", end-to-end = "20ms" }
    source = [
        { class = "x", model = "constant", rate = "3.2mbit", packet = "400b", path = ["a", "b", "c"] },
        { class = "y", model = "constant", rate = "3.2mbit", packet = "400b", path = ["a", "b", "c"] },
        { class = "z", model = "constant", rate = "3.2mbit", packet = "400b", path = ["b", "c"] },
    ]
"#;
const SPEC: &str = r#"scheduler = { kind = "tdp", frame = "1ms", frames = 4 }"#;

#[test]
fn a_flow_too_many_is_named_with_what_is_full() {
    let crowded = proof(&format!("{SPEC}{CROWDED}"));
    assert_eq!(crowded.admitted(), Some(false));
    let statement = words::statement(&crowded.reasons);
    let out = crowded.leave_out.as_ref().unwrap();
    assert_eq!((out.classes.len(), out.fewest), (1, None));
    assert!(statement.contains("the others fit"), "{statement}");
    assert!(remarks(&crowded).iter().any(|remark| remark.contains("b → c, frame 0")));
    let exact = SPEC.replace("frames = 4", "frames = 4, assignment = \"exact\"");
    let exact = proof(&format!("{exact}{CROWDED}"));
    assert_eq!(exact.leave_out.as_ref().unwrap().fewest, Some(1));
    let statement = words::statement(&exact.reasons);
    assert!(statement.contains("no fewer can be left out"), "{statement}");
}

#[test]
fn bounds_are_what_arithmetic_says() {
    let two = CROWDED.replace("class.z = { gap = \"1ms\", end-to-end = \"20ms\" }", "class.z = {}");
    let proof = proof(&format!("{SPEC}{two}"));
    assert_eq!(proof.admitted(), Some(true));
    let [x, _] = &proof.classes[..] else { panic!("two classes have frames") };
    // Up to a frame and a gap at the edge; two frames on to b, and the frame there.
    assert_eq!((x.shaping_ns, x.transit_ns), (Some(2_000_000), Some(3_000_000)));
    assert_eq!((x.bound_ns, x.slack_ns), (Some(5_000_000), Some(15_000_000)));
    let output = &proof.outputs[0];
    assert_eq!((output.capacity_bytes, &output.reserved_bytes[..]), (1000, &[800; 4][..]));
    assert_eq!(output.best_effort_bytes, Some(200));
    assert!(remarks(&proof).iter().any(|remark| remark.contains("more than 200 b")));
    assert!(drawn(output).chars().all(|bar| bar == '▇'), "{}", drawn(output));
    // Marks come from 40 bytes after a frame's beginning to its 800th: two clocks, either way.
    assert_eq!((proof.clocks.error_ns, proof.clocks.borne_ns), (0, (240_000 - 2) / 4));
}

#[test]
fn clocks_beyond_what_is_borne_are_refused() {
    let spec = SPEC.replace("frames = 4", "frames = 4, clock-error = \"0s\"");
    let clock = "node.b.clock = { ahead = \"300us\" }\nclass.z = { gap";
    let text = format!("{spec}{CROWDED}").replace("class.z = { gap", clock);
    let proof = proof(&text);
    assert_eq!(proof.admitted(), Some(false));
    let statement = words::statement(&proof.reasons);
    assert_eq!(proof.clocks.error_ns, 300_000);
    assert!(statement.contains("clocks may be wrong by 300"), "{statement}");
}
