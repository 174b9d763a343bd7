//! What travels between processes does so as text.

use redbolt::{Fence, Handover, Token};

#[test]
fn a_token_and_a_handover_go_to_another_process_as_text() {
    let hex = "ab".repeat(20);
    let token: Token = hex.parse().expect("forty digits");
    assert_eq!(serde_json::to_string(&token).expect("it can be written"), format!("\"{hex}\""));
    assert_eq!(
        serde_json::from_str::<Token>(&format!("\"{hex}\"")).expect("it can be read"),
        token
    );
    let json = format!("\"1:{hex}:7:5000000000:61:00ff\"");
    let handover: Handover = serde_json::from_str(&json).expect("it can be read");
    assert_eq!(handover.resources, [&b"a"[..], b"\x00\xff"]);
    assert_eq!(serde_json::to_string(&handover).expect("it can be written"), json);
    for text in ["\"abab-abab\"", "\"1:abab:7::61\""] {
        let token = serde_json::from_str::<Token>(text).expect_err(text);
        let handover = serde_json::from_str::<Handover>(text).expect_err(text);
        assert!(!format!("{token} {handover}").contains("abab"), "{text}");
    }
}

#[test]
fn a_fencing_number_is_a_number() {
    let fence: Fence = "1795292495501414".parse().expect("a number");
    assert_eq!(serde_json::to_string(&fence).expect("it can be written"), "1795292495501414");
    let read = serde_json::from_str::<Fence>("1795292495501414").expect("it can be read");
    assert_eq!(read, fence);
    for text in ["7", "9007199254740992", "-1", "\"1795292495501414\""] {
        assert!(serde_json::from_str::<Fence>(text).is_err(), "{text}");
    }
}
