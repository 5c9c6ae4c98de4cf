"""Mail over TLS: a server that demands STARTTLS and a login, its certificate, and what fails."""

from __future__ import annotations

import pytest

from burstlens.workflows.notify import delivery
from burstlens.workflows.notify.way import parse_way

pytestmark = pytest.mark.integration

ME = parse_way("mail:me@example.org")
PASSWORD = "s3cret-Pa55"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(delivery, "PAUSES_S", (0.05, 0.05))


@pytest.fixture
def configured(config):
    """Writes the configuration of a server with a login."""

    def write(place, password=PASSWORD, **keys):
        keys = {"smtp": place, "smtp_user": "me", "smtp_password": password} | keys
        config("[notify]\n" + "".join(f'{key} = "{value}"\n' for key, value in keys.items()))

    return write


@pytest.mark.parametrize("how", ["auto", "starttls"])
def test_mail_goes_over_tls_when_the_certificate_is_in_the_file_that_is_named(
    sender, starttls, configured, how
):
    box = starttls()
    configured(box.place, smtp_ca=box.certificate, smtp_tls=how)
    assert sender.send(ME) == []
    assert len(box.arrived) == 1
    assert box.logins == [(b"me", PASSWORD.encode())]
    assert box.over_tls == [True]


def test_nothing_is_sent_to_a_server_whose_certificate_nobody_vouches_for(
    sender, starttls, configured
):
    box = starttls()
    configured(box.place)
    (alarm,) = sender.send(ME)
    assert alarm == (
        "mail me@example.org failed: the server's certificate is not trusted: self-signed "
        "certificate; smtp_ca names a file of others"
    )
    assert box.logins == box.arrived == []


def test_a_trusted_certificate_of_another_server_is_refused(sender, starttls, configured):
    box = starttls("DNS:mail.example.org")
    configured(box.place, smtp_ca=box.certificate)
    (alarm,) = sender.send(ME)
    assert "certificate is not trusted: IP address mismatch" in alarm
    assert box.logins == box.arrived == []


def test_a_server_without_tls_is_refused_where_tls_is_demanded(sender, smtp, configured):
    configured(smtp.place, smtp_tls="starttls")
    (alarm,) = sender.send(ME)
    assert alarm == "mail me@example.org failed: 127.0.0.1 offers no STARTTLS"
    assert smtp.logins == smtp.arrived == []


def test_a_wrong_password_is_one_sentence_and_appears_in_no_record(
    sender, starttls, configured, run_dir, caplog
):
    box = starttls()
    configured(box.place, "wr0ng-Pa55", smtp_ca=box.certificate)
    box.refusal = "535 5.7.8 no: wr0ng-Pa55"  # some servers repeat what they were given
    (alarm,) = sender.send(ME)
    said = "the login is refused: the server answered 535 5.7.8 no: [redacted]"
    assert alarm == f"mail me@example.org failed: {said}"
    assert box.arrived == []
    files = [path.read_bytes() for path in run_dir.path.rglob("*") if path.is_file()]
    assert not any(b"Pa55" in text for text in [*files, caplog.text.encode()])


@pytest.mark.parametrize(
    ("content", "said"), [(None, "cannot be read: No such file"), ("x", "holds no certificate")]
)
def test_a_file_of_certificates_that_cannot_be_used_is_reported(
    sender, starttls, configured, tmp_path, content, said
):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    box = starttls()
    configured(box.place, smtp_ca=path)
    (alarm,) = sender.send(ME)
    assert f"smtp_ca: {path} {said}" in alarm
    assert box.logins == box.arrived == []
