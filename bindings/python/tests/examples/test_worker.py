"""The worker that sends mail: a real one, whose processes are killed with SIGKILL while they send."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import EXAMPLES, PATIENCE_SECONDS, Program, until


class Mail(Program):
    """A worker, and the mail that it has sent."""

    def __init__(self, folder: Path) -> None:
        self._mail = folder / "mail"
        words = ("celery", "--workdir", str(EXAMPLES), "--app", "celery_mail", "worker", "-c", "1", "-l", "info")
        # How long it waits for what a killed process may still have said: ten seconds otherwise.
        words = (*words, "--", "worker.lost_wait=0.5")
        super().__init__(*words, folder=folder, MAIL_FOLDER=str(self._mail))

    def call(self, *words: str, times: int = 1) -> str:
        """The script, as a person or a web backend calls it; or several at once."""
        script = [sys.executable, str(EXAMPLES / "celery_mail.py"), *words]
        environment = {**os.environ, "MAIL_FOLDER": str(self._mail)}
        # The broker is a folder: a worker that looked meanwhile would read half a message, and end.
        self.process.send_signal(signal.SIGSTOP)
        try:
            started = [
                subprocess.Popen(script, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(times)
            ]
            said = [process.communicate(timeout=PATIENCE_SECONDS)[0] for process in started]
        finally:
            self.process.send_signal(signal.SIGCONT)
        assert [process.returncode for process in started] == [0] * times
        return said[0]

    def sent_to(self, address: str) -> int:
        log = self._mail / "server.log"
        return log.read_text().count(f" {address}\n") if log.exists() else 0


@pytest.fixture
def mail(tmp_path: Path) -> Iterator[Mail]:
    with Mail(tmp_path) as worker:
        until("the worker is ready", lambda: " ready." in worker.said(), worker.said)
        yield worker


def test_mail_is_sent_once_and_what_was_lost_is_found_out(mail: Mail) -> None:
    mail.call("send", "1", "ann@example.org", times=2)
    until("both are done", lambda: mail.said().count("'sent to ann@example.org'") == 2, mail.said)
    assert mail.sent_to("ann@example.org") == 1

    # Killed while the mail server takes its time: the mail is out, and nobody has heard so.
    mail.call("send", "2", "bob@example.org")
    until("it is sent", lambda: mail.sent_to("bob@example.org"), mail.said)
    for process in mail.children():
        os.kill(process, signal.SIGKILL)
    until(
        "it is delivered again, and parked",
        lambda: "nobody knows whether the operation happened" in mail.said(),
        mail.said,
    )
    assert mail.call("recover") == "found out: 1\n"
    mail.call("send", "2", "bob@example.org")
    until("the answer is known", lambda: "'sent to bob@example.org, as the log says'" in mail.said(), mail.said)
    assert mail.sent_to("bob@example.org") == 1

    # No mail was sent: the address is none, for whoever asks.
    mail.call("send", "3", "nobody", times=2)
    until("both are told", lambda: mail.said().count("ReplayedFailure") >= 1, mail.said)
    assert "nobody is no address" in mail.said()
