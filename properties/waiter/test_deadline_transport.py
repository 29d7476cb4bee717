"""DeadlineTransport: the limit on the whole of a synchronous request, on real sockets and in virtual time.

The one kind of test here that uses real time: a real server on loopback drips, and the request must end anyway.
"""

import socket
import threading
import time
from contextlib import contextmanager

import httpcore
import httpx
import pytest

from waitproof.harness.subjects.client import Client, DeadlineTransport
from waitproof.harness.subjects.waiter import JobWaitTimeoutError

LIMIT = 0.4
PATIENCE = 5.0  # a request that has not ended by then never will


@contextmanager
def server(answer):
    """Serve on loopback: each connection is given to `answer(connection, stop)` in a thread of its own."""
    stop = threading.Event()
    closed = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)

        def serve(connection):
            with connection:
                try:
                    answer(connection, stop)
                except OSError:
                    closed.append(connection)

        def accept():
            while not stop.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                connection.settimeout(PATIENCE)
                thread = threading.Thread(target=serve, args=(connection,))
                thread.start()
                threads.append(thread)

        threads = [threading.Thread(target=accept)]
        threads[0].start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", closed
        finally:
            stop.set()
            for thread in threads:
                thread.join(PATIENCE)


def read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(4096)
        if not piece:
            raise ConnectionAbortedError
        data += piece


def drip(connection, stop, data):
    for byte in data:
        if stop.wait(0.02):
            return
        connection.sendall(bytes([byte]))


def drip_headers(connection, stop):
    read_request(connection)
    drip(connection, stop, b"HTTP/1.1 200 OK\r\nX: " + b"a" * 10_000)


def drip_body(connection, stop):
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n")
    drip(connection, stop, b"a" * 10_000)


def silent(connection, stop):
    read_request(connection)
    stop.wait(PATIENCE)


def never_reads(connection, stop):
    stop.wait(PATIENCE)


def answers(connection, stop):
    while not stop.is_set():
        read_request(connection)
        connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n{"status":"done"}')


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


@pytest.mark.parametrize("answer", [drip_headers, drip_body, silent])
def test_a_dripping_server_cannot_hold_the_thread(answer):
    """Dripped headers, a dripped body and silence all end at the limit, and the connection is closed."""
    with server(answer) as (url, _), httpx.Client(transport=DeadlineTransport()) as client:
        begun = time.monotonic()
        with pytest.raises(httpx.ReadTimeout):
            client.get(url, extensions={"total_timeout": LIMIT})
        assert LIMIT * 0.9 <= time.monotonic() - begun < LIMIT + 1.0
        assert client._transport._pool.connections == []


def test_the_server_sees_the_connection_closed():
    """After a limit the socket is closed, not left to the collector."""
    with server(drip_body) as (url, closed), httpx.Client(transport=DeadlineTransport()) as client:
        with pytest.raises(httpx.ReadTimeout):
            client.get(url, extensions={"total_timeout": LIMIT})
        until(lambda: closed)


def test_a_server_that_does_not_read_cannot_hold_the_thread():
    """A large body against a full window ends at the limit too."""
    with server(never_reads) as (url, _), httpx.Client(transport=DeadlineTransport()) as client:
        begun = time.monotonic()
        with pytest.raises(httpx.WriteTimeout):
            client.post(url, content=b"x" * 50_000_000, extensions={"total_timeout": LIMIT})
        assert time.monotonic() - begun < LIMIT + 1.0
        assert client._transport._pool.connections == []


def test_the_waiter_ends_in_time_against_a_dripping_server():
    """The whole stack: timeout + fetch timeout bounds a synchronous wait."""
    with server(drip_body) as (url, _), Client(api_key="k", base_url=url) as client:
        begun = time.monotonic()
        with pytest.raises(JobWaitTimeoutError) as caught:
            client.parse_jobs.wait("j", timeout=0.3, fetch_timeout=LIMIT)
        assert isinstance(caught.value.__cause__, httpx.ReadTimeout)
        assert time.monotonic() - begun < 0.3 + LIMIT + 1.0


def test_good_requests_share_a_connection_and_limits_do_not_stick():
    """A connection is used again, also after the limit of an earlier request has passed."""
    with server(answers) as (url, _), httpx.Client(transport=DeadlineTransport()) as client:
        for limit in (0.2, None, 5.0):
            extensions = {} if limit is None else {"total_timeout": limit}
            assert client.get(url, extensions=extensions).json() == {"status": "done"}
            assert len(client._transport._pool.connections) == 1
            begun = time.monotonic()
            until(lambda begun=begun: time.monotonic() - begun > 0.25)


