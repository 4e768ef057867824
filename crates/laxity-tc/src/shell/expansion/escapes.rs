//! What backslashes stand for in the texts of `echo`, `printf` and `$'…'`.

/// A text with `\n` and the like put in, and whether `\c` ended it.
pub(crate) fn escapes(text: &str) -> (String, bool) {
    let mut all = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        all.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if after.starts_with('c') {
            return (all, true);
        }
        let (one, left) = one_escape(after);
        all.push_str(one.as_deref().unwrap_or(&rest[at..rest.len() - left.len()]));
        rest = left;
    }
    all.push_str(rest);
    (all, false)
}

/// What follows a backslash, and the rest; `None` if the two are plain.
pub(crate) fn one_escape(text: &str) -> (Option<String>, &str) {
    let Some(sign) = text.chars().next() else { return (None, text) };
    let after = &text[sign.len_utf8()..];
    let one = match sign {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'e' => '\u{1b}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '\\' => '\\',
        '"' => '"',
        '\'' => '\'',
        '0'..='7' => {
            let most = if sign == '0' { 4 } else { 3 };
            let length = text.bytes().take(most).take_while(|b| (b'0'..b'8').contains(b)).count();
            let code = u32::from_str_radix(&text[..length], 8).unwrap_or(0) & 0xff;
            return (char::from_u32(code).map(String::from), &text[length..]);
        }
        'x' | 'u' | 'U' => {
            let most = match sign {
                'x' => 2,
                'u' => 4,
                _ => 8,
            };
            let length = after.bytes().take(most).take_while(u8::is_ascii_hexdigit).count();
            let code = u32::from_str_radix(&after[..length], 16).ok().and_then(char::from_u32);
            return code.map_or((None, after), |code| (Some(code.into()), &after[length..]));
        }
        _ => return (None, after),
    };
    (Some(one.into()), after)
}
