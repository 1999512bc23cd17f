use super::{Answer, Digested, HEAD_BYTES_MAX, Stored, StoredBody};
use keyledger::{Outcome, Response};

fn message(lines: &str, body: &[u8]) -> Response {
    Response::new(super::MEDIA_TYPE, [lines.replace('\n', "\r\n").as_bytes(), body].concat())
}

#[test]
fn h11_a_response_is_stored_as_lines_and_read_back() {
    let answer = Answer::of_status(201).with_field("Content-Type", "a/b").with_field("X", "1").with_field("X", "2");
    let stored = answer.with_body(*b"\x00\xff\r\n").to_stored();
    assert_eq!(stored, message("HTTP/1.1 201 \nContent-Type: a/b\nX: 1\nX: 2\n\n", b"\x00\xff\r\n"));
    let read = Stored::of_response(&stored, Outcome::Completed);
    assert_eq!((read.status, read.fields.len()), (201, 3));
    assert_eq!(read.body, StoredBody::Kept(b"\x00\xff\r\n".to_vec()));
}

#[test]
fn h11_a_reason_phrase_of_another_language_is_read() {
    let read = Stored::of_response(&message("HTTP/1.1 404 Not Found\nA: b\n\n", b"x"), Outcome::Failed);
    assert_eq!(
        read,
        Stored { status: 404, fields: vec![("A".into(), b"b".into())], body: StoredBody::Kept(b"x".into()) }
    );
}

#[test]
fn s4_an_omitted_body_is_told_with_what_is_known_of_it() {
    for known in [None, Some(Digested::of(b"a long body"))] {
        let stored = Stored { status: 200, fields: vec![("A".into(), b"b".into())], body: StoredBody::Omitted(known) };
        assert_eq!(Stored::of_response(&stored.to_response(), Outcome::Completed), stored);
    }
}

#[test]
fn h14_what_a_handler_stored_without_http_is_the_body_of_a_200_or_a_400() {
    let plain = Response::new("text/plain", "done");
    assert_eq!(Stored::of_response(&plain, Outcome::Completed).status, 200);
    assert_eq!(Stored::of_response(&plain, Outcome::Failed).status, 400);
    let no_message = message("HTTP/1.1 none\n\n", b"");
    assert_eq!(Stored::of_response(&no_message, Outcome::Completed).status, 200);
    assert!(Stored::of_response(&Response::empty(), Outcome::Completed).fields.is_empty());
}

#[test]
fn a_head_over_its_limit_is_kept_as_its_status_and_many_lines_below_it_are_read() {
    let many: Vec<_> = (0..1000).map(|_| ("A".to_owned(), b"b".to_vec())).collect();
    let stored = Stored { status: 200, fields: many, body: StoredBody::Kept(b"x".into()) };
    assert_eq!(Stored::of_response(&stored.to_response(), Outcome::Completed), stored);
    let huge = vec![("A".to_owned(), vec![b'x'; HEAD_BYTES_MAX])];
    let stored = Stored { status: 200, fields: huge, body: StoredBody::Kept(b"x".into()) };
    let read = Stored::of_response(&stored.to_response(), Outcome::Completed);
    assert_eq!((read.status, read.fields.len(), read.body), (200, 0, StoredBody::Kept(b"x".into())));
}

#[test]
fn h5_what_a_handler_stores_itself_is_stored_without_what_is_never_kept() {
    let answer = Answer::of_status(200).with_field("set-cookie", "a=1").with_field("Content-Length", "9");
    assert_eq!(answer.with_field("A", "b").to_stored(), message("HTTP/1.1 200 \nA: b\n\n", b""));
}

#[test]
fn s4_what_is_made_to_fit_keeps_its_status_and_as_much_else_as_it_can() {
    let fields = vec![("A".to_owned(), vec![b'x'; 100])];
    let whole = Stored { status: 404, fields, body: StoredBody::Kept(vec![b'y'; 400]) };
    let omitted = StoredBody::Omitted(Some(Digested::of(&[b'y'; 400])));
    let length = |stored: &Stored| stored.to_response().stored_bytes().unwrap_or_default().len();
    let (all, head) = (length(&whole), length(&Stored { body: omitted.clone(), ..whole.clone() }));
    assert!(head < all && all < 700);
    for bytes_max in 0..700 {
        let fitted = whole.to_response_within(bytes_max);
        let read = Stored::of_response(&fitted, Outcome::Completed);
        assert_eq!(read.status, 404);
        assert_eq!(read == whole, bytes_max >= all, "{bytes_max}");
        assert_eq!(read.fields.is_empty(), bytes_max < head, "{bytes_max}");
        assert_eq!(read.body == omitted, bytes_max < all, "{bytes_max}");
        assert!(bytes_max < head || fitted.stored_bytes().is_some_and(|bytes| bytes.len() <= bytes_max));
    }
}

#[test]
fn a_line_that_would_break_the_message_is_not_stored() {
    let answer = Answer::of_status(200).with_field("A", "b\r\nEvil: 1").with_field("B: c", "d");
    assert_eq!(answer.to_stored(), message("HTTP/1.1 200 \n\n", b""));
}
