"""Mail: by the SMTP server of the user's configuration, or by this machine's sendmail."""

from __future__ import annotations

import contextlib
import getpass
import ipaddress
import os
import shutil
import smtplib
import socket
import ssl
from collections.abc import Mapping
from email.message import EmailMessage
from email.utils import formatdate
from pathlib import Path
from typing import Any

from burstlens.core.printable import printable
from burstlens.workflows.notify.options import Settings
from burstlens.workflows.notify.picture import Picture
from burstlens.workflows.notify.programs import Children

MAIL_S = 30.0
ANSWER_S = 10.0
"""How long a mail server may take for one answer."""
SENDMAIL = ("/usr/sbin/sendmail", "/usr/lib/sendmail")
_LONGEST_SUBJECT = 200


def message_of(
    facts: Mapping[str, Any], subject: str, picture: Picture | None, mark: str
) -> EmailMessage:
    """The message, without sender and recipient. ``mark`` is the same each time that this word is
    sent to this address, so that mail programs show a second copy once."""
    message = EmailMessage()
    head = printable(f"Burstlens: {facts['run']}: {subject}")
    message["Subject"] = head[:_LONGEST_SUBJECT]
    message["Date"] = formatdate(localtime=True)
    message["Message-ID"] = f"<{mark}@burstlens.invalid>"
    message["Auto-Submitted"] = "auto-generated"
    lines = [facts["text"], *facts.get("more", ()), ""]
    if picture is not None and picture.missing:
        lines += [picture.missing, ""]
    lines += [f"Page:   {facts['link']}", f"Run:    {facts['path']}"]
    lines.append(f"Status: burstlens status {facts['run']}")
    # A path may hold bytes that are no text.
    message.set_content("".join(f"{printable(line)}\n" for line in lines))
    if picture is not None and picture.content is not None:
        main, _, sub = picture.media_type.partition("/")
        message.add_attachment(
            picture.content, maintype=main, subtype=sub, disposition="inline",
            filename=printable(picture.path.name),
        )  # fmt: skip
    return message


def send_mail(
    children: Children, folder: Path, message: EmailMessage, address: str, mine: Settings
) -> None:
    """Send it. Raises OSError (also SMTPException, which is one), ValueError, SubprocessError."""
    message["To"] = address
    if mine.smtp is not None:
        message["From"] = mine.sender or _own_address()
        _by_server(message, address, mine)
        return
    if mine.sender is not None:
        message["From"] = mine.sender
    # Only to this address: sendmail takes no recipients from the text.
    sender = ["-f", mine.sender] if mine.sender else []
    command = [_sendmail(), "-i", *sender, "--", address]
    children.run(command, message.as_bytes(), MAIL_S, folder)


def _by_server(message: EmailMessage, address: str, mine: Settings) -> None:
    host, port = mine.server
    over_tls = mine.smtp_tls == "tls" or (mine.smtp_tls == "auto" and port == 465)
    trusted = _trusted(mine) if mine.smtp_tls != "none" else None
    server: smtplib.SMTP
    if over_tls:
        server = smtplib.SMTP_SSL(host, port, timeout=ANSWER_S, context=trusted)
    else:
        server = smtplib.SMTP(host, port, timeout=ANSWER_S)
    with contextlib.closing(server):
        server.ehlo()
        if not over_tls and trusted is not None:
            if server.has_extn("starttls"):
                server.starttls(context=trusted)
                server.ehlo()
                over_tls = True
            elif mine.smtp_tls == "starttls":
                raise OSError(f"{host} offers no STARTTLS")
        if mine.smtp_user is not None and mine.smtp_password is not None:
            if not over_tls and not _is_loopback(host):
                raise OSError(f"{host} offers no TLS: the password is not sent")
            server.login(mine.smtp_user, mine.smtp_password)
        server.send_message(message, message["From"], [address])
        with contextlib.suppress(OSError):  # the message is accepted, whatever the server says now
            server.quit()


def _trusted(mine: Settings) -> ssl.SSLContext:
    """Checks the server's certificate and its name. Raises OSError."""
    if mine.smtp_ca is None:
        return ssl.create_default_context()
    path = Path(mine.smtp_ca).expanduser()
    try:
        return ssl.create_default_context(cafile=path)
    except ssl.SSLError:
        raise OSError(f"smtp_ca: {path} holds no certificate") from None
    except OSError as error:
        raise OSError(f"smtp_ca: {path} cannot be read: {error.strerror}") from None


def failure_text(error: Exception) -> str:
    """What a mail server has said, in words."""
    if isinstance(error, ssl.SSLCertVerificationError):
        why = error.verify_message
        return f"the server's certificate is not trusted: {why}; smtp_ca names a file of others"
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return f"the login is refused: {_answer(error.smtp_code, error.smtp_error)}"
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return "; ".join(_answer(*said) for said in error.recipients.values())
    if isinstance(error, smtplib.SMTPResponseException):
        return _answer(error.smtp_code, error.smtp_error)
    return str(error) or type(error).__name__


def _answer(code: int, text: bytes | str) -> str:
    said = text.decode(errors="replace") if isinstance(text, bytes) else text
    return f"the server answered {code} {said}"


def _sendmail() -> str:
    program = shutil.which("sendmail") or next(filter(os.path.exists, SENDMAIL), None)
    if program is None:
        raise OSError('there is no sendmail on this machine: [notify] smtp = "host:port" names a '
                      "mail server in your configuration")  # fmt: skip
    return program


def _own_address() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "burstlens"
    return f"{user}@{socket.getfqdn()}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