def test_a_refused_connection_is_a_connect_error():
    """The exception is httpx's, not httpcore's."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with httpx.Client(transport=DeadlineTransport()) as client, pytest.raises(httpx.ConnectError):
        client.get(f"http://127.0.0.1:{port}/", extensions={"total_timeout": LIMIT})


def test_an_unresolvable_host_is_a_connect_error():
    """A name that no resolver is even asked for."""
    with httpx.Client(transport=DeadlineTransport()) as client, pytest.raises(httpx.ConnectError):
        client.get(f"http://{'a' * 64}.invalid/", extensions={"total_timeout": LIMIT})


# In virtual time.


class VirtualStream(httpcore.NetworkStream):
    def __init__(self, bench):
        self.bench = bench

    def read(self, max_bytes, timeout=None):
        return self.bench.operation("read", timeout, httpcore.ReadTimeout) or self.bench.data.pop(0)

    def write(self, buffer, timeout=None):
        self.bench.operation("write", timeout, httpcore.WriteTimeout)

    def close(self):
        self.bench.closed += 1

    def start_tls(self, ssl_context, server_hostname=None, timeout=None):
        self.bench.operation("tls", timeout, httpcore.ConnectTimeout)
        return self


class VirtualNetwork(httpcore.NetworkBackend):
    """Each operation takes so many virtual seconds; every timeout it is given is noted."""

    def __init__(self, data, **takes):
        self.now, self.data, self.takes, self.seen, self.closed = 100.0, list(data), takes, [], 0

    def monotonic(self):
        return self.now

    def operation(self, name, timeout, expired):
        self.seen.append((name, None if timeout is None else round(float(timeout), 6)))
        takes = self.takes.get(name, 0.0)
        if timeout is not None and takes >= timeout:
            self.now += timeout
            raise expired
        self.now += takes

    def connect_tcp(self, host, port, timeout=None, local_address=None, socket_options=None):
        self.operation("connect", timeout, httpcore.ConnectTimeout)
        return VirtualStream(self)

    def client(self):
        transport = DeadlineTransport(network_backend=self, monotonic=self.monotonic)
        return httpx.Client(transport=transport, timeout=httpx.Timeout(60.0))


ANSWER = [b"HTTP/1.1 200 OK\r\n", b"Content-Length: 4\r\n", b"\r\n", b"ab", b"cd"]


def test_each_operation_gets_what_is_left():
    """connect, write and read get less and less of the one limit."""
    network = VirtualNetwork(ANSWER, connect=3.0, tls=1.0, write=2.0, read=0.5)
    with network.client() as client:
        assert client.get("https://h/", extensions={"total_timeout": 10.0}).content == b"abcd"
    assert network.seen == [
        ("connect", 10.0),
        ("tls", 7.0),
        ("write", 6.0),
        *[("read", left) for left in (4.0, 3.5, 3.0, 2.5, 2.0)],
    ]


def test_a_phase_timeout_that_is_shorter_still_holds():
    """The limit of the whole does not lengthen httpx's own."""
    network = VirtualNetwork(ANSWER)
    with network.client() as client:
        client.get("http://h/", timeout=httpx.Timeout(None, read=2.0), extensions={"total_timeout": 10.0})
    assert network.seen[0] == ("connect", 10.0)
    assert network.seen[-1] == ("read", 2.0)


def test_without_a_limit_httpx_behaves_as_ever():
    """No extension, or an infinite one: the timeouts of the phases, unchanged."""
    for extensions in ({}, {"total_timeout": float("inf")}):
        network = VirtualNetwork(ANSWER, read=50.0)
        with network.client() as client:
            assert client.get("http://h/", extensions=extensions).content == b"abcd"
        assert network.seen[-1] == ("read", 60.0)


@pytest.mark.parametrize(
    ("takes", "error"),
    [
        ({"connect": 10.0}, httpx.ConnectTimeout),
        ({"connect": 5.0, "tls": 5.0}, httpx.ConnectTimeout),
        ({"connect": 5.0, "write": 5.0}, httpx.WriteTimeout),
        ({"read": 3.0}, httpx.ReadTimeout),
    ],
)
def test_the_whole_ends_at_the_limit_in_whichever_phase(takes, error):
    """After exactly ten virtual seconds, with the connection closed."""
    network = VirtualNetwork(ANSWER, **takes)
    with network.client() as client:
        with pytest.raises(error):
            client.get("https://h/", extensions={"total_timeout": 10.0})
        assert network.now == 110.0
        assert client._transport._pool.connections == []
    assert network.closed == (0 if takes.get("connect") == 10.0 else 1)


@pytest.mark.parametrize("total", [0, -1.0, float("nan"), True, "5"])
def test_a_bad_limit_is_refused(total):
    """ValueError, before any connection."""
    network = VirtualNetwork(ANSWER)
    with network.client() as client, pytest.raises(ValueError, match="total_timeout"):
        client.get("http://h/", extensions={"total_timeout": total})
    assert network.seen == []


@pytest.mark.parametrize(
    ("data", "error"), [([b"rubbish\r\n\r\n"], httpx.RemoteProtocolError), ([b""], httpx.RemoteProtocolError)]
)
def test_protocol_errors_become_httpx_ones(data, error):
    """A server that speaks no HTTP, or closes without an answer."""
    network = VirtualNetwork(data)
    with network.client() as client:
        with pytest.raises(error):
            client.get("http://h/", extensions={"total_timeout": 10.0})
        assert client._transport._pool.connections == []
    assert network.closed == 1


def test_an_unsupported_scheme_is_httpxs_error():
    """Permanent by the error table, so it must have the right type."""
    with VirtualNetwork([]).client() as client, pytest.raises(httpx.UnsupportedProtocol):
        client.get("ftp://h/", extensions={"total_timeout": 10.0})
