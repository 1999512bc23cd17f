use super::{KeyField, Request, RequestError};
use crate::key_of_lines;
use keyledger::{Key, Scope};

fn request(fields: &[(&str, &str)]) -> Request {
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect();
    Request { method: "POST".into(), url: "https://pay.example/v1/x?a=1".into(), fields, body: b"\x00\r\n1".into() }
}

#[test]
fn c1_exactly_one_key_field_quoted_or_as_the_settings_say() {
    let key = Key::new(r#"a"b\c"#).unwrap();
    assert_eq!(KeyField::default().value(&key).unwrap(), r#""a\"b\\c""#);
    let sent = request(&[("A", "b")]).fields_with(&KeyField::default(), &key).unwrap();
    assert_eq!(sent.len(), 2);
    assert_eq!(key_of_lines([sent[1].1.as_slice()]), Ok(Some(key.clone())));
    let bare = KeyField::default().named("X-Request-Key").unwrap().bare();
    assert_eq!(bare.value(&key), Err(RequestError::BareKey));
    let sent = request(&[]).fields_with(&bare, &Key::new("k-1").unwrap()).unwrap();
    assert_eq!(sent, [("X-Request-Key".to_owned(), b"k-1".to_vec())]);
    assert_eq!(KeyField::default().value(&Key::new("\u{e9}").unwrap()), Err(RequestError::Key));
    for (name, error) in [
        ("a b", RequestError::FieldName("a b".to_owned())),
        ("", RequestError::FieldName(String::new())),
        ("Content-Length", RequestError::Connection("Content-Length".to_owned())),
    ] {
        assert_eq!(KeyField::default().named(name), Err(error));
    }
}

#[test]
fn c1_the_callers_own_key_field_is_refused_in_any_letter_case() {
    let other = KeyField::default().named("X-Key").unwrap();
    for (name, field) in
        [("idempotency-KEY", KeyField::default()), ("x-key", other.clone()), ("Idempotency-Key", other)]
    {
        let refused = request(&[(name, "k")]).check(&field, &[]);
        assert_eq!(refused, Err(RequestError::OwnKey(name.to_owned())));
    }
}

#[test]
fn o14_credentials_and_what_cannot_be_sent_are_refused() {
    let check = |name, value| request(&[(name, value)]).check(&KeyField::default(), &["X-Api-Token"]);
    for name in ["authorization", "COOKIE", "Proxy-Authorization", "x-api-token"] {
        assert_eq!(check(name, "s"), Err(RequestError::Credentials(name.to_owned())));
    }
    for name in ["a b", ""] {
        assert_eq!(check(name, "x"), Err(RequestError::FieldName(name.to_owned())));
    }
    for value in ["x\r\nB: y", " x"] {
        assert_eq!(check("A", value), Err(RequestError::FieldValue("A".to_owned())));
    }
    for name in ["host", "content-length", "proxy-connection"] {
        assert_eq!(check(name, "x"), Err(RequestError::Connection(name.to_owned())));
    }
    assert_eq!(check("Content-Type", "text/plain"), Ok(()));
    let mut wrong = request(&[]);
    for (url, error) in [
        ("/v1/x", RequestError::Url),
        ("ftp://pay.example/", RequestError::Url),
        ("https://pay.example/caf\u{e9}", RequestError::Url),
        ("https://user@pay.example/a", RequestError::UserInformation),
        ("https://user:s3cret@pay.example/a", RequestError::UserInformation),
    ] {
        url.clone_into(&mut wrong.url);
        assert_eq!(wrong.check(&KeyField::default(), &[]), Err(error), "{url}");
    }
    wrong.method = "PO ST".to_owned();
    assert!(matches!(wrong.check(&KeyField::default(), &[]), Err(RequestError::Method(_))));
}

#[test]
fn o2_what_is_stored_is_what_is_sent() {
    let request = request(&[("Content-Type", "a/b"), ("X", "1"), ("X", "2")]);
    assert_eq!(Request::of_bytes(&request.to_bytes(&KeyField::default(), &[]).unwrap()), Ok(request));
    assert_eq!(Request::of_bytes(b"GET"), Err(RequestError::NotARequest));
}

#[test]
fn o14_c1_nothing_is_stored_or_sent_unchecked() {
    let (field, key) = (KeyField::default(), Key::new("k").unwrap());
    for (name, secret) in [("Authorization", &[][..]), ("X-Api-Token", &["X-Api-Token"]), ("Idempotency-Key", &[])] {
        let refused = request(&[(name, "s")]);
        let error = refused.check(&field, secret).unwrap_err();
        assert_eq!(refused.to_bytes(&field, secret), Err(error.clone()));
        assert_eq!(refused.to_enqueue(&Scope::single(), "pay", &field, secret).unwrap_err(), error);
    }
    // A request of before the key's field was given another name.
    let renamed = KeyField::default().named("X-Request-Key").unwrap();
    let sent = request(&[("x-request-key", "mine")]).fields_with(&renamed, &key);
    assert_eq!(sent, Err(RequestError::OwnKey("x-request-key".to_owned())));
}

#[test]
fn c1_an_error_says_what_to_do_about_it() {
    let said = |error: RequestError, words: &[&str]| {
        let text = error.to_string();
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    };
    let key = Key::new("order 17").unwrap();
    said(KeyField::default().bare().value(&key).unwrap_err(), &["letters, digits and -._~:/+=@", "quoted"]);
    said(KeyField::default().named("x y").unwrap_err(), &["\"x y\"", "no name of a field"]);
    let check = |request: &Request| request.check(&KeyField::default(), &[]).unwrap_err();
    said(check(&Request::post("https://user@pay.example/a")), &["user information"]);
    said(check(&request(&[("Authorization", "s")])), &["Authorization", "transport", "authorize"]);
    said(check(&request(&[("Host", "pay.example")])), &["Host", "connection", "leave it out"]);
}
