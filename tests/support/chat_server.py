"""A server on this machine that speaks as much of OpenAI's API as a chat takes, with known answers.

It stands for what vLLM, llama.cpp, Ollama and their like serve; no model is in it.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATH = "/v1/chat/completions"
Answerer = Callable[[str], str]


@dataclass
class ChatServer:
    """A server that is running: its address, and the prompts that it was sent."""

    url: str
    prompts: list[str] = field(default_factory=list)


@contextmanager
def serving(answer: Answerer) -> Iterator[ChatServer]:
    """Serve chats on a free port, whose answers a function of the prompt gives."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    running = ChatServer(f"http://127.0.0.1:{server.server_address[1]}/v1")
    server.RequestHandlerClass = _handler(running, answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(running: ChatServer, answer: Answerer) -> type[BaseHTTPRequestHandler]:
    class ChatHandler(BaseHTTPRequestHandler):
        """Answers one request."""

        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            request = json.loads(self.rfile.read(size))
            if self.path != PATH:
                self.send_error(404)
                return
            prompt = "\n".join(_text(message["content"]) for message in request["messages"])
            running.prompts.append(prompt)
            body = json.dumps(_completion(request["model"], answer(prompt))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing: the test's output is its own."""

    return ChatHandler


def _text(content: str | list[dict[str, str]]) -> str:
    """The text of a message, which may come in parts."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def _completion(model: str, text: str) -> dict[str, object]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "stub",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
