//! The known name closest to an unknown one, for error messages.

/// The Levenshtein distance of two names, ignoring case.
pub(crate) fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().flat_map(char::to_lowercase).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, left) in left.chars().flat_map(char::to_lowercase).enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (place, &right) in right.iter().enumerate() {
            let change = diagonal + usize::from(left != right);
            diagonal = row[place + 1];
            row[place + 1] = change.min(row[place] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

/// `did you mean "x"?` if a known name is close, else a list of the known names.
pub(crate) fn did_you_mean(name: &str, what: &str, known: &[&str]) -> String {
    const MAX_LISTED_NAMES: usize = 40;
    let closest = known.iter().map(|known| (edit_distance(name, known), known)).min();
    match closest {
        Some((distance, known)) if distance <= 1 + name.chars().count() / 4 => format!("did you mean {known:?}?"),
        _ => {
            let more = if known.len() > MAX_LISTED_NAMES { ", ..." } else { "" };
            format!("{what} are {}{more}", known[..known.len().min(MAX_LISTED_NAMES)].join(", "))
        }
    }
}
